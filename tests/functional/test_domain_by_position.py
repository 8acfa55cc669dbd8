"""A domain that is that of a position: kernels keep to it by themselves, and a call that is refused is told as ever."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import torch

ROWS = """
op: rows
inputs:
  ids: {shape: [N], dtype: int, domain: 0 <= ids < V}
  w: {shape: [V, D]}
forward: y[n, d] = w[ids[n], d]
"""
SUMS = """
op: sums
inputs:
  ids: {shape: [N], dtype: int, domain: 0 <= ids < count}
  x: {shape: [N, D]}
params: {count: int}
dims: {S: count}
outputs: {y: {shape: [S, D]}}
forward: y[ids[n], d] += x[n, d]
"""
CHOSEN = """
op: chosen
inputs:
  ids: {shape: [N], dtype: int, domain: 0 <= ids < V}
  x: {shape: [N]}
  w: {shape: [V]}
forward: y[n] = where(x[n] > 0, w[ids[n]], 0)
"""
FURTHER = """
op: further
inputs:
  ids: {shape: [N], dtype: int, domain: 0 <= ids < V - 1}
  w: {shape: [V]}
forward: y[n] = w[ids[n]] + w[ids[n] + 1]
"""


MASKED = """
op: masked
inputs:
  ids: {shape: [...], dtype: int, domain: 0 <= ids < V}
  w: {shape: [V]}
  scale: {shape: [...], optional: true, absent: 1}
forward: y = w[ids]*scale
"""


def _asks(op: Callable[..., object]) -> str:
    """The line that decides whether values are looked at."""
    module = inspect.getmodule(inspect.unwrap(op))
    assert module is not None
    lines = Path(str(module.__file__)).read_text().splitlines()
    return next(line.strip() for line in lines if "checks_values(" in line and "import" not in line)


@pytest.mark.parametrize("bad", [-1, 3, 10**12])
@pytest.mark.parametrize("width", [2, 0])
def test_a_row_out_of_range(build_operator: Callable[[str], ModuleType], bad: int, width: int) -> None:
    op = build_operator(ROWS).rows
    assert _asks(op) == "if checks_values(ids, read=(ids, w)):"
    w = torch.randn(3, width)
    assert torch.equal(op(torch.tensor([2, 0]), w), w[[2, 0]])
    with pytest.raises(IndexError, match=r"rows: ids must satisfy 0 <= ids < V with V = \d+, but has values from "):
        op(torch.tensor([bad, 1]), w)
    assert op(torch.tensor([], dtype=torch.int64), w).shape == (0, width)


@pytest.mark.parametrize("bad", [-1, 3])
@pytest.mark.parametrize("width", [2, 0])
def test_a_sum_out_of_range(build_operator: Callable[[str], ModuleType], bad: int, width: int) -> None:
    op = build_operator(SUMS).sums
    assert _asks(op) == "if checks_values(ids, read=(ids, x)):"
    with pytest.raises(
        IndexError, match=r"sums: ids must satisfy 0 <= ids < count with count = \d+, but has values from "
    ):
        op(torch.tensor([bad, 1]), torch.ones(2, width, requires_grad=True), count=3)


@pytest.mark.parametrize(("spec", "name"), [(CHOSEN, "chosen"), (FURTHER, "further")])
def test_values_that_not_every_kernel_reads_are_looked_at(
    build_operator: Callable[[str], ModuleType], spec: str, name: str
) -> None:
    op = getattr(build_operator(spec), name)
    assert _asks(op) == "if checks_values(ids):"
    others = [torch.zeros(2)] if name == "chosen" else []
    with pytest.raises(IndexError, match=f"{name}: ids must satisfy 0 <= ids < "):
        op(torch.tensor([3, 0]), *others, torch.randn(3))


def test_what_may_be_missing_is_not_asked_for_its_size(build_operator: Callable[[str], ModuleType]) -> None:
    op = build_operator(MASKED).masked
    w = torch.randn(3)
    assert torch.equal(op(torch.tensor([2, 0]), w), w[[2, 0]])
    with pytest.raises(IndexError, match="masked: ids must satisfy 0 <= ids < V"):
        op(torch.tensor([3, 0]), w, torch.ones(2))


class _Rows(torch.nn.Module):
    def __init__(self, op: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.op = op

    def forward(self, ids: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return self.op(ids, w)


def test_a_graph_looks_at_values(build_operator: Callable[[str], ModuleType]) -> None:
    made = torch.export.export(_Rows(build_operator(ROWS).rows), (torch.tensor([1, 0]), torch.randn(3, 2)))
    with pytest.raises((IndexError, RuntimeError), match="ids must satisfy"):
        made.module()(torch.tensor([1, 3]), torch.randn(3, 2))
