"""Operators that are called without tensors: of params alone, or with optional inputs that are all left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import torch

Build = Callable[[str], ModuleType]

STEPS = """
op: steps
inputs: {}
params: {n: {type: int}, size: {type: float, default: 0.5}}
dims: {N: n}
forward: |
  y[i < N] = size*i
  k[i < N] = 2*i
"""
EITHER = """
op: either
inputs: {x: {shape: [], optional: true}, y: {shape: [], optional: true}}
forward: z = 2*x + y**2 + 1
"""


def test_the_result_is_what_torch_makes_by_default(build_operator: Build) -> None:
    package = build_operator(STEPS)
    y, k = package.steps(3)
    assert (y.tolist(), y.dtype, k.tolist(), k.dtype) == ([0.0, 0.5, 1.0], torch.float32, [0, 2, 4], torch.int64)
    assert package.Steps(n=2)()[0].tolist() == [0.0, 0.5]
    assert package.StepsFunction.apply(2, 3.0)[0].tolist() == [0.0, 3.0]
    with torch.device("meta"):
        assert package.steps(3)[0].device.type == "meta"
    torch.set_default_dtype(torch.float64)
    try:
        assert package.steps(3)[0].dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    with pytest.raises(ValueError, match="steps: the size N = n must not be negative, but is -1"):
        package.steps(-1)
    assert not (Path(str(package.__file__)).parent / "csrc").exists()


def test_it_is_traced_and_batched(build_operator: Build) -> None:
    steps = build_operator(STEPS).steps

    def shifted(x: torch.Tensor) -> torch.Tensor:
        return x + steps(x.shape[0])[0]

    x, expected = torch.ones(3), torch.tensor([1.0, 1.5, 2.0])
    torch.testing.assert_close(torch.compile(shifted, fullgraph=True, backend="aot_eager")(x), expected)
    torch.testing.assert_close(torch.vmap(shifted)(x.expand(2, 3)), expected.expand(2, 3))
    torch.testing.assert_close(torch.func.grad(lambda x: shifted(x).sum())(x), torch.ones(3))


def test_optional_inputs_alone(build_operator: Build) -> None:
    either = build_operator(EITHER).either
    assert either().item() == 1
    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    for given, value, slope in (((x,), 5.0, 2.0), ((None, x), 5.0, 4.0), ((x, x), 9.0, 6.0)):
        z = either(*given)
        assert (z.item(), z.dtype) == (value, torch.float64)
        assert torch.autograd.grad(z, x)[0].item() == slope
