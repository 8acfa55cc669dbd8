"""Folds across rows give what the torch form gives, whether all columns of a row stay in registers or not."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch

from opgen import build
from opgen.toolchain.library import compile_op
from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SPEC = """
op: across
inputs: {x: {shape: [B, N, D]}, y: {shape: [N, D]}, a: {shape: [B]}}
outputs: {total: {}, largest: {}, both: {}}
forward: |
  total[n, d] = sum[b](a[b]*x[b, n, d])
  largest[n, d] = max[b](x[b, n, d] + y[n, d])
  both[d] = sum[b, n](x[b, n, d]*y[n, d]) - sum[b, n](x[b, n, d])
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("short")
    (folder / "across.yaml").write_text(SPEC)
    assert not build(folder / "across.yaml", folder / "short_rows").failed
    compile_op(folder / "short_rows", "across")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield importlib.import_module("short_rows.across")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(1, 64), (2, 5), (40, 16), (17, 20), (300, 64), (3, 128), (33, 200)])
def test_columns_of_short_rows(package: ModuleType, rows: int, columns: int, apart: bool, dtype: torch.dtype) -> None:
    torch.manual_seed(columns)
    x = torch.randn(rows, 3, 2 * columns).to(dtype)
    x = x[..., ::2] if apart else x[..., :columns]
    given = x, torch.randn(3, columns).to(dtype), torch.randn(rows).to(dtype)
    runtime = importlib.import_module("short_rows._runtime")
    with runtime.use_backend("native"):
        found = package.across(*given)
    wide, y, a = (t.double() for t in given)
    exact = (
        torch.einsum("b,bnd->nd", a, wide),
        (wide + y).amax(0),
        (wide * y).sum((0, 1)) - wide.sum((0, 1)),
    )
    for f, e in zip(found, exact, strict=True):
        room = 0.01 if dtype == torch.bfloat16 else 1e-5
        torch.testing.assert_close(f.double(), e, atol=room * max(1.0, e.abs().max().item()), rtol=room)


def test_short_rows_have_a_loop_of_their_own(package: ModuleType) -> None:
    (kernels,) = Path(str(package.__file__)).parent.glob("**/across_kernels.cpp")
    assert "rt::by_short_rows<scalar_t, 3>(columns, over_b.count, {1}, {2}, x, a)" in kernels.read_text()
