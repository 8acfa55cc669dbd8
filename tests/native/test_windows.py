"""Compiled gradients of windows: lanes as far apart as the stride, forwards and backwards, with gaps and overlaps."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SPEC = """
op: windows
inputs: {x: {shape: [..., H, W]}, scale: {shape: [W]}}
params:
  size: {type: int, default: 3, domain: size > 0}
  step: {type: int, default: 2, domain: step > 0}
  padding: {type: int, default: 0, domain: padding >= 0}
dims:
  P: (H + 2*padding - size)//step + 1
  Q: (W + 2*padding - size)//step + 1
  A: W//size
outputs:
  sums: {shape: [..., P, Q]}
  most: {shape: [..., H, Q]}
  back: {shape: [..., H, Q]}
  apart: {shape: [..., H, A]}
forward: |
  sums[..., p, q] = sum[r < size, s < size](pad(x[..., p*step + r - padding, q*step + s - padding], 0)**2)
  most[..., h, q] = max[s < size](pad(x[..., h, q*step + s - padding], -inf))
  back[..., h, q] = sum[s < size](where(s != 1, pad(x[..., h, W - 1 - (q*step + s - padding)], 0)*pad(scale[s], 1), 0))
  apart[..., h, a] = sum[s < size](exp(x[..., h, a*size + s]))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The operator, compiled."""
    import opgen

    folder = tmp_path_factory.mktemp("windows")
    path = folder / "windows.yaml"
    path.write_text(SPEC, encoding="utf-8")
    out = folder / "made_windows"
    result = opgen.build(path, out)
    assert not result.failed, result
    opgen.compile(["windows"], out)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("made_windows.windows")


def results(package: Any, x: torch.Tensor, backend: str, **params: int) -> list[torch.Tensor]:
    """The outputs and the gradients."""
    leaves = [x.clone().requires_grad_(), torch.linspace(1, 2, x.shape[-1], dtype=x.dtype).requires_grad_()]
    with importlib.import_module("made_windows._runtime").use_backend(backend):
        out = package.windows(*leaves, **params)
        weights = [torch.arange(o.numel()).to(o.dtype).reshape(o.shape) % 5 - 1 for o in out]
        grads = torch.autograd.grad(out, leaves, weights)
    return [*out, *grads]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", [(4, 7), (2, 9, 3), (3, 2, 6, 37), (5, 600), (0, 4, 8)], ids=str)
@pytest.mark.parametrize(
    ("size", "step", "padding"), [(1, 1, 0), (2, 2, 1), (3, 2, 1), (2, 3, 0), (1, 5, 0), (3, 1, 2)]
)
def test_gradients_of_windows(
    package: Any, shape: tuple[int, ...], size: int, step: int, padding: int, dtype: torch.dtype
) -> None:
    torch.manual_seed(0)
    x = torch.randn(shape).to(dtype)
    params = {"size": size, "step": step, "padding": padding}
    close = {"rtol": 1e-5, "atol": 1e-3} if dtype == torch.float32 else {}  # sums that nearly cancel
    for a, b in zip(results(package, x, "native", **params), results(package, x, "torch", **params), strict=True):
        torch.testing.assert_close(a, b, **close)


def test_a_transposed_input(package: Any) -> None:
    x = torch.randn(3, 40, 12)
    turned = x.mT.contiguous().mT
    for a, b in zip(results(package, turned, "native"), results(package, x, "native"), strict=True):
        torch.testing.assert_close(a, b)
