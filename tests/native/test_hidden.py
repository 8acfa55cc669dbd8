"""Tiles that a mask hides: compiled, attention that leaves them out gives what the torch form gives."""

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
op: near_attention
inputs: {q: {shape: [..., L, E]}, k: {shape: [..., S, E]}, v: {shape: [..., S, V]}}
params: {width: {type: int, default: 70}}
forward: |
  score[..., i, j] = sum[e](q[..., i, e]*k[..., j, e])/sqrt(E)
  seen[..., i, j] = where(j <= i and i - j < width, score[..., i, j], -inf)
  output[..., i, d] = sum[j](softmax[j](seen[..., i, j])*v[..., j, d])
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("hidden")
    (folder / "near_attention.yaml").write_text(SPEC)
    assert not build(folder / "near_attention.yaml", folder / "near").failed
    compile_op(folder / "near", "near_attention")
    assert "continue;" in (folder / "near" / "near_attention" / "csrc" / "near_attention_kernels.cpp").read_text()
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield importlib.import_module("near.near_attention")


def results(package: ModuleType, backend: str, rows: int, keys: int, width: int) -> list[torch.Tensor]:
    """The output and the gradients."""
    torch.manual_seed(rows + keys)
    shapes = ((2, rows, 5), (2, keys, 5), (2, keys, 3))
    given = [torch.randn(s, dtype=torch.float64, requires_grad=True) for s in shapes]
    with importlib.import_module("near._runtime").use_backend(backend):
        output = package.near_attention(*given, width=width)
        return [output, *torch.autograd.grad(output.sin().sum(), given)]


@pytest.mark.parametrize("width", [1, 70, 1000])
@pytest.mark.parametrize("size", [1, 63, 65, 200])
def test_what_is_hidden_counts_for_nothing(package: ModuleType, size: int, width: int) -> None:
    own, plain = (results(package, backend, size, size, width) for backend in ("native", "torch"))
    for a, b in zip(own, plain, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("rows", [70, 130])
def test_more_keys_than_rows(package: ModuleType, rows: int) -> None:
    own, plain = (results(package, backend, rows, 200, 70) for backend in ("native", "torch"))
    for a, b in zip(own, plain, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-12)
