"""What runs by itself, what runs when it is asked for, and that an operator says so: forward and backward apart."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

import pytest
import torch

import opgen
from tests.compilers import available

pytestmark = [pytest.mark.thorough, pytest.mark.skipif(not available(), reason="no C++ compiler")]

ANGLES = """
op: angles
inputs: [x, z]
forward: y = atan2(x, z)
"""  # torch's is vectorised, the C library's is not; the gradient is arithmetic


@pytest.fixture(scope="module")
def angles(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("choice") / "angles.yaml"
    path.write_text(ANGLES)
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
    angles: Any, back_end: str, said: str, forward: str, backward: str
) -> None:
    runtime = sys.modules[f"{angles.__module__.partition('.')[0]}._runtime"]
    x, z = (torch.randn(3, 4, dtype=torch.float64, requires_grad=True) for _ in range(2))

    def ran(call: Any) -> tuple[Any, list[str]]:
        before = asdict(runtime.native.CALLS)
        result = call()
        return result, [n for n, count in asdict(runtime.native.CALLS).items() for _ in range(count - before[n])]

    with runtime.use_backend(back_end):
        assert angles.backend == said
        assert ran(lambda: angles(x.detach(), z.detach()))[1] == [forward]
        y, calls = ran(lambda: angles(x, z))
        assert calls == [forward]
        grads, calls = ran(lambda: torch.autograd.grad(y.sum(), (x, z)))
        assert calls == [backward]
        assert torch.autograd.gradcheck(angles, (x, z))
    torch.testing.assert_close(y, torch.atan2(x, z))
    torch.testing.assert_close(grads, torch.autograd.grad(torch.atan2(x, z).sum(), (x, z)))
    assert angles.backend == "forward torch (native when small), backward native"
    assert ran(lambda: angles(x.detach().repeat(100000, 1), z.detach().repeat(100000, 1)))[1] == ["torch"]


def test_a_choice_between_forward_and_backward_holds_for_a_graph_that_was_recorded(angles: Any) -> None:
    runtime = sys.modules[f"{angles.__module__.partition('.')[0]}._runtime"]
    x, z = torch.zeros(3, requires_grad=True), torch.full((3,), 2.0)
    for recorded, then in (("native", "torch"), ("torch", "native")):
        with runtime.use_backend(recorded):
            y = angles(x, z)
        with runtime.use_backend(then):
            (grad,) = torch.autograd.grad(y.sum(), x)
        assert grad.tolist() == [0.5, 0.5, 0.5]
