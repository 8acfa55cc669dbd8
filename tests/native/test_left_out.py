"""What nobody asks for has no memory: values kept for a gradient without a gradient, gradients of other inputs."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SPEC = """
op: damped
inputs: {x: {shape: [..., N]}, y: {shape: [..., N]}}
forward: |
  gap[..., n] = x[..., n] - y[..., n]
  scale[...] = 1/(1 + sum[n](gap[..., n]**2))
  z[..., n] = scale[...]*exp(-gap[..., n]**2)*tanh(gap[..., n])
"""
PEAKS = """
op: peaks
inputs: {x: {shape: [..., N]}}
params: {size: {type: int, default: 3}}
forward: "y[..., n < N] = max[k < size](pad(x[..., n + k - 1], -inf))"
"""
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The operator, compiled."""
    import opgen

    folder = tmp_path_factory.mktemp("left_out")
    out = folder / "made_without"
    for name, text in (("damped", SPEC), ("peaks", PEAKS)):
        path = folder / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        assert not opgen.build(path, out).failed
    opgen.compile(["damped", "peaks"], out)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("made_without.damped")


def kernel(which: str) -> Any:
    return getattr(torch.ops.made_without_native, f"damped_{which}").default


@pytest.mark.parametrize("dtype", DTYPES)
def test_nothing_is_kept_where_no_gradient_can_be_asked_for(package: Any, dtype: torch.dtype) -> None:
    given = [torch.randn(5, 300).to(dtype), torch.randn(300, 5).to(dtype).T]
    (z, *kept), (alone, *nothing) = kernel("forward")(*given), kernel("forward")(*given, False)
    assert torch.equal(z, alone)
    assert kept
    assert nothing == [None] * len(kept)
    with importlib.import_module("made_without._runtime").use_backend("native"):
        assert torch.equal(package.damped(*given), z)


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_gradient_alone_is_that_of_both(package: Any, dtype: torch.dtype) -> None:
    given = [torch.randn(5, 300).to(dtype), torch.randn(300, 5).to(dtype).T]
    z, *kept = kernel("forward")(*given)
    both = kernel("backward")(torch.ones_like(z), *given, *kept, [True, True])
    for k, mask in enumerate(([True, False], [False, True])):
        found = kernel("backward")(torch.ones_like(z), *given, *kept, mask)
        assert torch.equal(found[k], both[k])
        assert found[1 - k] is None


@pytest.mark.parametrize("dtype", DTYPES)
def test_loops_of_what_is_not_asked_for_are_left_out(package: Any, dtype: torch.dtype) -> None:
    """Which places of a window had the maximum is asked for by gradients alone."""
    text = Path(package.__file__).parents[1] / "peaks" / "csrc" / "peaks_kernels.cpp"
    assert "if (hit_y.data != nullptr) {" in text.read_text(encoding="utf-8")
    peaks = importlib.import_module("made_without.peaks").peaks
    x = torch.randn(4, 40).to(dtype).requires_grad_()
    with importlib.import_module("made_without._runtime").use_backend("native"):
        y = peaks(x)
        y.sum().backward()
        assert torch.equal(peaks(x.detach()), y)
    plain = torch.nn.functional.max_pool1d(x.detach().requires_grad_(), 3, 1, 1)
    assert torch.equal(y, plain)
    assert x.grad is not None
    assert x.grad.sum() == 160
