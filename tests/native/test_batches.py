"""Compiled operators whose operands have other batch dims: values, what is kept for the gradient, and the gradients."""

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
op: mixed
inputs: {x: {shape: [...]}, y: {shape: [..., J]}, c: {shape: [J, K]}, z: {shape: [..., J, M]}, w: {shape: [O, M, R]}}
outputs: {scaled: {}, plain: {}, both: {}, windows: {}, rows: {}}
forward: |
  scaled[..., k] = x[...]*sum[j](y[..., j]*c[j, k])
  plain[..., k] = sum[j](y[..., j]*c[j, k])
  both[..., k, m] = tanh(plain[..., k])*x[...]*sum[j](z[..., j, m]*c[j, k])
  windows[..., o, p < J - R + 1] = x[...]*tanh(sum[m, r](z[..., p + r, m]*w[o, m, r]))
  rows[..., j] = x[...]*softmax[j](y[..., j])*median[m](z[..., j, m])
"""
DRAWN = """
op: drawn
inputs: {x: {shape: [..., M]}, y: {shape: [N, M, ...]}, seed: {dtype: seed}}
forward: |
  drawn[..., i < M] = kth[j < 2](-y[i, integer(seed, M), ...], 2)
"""
BATCHES = ((), (1,), (2,), (3,), (2, 2), (2, 1), (1, 2), (3, 1), (4, 1, 3))
SHAPES = [
    (x, y, z)
    for x in BATCHES
    for y in BATCHES
    for z in ((), (2,), (2, 1))
    if all(len({*sizes} - {1}) < 2 for sizes in zip(*((1,) * (3 - len(b)) + b for b in (x, y, z)), strict=True))
]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("batches")
    for op, spec in (("mixed", SPEC), ("drawn", DRAWN)):
        (folder / f"{op}.yaml").write_text(spec)
        assert not build(folder / f"{op}.yaml", folder / "batches").failed
        compile_op(folder / "batches", op)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield importlib.import_module("batches")


@pytest.mark.parametrize("k", [1, 2, 3])
def test_both_back_ends_agree(package: ModuleType, k: int) -> None:
    runtime = importlib.import_module("batches._runtime")
    for x, y, z in SHAPES:
        torch.manual_seed(k)
        shapes = x, (*y, 4), (4, k), (*z, 4, 3), (2, 3, 2)
        given = tuple(torch.randn(s, dtype=torch.float64, requires_grad=True) for s in shapes)
        found = []
        for backend in ("native", "torch"):
            with runtime.use_backend(backend):
                out = package.mixed(*given)
                weights = [torch.sin(torch.arange(v.numel(), dtype=v.dtype)).view(v.shape) for v in out]
                found.append((*out, *torch.autograd.grad(out, given, weights)))
        for ours, theirs in zip(*found, strict=True):
            torch.testing.assert_close(ours, theirs, msg=lambda told, at=(x, y, z): f"{at}: {told}")


def test_what_is_drawn_differs_over_every_batch_dim(package: ModuleType) -> None:
    runtime = importlib.import_module("batches._runtime")
    torch.manual_seed(0)
    x, y = torch.randn(2, 3, 4, dtype=torch.float64), torch.randn(4, 4, 1, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(2, 3, 4, dtype=torch.float64)
    for seed in map(torch.tensor, range(5)):
        with runtime.use_backend("native"):
            (slope,) = torch.autograd.grad(package.drawn(x, y, seed), y, weights)
        with runtime.use_backend("torch"):
            (wanted,) = torch.autograd.grad(package.drawn(x, y, seed), y, weights)
        torch.testing.assert_close(slope, wanted)
