"""What torch's counter counts for generated operators: its own count of a matrix product, and hand-made ones."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

Build = Callable[[str], ModuleType]
LINEAR = """
op: counted_linear
inputs: {x: {shape: [..., K]}, w: {shape: [N, K]}, b: {shape: [N], optional: true}}
forward: y[..., n] = sum[k](x[..., k]*w[n, k]) + b[n]
"""
CONVOLUTION = """
op: counted_convolution
inputs: {x: {shape: [B, C, L]}, w: {shape: [O, C, R]}}
params: {stride: {type: int, default: 1, domain: stride > 0}}
forward: y[n, o, p < (L - R)//stride + 1] = sum[c, r](x[n, c, p*stride + r]*w[o, c, r])
"""
ROW = """
op: counted_row
inputs: {x: {shape: [..., K]}}
forward: |
  s[...] = sum[k](x[..., k]**2)
  y[..., k] = x[..., k]*exp(-s[...]) + 1
"""
PICK = """
op: counted_pick
inputs: {table: {shape: [V, D]}, ids: {shape: [...], dtype: int}}
forward: y[..., d] = table[ids[...], d]
"""
MASKED = """
op: counted_masked
inputs: {x: {shape: [N, V]}, labels: {shape: [N], dtype: int, optional: true}}
forward: |
  y = sum[n, v](exp(x[n, v])) if not given(labels)
  y = sum[n, v](where(labels[n] != -1, exp(x[n, v])**2, 0)) if given(labels)
"""


def counted(call: Callable[[], Any]) -> int:
    with FlopCounterMode(display=False) as mode:
        call()
    return mode.get_total_flops()


def leaves(*shapes: tuple[int, ...]) -> list[torch.Tensor]:
    return [torch.randn(shape, requires_grad=True) for shape in shapes]


def test_products_count_as_torch_counts_its_own(build_operator: Build) -> None:
    linear = build_operator(LINEAR).counted_linear
    for needed in ((True, True, True), (False, True, True), (True, False, False)):
        given = [t.requires_grad_(n) for t, n in zip(leaves((4, 5, 6), (7, 6), (7,)), needed, strict=True)]
        forward = counted(lambda given=given: functional.linear(*given))
        assert counted(lambda given=given: linear(*given)) == forward == 2 * 20 * 6 * 7
        both = counted(lambda given=given: functional.linear(*given).sum().backward())
        assert counted(lambda given=given: linear(*given).sum().backward()) == both == forward * (1 + sum(needed[:2]))
    x, w, _ = given
    assert counted(lambda: linear(x, w)) == 2 * 20 * 6 * 7


def test_convolutions_count_as_torch_counts_its_own(build_operator: Build) -> None:
    convolution = build_operator(CONVOLUTION).counted_convolution
    x, w = leaves((2, 3, 11), (4, 3, 3))
    for stride in (1, 2):
        own = counted(lambda s=stride: functional.conv1d(x, w, stride=s).sum().backward())
        assert counted(lambda s=stride: convolution(x, w, stride=s).sum().backward()) == own


def test_other_operators_count_each_operation(build_operator: Build) -> None:
    row = build_operator(ROW).counted_row
    (x,) = leaves((5, 7))
    assert counted(lambda: row(x)) == 5 * 7 * (2 + 3)  # a power and a sum; an exponential, a product and a sum
    assert counted(lambda: torch.vmap(row)(x)) == counted(lambda: row(x))
    assert counted(lambda: row(x).sum().backward()) > counted(lambda: row(x))


def test_moving_numbers_counts_nothing(build_operator: Build) -> None:
    pick = build_operator(PICK).counted_pick
    (table,) = leaves((9, 4))
    ids = torch.tensor([1, 5, 1])
    assert counted(lambda: pick(table, ids)) == 0
    assert counted(lambda: pick(table, ids).sum().backward()) == 3 * 4  # what is added into the table


def test_an_optional_input_that_backward_does_not_take(build_operator: Build) -> None:
    masked = build_operator(MASKED).counted_masked
    x, labels = torch.randn(3, 4, requires_grad=True), torch.tensor([0, -1, 2])
    counts = [counted(lambda given=given: masked(x, given).backward()) for given in (None, labels)]
    assert 0 < counts[0] < counts[1]
