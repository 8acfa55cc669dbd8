"""Compiled operators of vectors and small matrices, whose points lie side by side in lanes: any strides, any batch."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SPEC = """
op: vectors
inputs:
  a: {shape: [..., 3]}
  b: {shape: [..., 3]}
  m: {shape: [..., 2, 3]}
outputs:
  cross: {shape: [..., 3]}
  turned: {shape: [..., 2]}
  unit: {shape: [..., 3]}
  volume: {shape: [...]}
  most: {shape: [...]}
  some: {shape: [...]}
forward: |
  cross[..., i] = a[..., (i + 1) % 3]*b[..., (i + 2) % 3] - a[..., (i + 2) % 3]*b[..., (i + 1) % 3]
  turned[..., r] = sum[i](m[..., r, i]*a[..., i]) + sum[i < 3](where(i > 0, b[..., i - 1], 0))
  unit[..., i] = a[..., i]/sqrt(sum[j](a[..., j]**2) + 1)
  volume[...] = prod[i](a[..., i]) + sum[i, r](sin(m[..., r, i]))
  most[...] = max[i](a[..., i]*b[..., i])
  some[...] = where(any[i](a[..., i] > 1), sum[i](a[..., i]), min[i](b[..., i]))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The operator, compiled."""
    import opgen

    folder = tmp_path_factory.mktemp("vectors")
    path = folder / "vectors.yaml"
    path.write_text(SPEC, encoding="utf-8")
    out = folder / "made_vectors"
    result = opgen.build(path, out)
    assert not result.failed, result
    opgen.compile(["vectors"], out)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("made_vectors.vectors")


def results(package: Any, inputs: list[torch.Tensor], backend: str) -> list[torch.Tensor]:
    """The outputs and the gradients."""
    leaves = [x.detach().requires_grad_() for x in inputs]
    with importlib.import_module("made_vectors._runtime").use_backend(backend):
        out = package.vectors(*leaves)
        weights = [torch.arange(o.numel()).to(o.dtype).reshape(o.shape) % 5 - 1 for o in out]
        grads = torch.autograd.grad(out, leaves, weights)
    return [*out, *grads]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("batch", [(), (1,), (7,), (300,), (3, 129), (0,), (2, 0)], ids=str)
@pytest.mark.parametrize("layout", ["contiguous", "strided", "expanded"])
def test_vectors(package: Any, batch: tuple[int, ...], layout: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    a, b, m = (torch.randn(*batch, *rest).to(dtype) for rest in ((3,), (3,), (2, 3)))
    if layout == "strided":
        a = a.mT.contiguous().mT if batch else torch.randn(6).to(dtype)[::2]
        m = m.mT.contiguous().mT
    if layout == "expanded":
        b = torch.randn(3).to(dtype).expand(*batch, 3)
    close = {"rtol": 1e-5, "atol": 1e-5} if dtype == torch.float32 else {}
    for x, y in zip(results(package, [a, b, m], "native"), results(package, [a, b, m], "torch"), strict=True):
        torch.testing.assert_close(x, y, **close)
