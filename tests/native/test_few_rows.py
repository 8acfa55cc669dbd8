"""Tables that few rows are added to in 16 bits: these alone are added up, to the last bit as with all of them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import ModuleType

import pytest
import torch

import opgen
from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SPEC = """
op: added
inputs: {ids: {shape: [..., N], dtype: int}, x: {shape: [..., N, D]}, w: {shape: [N]}}
params: {V: {type: int}}
forward: |
  table[v < V, d < D] = 0
  table[ids[..., n], d] += w[n]*x[..., n, d]
  ends[v < V] = 0
  ends[ids[..., n]] += w[n]
  apart[v < V, d < D] = 0
  apart[ids[..., n], d] += where(ids[..., n] == 3, 0, x[..., n, d])
outputs: [table, ends, apart]
""".replace("V: {type", "rows: {type").replace("< V", "< rows")
DTYPES = (torch.bfloat16, torch.float16, torch.float32)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("few")
    (folder / "added.yaml").write_text(SPEC, encoding="utf-8")
    assert not opgen.build(folder / "added.yaml", folder / "of_few").failed
    opgen.compile(["added"], folder / "of_few")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("of_few.added")


def results(package: ModuleType, backend: str, given: list[torch.Tensor], rows: int) -> tuple[torch.Tensor, ...]:
    runtime = importlib.import_module("of_few._runtime")
    with runtime.use_backend(backend), torch.no_grad():
        found: tuple[torch.Tensor, ...] = package.added(*given, rows=rows)
    return found


def agree(package: ModuleType, given: list[torch.Tensor], rows: int) -> None:
    """All rows go through the kernel where there are hardly more than are named, and few where there are many more."""
    native = results(package, "native", given, rows)
    wide = results(package, "native", [given[0], *(x.float() for x in given[1:])], rows)
    for compiled, plain, sums in zip(native, results(package, "torch", given, rows), wide, strict=True):
        assert compiled.shape == plain.shape
        assert torch.equal(compiled, sums.to(compiled.dtype))
        torch.testing.assert_close(compiled, plain)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [7, 30, 400, 70_000])
@pytest.mark.parametrize("d", [1, 33])
def test_sums_are_those_of_all_rows(package: ModuleType, dtype: torch.dtype, rows: int, d: int) -> None:
    torch.manual_seed(rows)
    ids, x, w = torch.randint(0, rows, (3, 12)), torch.randn(3, 12, d), torch.randn(12)
    ids[1] = ids[0]
    agree(package, [ids, x.to(dtype), w.to(dtype)], rows)
    agree(package, [ids[:, ::2], x[:, ::2].to(dtype), w[::2].to(dtype)], rows)  # numbers apart from each other
    agree(package, [ids[:1], x.to(dtype), w.to(dtype)], rows)  # fewer batch dims than what is added


@pytest.mark.parametrize("rows", [0, 5])
def test_no_row_is_named(package: ModuleType, rows: int) -> None:
    given = [torch.zeros(2, 0, dtype=torch.int64), torch.zeros(2, 0, 4).bfloat16(), torch.zeros(0).bfloat16()]
    agree(package, given, rows)


def test_a_number_out_of_range_is_told(package: ModuleType) -> None:
    given = [torch.tensor([[2, 50]]), torch.zeros(1, 2, 4).bfloat16(), torch.zeros(2).bfloat16()]
    with pytest.raises(IndexError, match="50"):
        results(package, "native", given, 50)
