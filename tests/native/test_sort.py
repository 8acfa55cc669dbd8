"""Compiled kernels sort as torch does: equal elements as they stand, what is no number last, along any dim."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from types import ModuleType
from typing import cast

import pytest
import torch
from torch import Tensor

from opgen import build
from opgen.toolchain.library import compile_op
from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SPECS = {
    "sorted_rows": """
op: sorted_rows
inputs: {x: {shape: [..., N]}, scale: {shape: [...]}}
outputs: {places: {}, formula: {}, elements: {}}
forward: |
  places[..., n] = argsort[n](x[..., n])
  formula[..., n] = argsort[n](scale[...]*x[..., n])
  elements[..., n] = sort[n](x[..., n])
""",
    "sorted_columns": """
op: sorted_columns
inputs: {x: {shape: [N, ..., M]}}
outputs: [places]
forward: places[n, ..., m] = argsort[n](x[n, ..., m])
""",
    "sorted_members": """
op: sorted_members
inputs: {x: {shape: [N, ...]}, y: {shape: [...]}}
forward: |
  order[n, ...] = argsort[n](x[n, ...])
  z[...] = sum[n](n*x[order[n, ...], ...]) + y
""",
    "sorted_integers": """
op: sorted_integers
inputs: {x: {shape: [N, M], dtype: int}}
outputs: [rows, first]
forward: |
  rows[n, m] = argsort[m](x[n, m])
  first[n, m] = argsort[n](2*x[n, m])
""",
}
SIZES = (0, 1, 2, 3, 31, 48, 49, 65, 96, 97, 300, 5000)  # each way of sorting, at its ends


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("sorting")
    for name, text in SPECS.items():
        (folder / f"{name}.yaml").write_text(text)
        assert not build(folder / f"{name}.yaml", folder / "sorting").failed
        compile_op(folder / "sorting", name)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield importlib.import_module("sorting")


def native(package: ModuleType) -> AbstractContextManager[None]:
    runtime = importlib.import_module(f"{package.__name__}._runtime")
    return cast("AbstractContextManager[None]", runtime.use_backend("native"))


def elements(*shape: int, dtype: torch.dtype) -> Tensor:
    """Numbers of all kinds, many of them equal."""
    kinds = torch.tensor([0.0, -0.0, 1.5, -1.5, float("inf"), -float("inf"), float("nan"), -float("nan"), 1e-40, 3e38])
    chosen = kinds[torch.randint(len(kinds), shape)]
    return torch.where(torch.rand(shape) < 0.5, chosen, torch.randn(shape)).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("size", SIZES)
def test_rows_and_columns(package: ModuleType, size: int, dtype: torch.dtype) -> None:
    torch.manual_seed(size)
    x = elements(70, 3, size, dtype=dtype)
    with native(package):
        places, formula, kept = package.sorted_rows(x.transpose(0, 1), torch.tensor(-1.0, dtype=dtype))
    expected = torch.sort(x.transpose(0, 1), dim=-1, stable=True)
    torch.testing.assert_close(places, expected.indices)
    torch.testing.assert_close(kept, expected.values, equal_nan=True, rtol=0, atol=0)
    torch.testing.assert_close(formula, torch.sort(-x.transpose(0, 1), dim=-1, stable=True).indices)
    y = elements(size, 2, 5, dtype=dtype)
    with native(package):
        torch.testing.assert_close(package.sorted_columns(y), torch.argsort(y, dim=0, stable=True))


@pytest.mark.parametrize("size", SIZES)
def test_integers_that_no_float_has(package: ModuleType, size: int) -> None:
    torch.manual_seed(size)
    x = 2**60 + torch.randint(-3, 4, (7, size)) * torch.randint(1, 2**30, (7, size))
    with native(package):
        rows, first = package.sorted_integers(x)
    torch.testing.assert_close(rows, torch.argsort(x, dim=1, stable=True))
    torch.testing.assert_close(first, torch.argsort(2 * x, dim=0, stable=True))


def test_any_number_of_threads(package: ModuleType) -> None:
    x, threads = elements(3000, 20, dtype=torch.float32), torch.get_num_threads()
    found = []
    try:
        for count in (1, 3):
            torch.set_num_threads(count)
            with native(package):
                found.append(package.sorted_columns(x))
    finally:
        torch.set_num_threads(threads)
    torch.testing.assert_close(found[0], found[1])


@pytest.mark.parametrize("rows", [3, 5])
def test_batch_dims_behind_others_are_aligned_among_themselves(package: ModuleType, rows: int) -> None:
    x, y = torch.randn(3, 3, requires_grad=True), torch.randn(rows, 3)
    op = importlib.import_module(f"{package.__name__}.sorted_members").sorted_members
    expected = (torch.arange(3)[:, None] * x.sort(0).values).sum(0) + y
    with package._runtime.use_backend("native"):
        found = op(x, y)
        torch.testing.assert_close(found, expected)
        (ours,), (theirs,) = (torch.autograd.grad(z, x, y) for z in (found, expected))
    torch.testing.assert_close(ours, theirs)
