"""`dims: {C: groups*S}` where no input tells `S`: it is made of `C`, which has to be a multiple."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest
import torch

import opgen
from tests.native.conftest import needs_compiler

GROUPED = """
op: grouped_sum
inputs: {x: {shape: [N, C]}, bias: {shape: [C], optional: true}}
params: {groups: {type: int, domain: groups > 0}}
dims: {C: groups*S}
forward: y[n, g < groups] = sum[s < S](x[n, g*S + s] + bias[g*S + s])
"""
FINER = """
op: finer
inputs: {image: {shape: [..., C, H]}}
params: {r: {type: int, domain: r > 0}}
dims: {C: O*r**2, W: r**2*H}
outputs: {y: {shape: [..., O, W]}}
forward: y[..., o, w] = image[..., o*r**2 + w % r**2, w//r**2]
"""
TWICE = """
op: twice
inputs: {x: {shape: [D]}, y: {shape: [E]}}
dims: {D: 2*H, E: 3*H}
forward: z[h < H] = x[h + H]*y[h + 2*H]
"""
SWAPPED = """
op: swapped
inputs: {z: {shape: [..., D], dtype: complex}}
dims: {D: 2*H}
outputs: {y: {shape: [..., D], dtype: complex}}
forward: y[..., d] = z[..., (d + H) % D]
"""


def refused(op: Callable[..., object], *args: object, **params: object) -> str:
    with pytest.raises(ValueError, match=r"multiple|needed") as caught:
        op(*args, **params)
    return str(caught.value)


def test_a_size_is_a_multiple_of_a_param(build_operator: Callable[[str], ModuleType]) -> None:
    op = build_operator(GROUPED).grouped_sum
    assert op(torch.ones(1, 6), groups=2).tolist() == [[3.0, 3.0]]
    told = "grouped_sum: C = groups*S must be a multiple of groups with groups = 4, but x[N, C] has 6"
    assert refused(op, torch.ones(1, 6), groups=4) == told
    assert refused(op, torch.ones(1, 6, device="meta"), groups=4) == told
    with pytest.raises(ValueError, match="groups must satisfy groups > 0"):
        op(torch.ones(1, 6), groups=0)


def test_a_size_is_a_multiple_of_a_power(build_operator: Callable[[str], ModuleType]) -> None:
    op, x = build_operator(FINER).finer, torch.randn(2, 8, 3)
    assert op(x, r=2).shape == (2, 2, 12)
    told = "finer: C = O*r**2 must be a multiple of r**2 with r = 3, but image[..., C, H] has 8"
    assert refused(op, x, r=3) == told


def test_what_one_size_tells_others_are_computed_of(build_operator: Callable[[str], ModuleType]) -> None:
    op = build_operator(TWICE).twice
    assert op(torch.ones(4), torch.ones(6)).tolist() == [1.0, 1.0]
    assert refused(op, torch.ones(5), torch.ones(6)) == "twice: D = 2*H must be a multiple of 2, but x[D] has 5"
    assert "E = 3*H" in refused(op, torch.ones(4), torch.ones(7))


def test_a_size_of_a_complex_input(build_operator: Callable[[str], ModuleType]) -> None:
    op = build_operator(SWAPPED).swapped
    assert op(torch.tensor([1.0, 2j])).tolist() == [2j, 1.0]
    assert "but z[..., D] has 3" in refused(op, torch.ones(3, dtype=torch.complex64))


@needs_compiler
@pytest.mark.slow
def test_compiled_it_is_told_alike() -> None:
    op = opgen.load(GROUPED, compiled=True)
    for backend in ("torch", "native"):
        with opgen.use_backend(backend):
            assert op(torch.ones(1, 6), groups=3).tolist() == [[2.0, 2.0, 2.0]]
            assert "C = groups*S must be a multiple of groups with groups = 4" in refused(
                op, torch.ones(1, 6), groups=4
            )
