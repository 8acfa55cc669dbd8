"""What passes along a row hand on to each other: compiled, short rows and long ones give what the torch form gives."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import ModuleType

import pytest
import torch

from opgen import build
from opgen.toolchain.library import compile_op
from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SPEC = """
op: handed_on
inputs:
  x: {shape: [..., N, M]}
  bias: {shape: [N, 1]}
  keep: {shape: [..., N, M], dtype: bool}
params: {temperature: {type: float, default: 2.0, domain: temperature > 0}}
forward: |
  score[..., n, m] = where(keep[..., n, m], (x[..., n, m] + bias[n, 0])/temperature, -10)
  soft[..., n, m] = softmax[n, m](score[..., n, m])
  spread[...] = sum[n, m](soft[..., n, m]*square(sin(score[..., n, m])))
outputs: [soft, spread]
"""
SHAPES = ((1, 1), (3, 5), (16, 16), (1, 257), (40, 33), (3, 0))


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("kept")
    (folder / "handed_on.yaml").write_text(SPEC)
    assert not build(folder / "handed_on.yaml", folder / "handed").failed
    compile_op(folder / "handed", "handed_on")
    assert "rt::Kept" in (folder / "handed" / "handed_on" / "csrc" / "handed_on_kernels.cpp").read_text()
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield importlib.import_module("handed.handed_on")


def results(package: ModuleType, backend: str, shape: tuple[int, int], *, turned: bool) -> list[torch.Tensor]:
    """Outputs and gradients."""
    torch.manual_seed(sum(shape))
    n, m = shape
    x = torch.randn(m, 7, n).permute(1, 2, 0) if turned else torch.randn(7, n, m)
    x, bias = x.double().requires_grad_(), torch.randn(n, 1).double().requires_grad_()
    keep = torch.rand(7, n, m) < 0.7
    runtime = importlib.import_module("handed._runtime")
    before = runtime.calls("native")
    with runtime.use_backend(backend):
        soft, spread = package.handed_on(x, bias, keep, temperature=0.7)
        weight = torch.linspace(-1, 2, max(soft.numel(), 1), dtype=torch.double)[: soft.numel()].view(soft.shape)
        grads = torch.autograd.grad((soft * weight).sum() + spread.sin().sum(), (x, bias))
    assert (runtime.calls("native") > before) == (backend == "native")
    return [soft, spread, *grads]


@pytest.mark.parametrize("turned", [False, True], ids=["rows", "turned"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rows_hand_on_what_they_computed(package: ModuleType, shape: tuple[int, int], turned: bool) -> None:
    own, plain = (results(package, backend, shape, turned=turned) for backend in ("native", "torch"))
    for a, b in zip(own, plain, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)
