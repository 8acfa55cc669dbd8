"""Folds of rows that positions name, a few of which go through columns at a time: compiled, they are what torch has."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch

import opgen
from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SPEC = """
op: named
inputs:
  ids: {shape: [N, L], dtype: int}
  table: {shape: [V, D]}
  w: {shape: [N, L]}
  share: {shape: [L]}
  beside: {shape: [N, D]}
  pairs: {shape: [N, A, B], dtype: int}
  kinds: {shape: [L], dtype: int}
  gate: {shape: [N, L, D]}
params: {scale: {type: float, default: 0.5}}
outputs: {total: {}, most: {}, apart: {}, both: {}, kept: {}, gated: {}}
forward: |
  total[n, d] = sum[l](table[ids[n, l], d])
  most[n, d] = max[l](table[ids[n, l], d]*w[n, l])
  t[n, l, d] = table[ids[n, l], d] - beside[n, d]
  apart[n, d] = sum[l](share[l]*t[n, l, d]**2*scale + kinds[l])
  both[n, d] = sum[a, b](table[pairs[n, a, b], d]*beside[n, d])
  kept[n, d] = prod[l](1 + 0.01*table[ids[n, l], d])
  gated[n, d] = sum[l](table[ids[n, l], d]*gate[n, l, d])
"""
DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("named")
    (folder / "named.yaml").write_text(SPEC, encoding="utf-8")
    assert not opgen.build(folder / "named.yaml", folder / "of_rows").failed
    opgen.compile(["named"], folder / "of_rows")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("of_rows.named")


def operands(length: int, d: int, dtype: torch.dtype) -> list[torch.Tensor]:
    torch.manual_seed(length)
    ids, pairs = torch.randint(0, 7, (9, length)), torch.randint(0, 7, (9, 5, 3))
    floats = [torch.randn(s).to(dtype) for s in ((7, d), (9, length), (length,), (9, d))]
    return [ids, *floats, pairs, torch.randint(0, 3, (length,)), torch.randn(9, length, d).to(dtype)]


def results(package: ModuleType, backend: str, given: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    runtime = importlib.import_module("of_rows._runtime")
    with runtime.use_backend(backend), torch.no_grad():
        found: tuple[torch.Tensor, ...] = package.named(*given)
    return found


def agree(package: ModuleType, given: list[torch.Tensor], dtype: torch.dtype) -> None:
    bound = {torch.bfloat16: 2e-2, torch.float16: 5e-3, torch.float32: 1e-4, torch.float64: 1e-10}[dtype]
    for plain, compiled in zip(*(results(package, b, given) for b in ("torch", "native")), strict=True):
        torch.testing.assert_close(compiled, plain, rtol=bound, atol=bound)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [5, 16, 47, 129, 1100])
@pytest.mark.parametrize("length", [1, 2, 37])
def test_columns_of_all_widths(package: ModuleType, dtype: torch.dtype, d: int, length: int) -> None:
    agree(package, operands(length, d, dtype), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_strides_of_all_kinds(package: ModuleType, dtype: torch.dtype) -> None:
    ids, table, w, share, beside, pairs, kinds, gate = operands(20, 70, dtype)
    agree(package, [ids.T.contiguous().T, table, w.T.contiguous().T, share, beside, pairs, kinds, gate], dtype)
    agree(package, [ids, table.T.contiguous().T, w, share, beside, pairs, kinds, gate], dtype)
    agree(package, [ids, table.repeat(1, 2)[:, ::2], w, share, beside, pairs, kinds, gate], dtype)
    agree(
        package,
        [ids[:, ::2], table, w[:, ::2], share[::2], beside[:1].expand(9, 70), pairs, kinds[::2], gate[:, ::2]],
        dtype,
    )
    agree(package, [ids[:1].expand(9, 20), table[:, :1].expand(7, 70), w, share, beside, pairs, kinds, gate], dtype)


def test_long_sums_are_as_exact_as_others(package: ModuleType) -> None:
    given = operands(40_000, 40, torch.float32)
    terms = given[1].double()[given[0]]
    error = (results(package, "native", given)[0] - terms.sum(1)).abs() / terms.abs().sum(1)
    assert error.max() < 2e-7


def test_a_position_out_of_range_is_told(package: ModuleType) -> None:
    for wrong in (-1, 7, 1 << 40, -(1 << 62)):
        given = operands(37, 64, torch.float32)
        given[0][8, 30] = wrong
        with pytest.raises(IndexError, match="ids"):
            results(package, "native", given)


def test_what_is_tested_is_there(package: ModuleType) -> None:
    folder = Path(str(package.__file__)).parent / "csrc"
    text = (folder / "named_kernels.cpp").read_text(encoding="utf-8")
    assert all(f"rt::{kind}<" in text for kind in ("FewRows", "FewRuns", "FewNumbers", "FewValues"))
