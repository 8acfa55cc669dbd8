"""What runs by itself, what runs when it is asked for, and that an operator says so: forward and backward apart."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch

import opgen
from opgen.toolchain.compiler import available

pytestmark = [pytest.mark.thorough, pytest.mark.skipif(not available(), reason="no C++ compiler")]

PICKED = """
op: picked_rows
inputs: {at: {shape: [N, S], dtype: int}, table: {shape: [V, D]}}
forward: y[n, d] = sum[s](table[at[n, s], d])
"""  # a sum of what is gathered, which torch does faster; the gradient is a scatter, which the kernel does as fast


@pytest.fixture(scope="module")
def picked(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("choice") / "picked_rows.yaml"
    path.write_text(PICKED)
    return opgen.load(path, compiled=True)


@pytest.mark.parametrize(
    ("back_end", "said", "forward", "backward"),
    [
        ("auto", "forward torch (native when small), backward native", "native", "native"),
        ("native", "native", "native", "native"),
        ("torch", "torch", "torch", "torch"),
    ],
)
def test_each_direction_runs_what_the_operator_says(
    picked: Any, back_end: str, said: str, forward: str, backward: str
) -> None:
    runtime = sys.modules[f"{picked.__module__.partition('.')[0]}._runtime"]
    at, table = torch.tensor([[2, 0], [0, 1], [2, 2]]), torch.randn(3, 4, dtype=torch.float64, requires_grad=True)

    def ran(call: Any) -> tuple[Any, list[str]]:
        before = dict(runtime.native.CALLS)
        result = call()
        return result, [n for n, count in runtime.native.CALLS.items() for _ in range(count - before[n])]

    with runtime.use_backend(back_end):
        assert picked.backend == said
        assert ran(lambda: picked(at, table.detach()))[1] == [forward]
        y, calls = ran(lambda: picked(at, table))
        assert calls == [forward]
        (grad,), calls = ran(lambda: torch.autograd.grad(y.sum(), table))
        assert calls == [backward]
        assert torch.autograd.gradcheck(lambda t: picked(at, t), table)
    torch.testing.assert_close(y, table[at].sum(1))
    torch.testing.assert_close(grad, torch.autograd.grad(table[at].sum(), table)[0])
    assert picked.backend == "forward torch (native when small), backward native"
    assert ran(lambda: picked(at.repeat(10000, 1), table.detach()))[1] == ["torch"]


def test_a_choice_between_forward_and_backward_holds_for_a_graph_that_was_recorded(picked: Any) -> None:
    runtime = sys.modules[f"{picked.__module__.partition('.')[0]}._runtime"]
    at, table = torch.tensor([[1], [1], [0]]), torch.randn(3, 4, requires_grad=True)
    for recorded, then in (("native", "torch"), ("torch", "native")):
        with runtime.use_backend(recorded):
            y = picked(at, table)
        with runtime.use_backend(then):
            (grad,) = torch.autograd.grad(y.sum(), table)
        assert grad.sum(1).tolist() == [4.0, 8.0, 0.0]
