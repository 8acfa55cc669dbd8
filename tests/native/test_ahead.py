"""What compiled kernels ask for ahead, hold for all rows, or go through in another order: values of plain torch."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import opgen
from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SPECS = {
    "bags": """
op: bags
inputs:
  ids: {shape: [N, L], dtype: int}
  table: {shape: [V, D]}
outputs:
  total: {shape: [N, D]}
  first: {shape: [N, D]}
forward: |
  total[n, d] = sum[l](table[ids[n, l], d])
  first[n, d] = table[ids[n, 0], d]*2
""",
    "far_columns": """
op: far_columns
inputs:
  x: {shape: [..., D]}
  weight: {shape: [D], optional: true, absent: 1}
forward: |
  y[..., d] = weight[d]*x[..., d]/(1 + mean[d](x[..., d]**2))
""",
    "short_rows": """
op: short_rows
inputs:
  x: {shape: [..., C]}
  w: {shape: [C]}
  at: {shape: [...], dtype: int}
  table: {shape: [V, C]}
forward: |
  y[..., c] = x[..., c]*w[c] + table[at[...], c]
""",
    "corners": """
op: corners
inputs:
  x: {shape: [N]}
  at: {shape: [N], dtype: int}
dims: {M: size}
params: {size: {type: int, default: 9}}
forward: |
  share[n, a < 2, b < 2] = x[n]*(1 + a + 3*b)
  y[m < M, k < M] = 0
  pad(y[at[n] + a, at[n] + b]) += share[n, a, b]
""",
    "numbered": """
op: numbered
inputs:
  x: {shape: [..., N]}
  at: {shape: [K], dtype: int}
params: {size: {type: int, default: 8}}
outputs: [far, both, some, picked]
forward: |
  far[..., n, k < size] = (x[..., n] - k)**2/(1 + k)
  both[..., n, k < size] = x[..., n]*k - n
  some[..., n < N, k < size] = where(k % 3 == 1, x[..., n]*k, pad(x[..., n - k], 0.5))
  picked[..., n < N, k] = x[..., (n + at[k]) % N]*k
""",
    "in_groups": """
op: in_groups
inputs:
  x: {shape: [N, C, ...]}
  w: {shape: [C]}
params: {size: {type: int, default: 2, domain: size > 0}}
forward: |
  s[n, c < C] = mean[...](x[n, c, ...])
  y[n, c, ...] = (x[n, c, ...] - s[n, c // size])*w[c]
""",
}
DTYPES = (torch.float32, torch.bfloat16)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The operators, compiled."""
    folder = tmp_path_factory.mktemp("ahead")
    out = folder / "made_ahead"
    for name, text in SPECS.items():
        path = folder / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        assert not opgen.build(path, out).failed
    opgen.compile(list(SPECS), out)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("made_ahead")


def agree(package: Any, op: str, *given: Any, dtype: torch.dtype, **params: Any) -> None:
    """Outputs and gradients of both back ends."""
    runtime = importlib.import_module("made_ahead._runtime")
    function = getattr(importlib.import_module(f"made_ahead.{op}"), op)
    found = []
    for backend in ("torch", "native"):
        leaves = [t.detach().requires_grad_() if torch.is_tensor(t) and t.is_floating_point() else t for t in given]
        with runtime.use_backend(backend):
            out = function(*leaves, **params)
            outs = out if isinstance(out, tuple) else (out,)
            wanted = [t for t in leaves if torch.is_tensor(t) and t.requires_grad]
            found.append([*outs, *torch.autograd.grad([o.sin().sum() for o in outs], wanted)])
    bounds = {"rtol": 2e-2, "atol": 2e-2} if dtype == torch.bfloat16 else {"rtol": 1e-4, "atol": 1e-4}
    for plain, compiled in zip(*found, strict=True):
        torch.testing.assert_close(compiled, plain, **bounds)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "length", "d"), [(0, 3, 5), (1, 1, 1), (40, 5, 300), (300, 2, 16)])
def test_rows_by_number(package: Any, dtype: torch.dtype, n: int, length: int, d: int) -> None:
    torch.manual_seed(0)
    ids, table = torch.randint(0, 11, (n, length)), torch.randn(11, d).to(dtype)
    agree(package, "bags", ids, table, dtype=dtype)
    agree(package, "bags", ids.T.contiguous().T, table, dtype=dtype)
    agree(package, "bags", ids[:, :1].expand(n, 4), table, dtype=dtype)
    agree(package, "bags", ids, table.T.contiguous().T, dtype=dtype)


def test_a_row_that_is_not_there_is_told_where_it_is_read(package: Any) -> None:
    from made_ahead._runtime import use_backend  # type: ignore[import-not-found]
    from made_ahead.bags import bags  # type: ignore[import-not-found]

    ids = torch.zeros(50, 3, dtype=torch.int64)
    ids[49, 2] = 1 << 40
    with use_backend("native"), pytest.raises(IndexError, match="ids"):
        bags(ids, torch.randn(4, 20))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("rows", "d"), [(0, 3), (1, 700), (1500, 300), (3, 8200), (4100, 20)])
def test_columns_of_long_rows(package: Any, dtype: torch.dtype, rows: int, d: int) -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(rows, d).to(dtype), torch.randn(2 * d).to(dtype)
    for w in (weight[:d], weight[::2], weight[:1].expand(d), None):
        agree(package, "far_columns", x, *([] if w is None else [w]), dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 15, 16, 600])
def test_short_last_loops_of_a_scatter(package: Any, dtype: torch.dtype, n: int) -> None:
    torch.manual_seed(0)
    agree(package, "corners", torch.randn(n).to(dtype) / 8, torch.randint(-1, 9, (n,)), dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("c", [1, 3, 15, 16])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (1025,), (70, 300), (20_000,)])
def test_short_rows_take_turns(package: Any, dtype: torch.dtype, c: int, shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        x, w, table = (torch.randn(*s, c).to(dtype) / 8 for s in (shape, (), (9,)))
        agree(package, "short_rows", x, w, torch.randint(0, 9, shape), table, dtype=dtype)
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1, 3, 8, 15, 16])
@pytest.mark.parametrize("shape", [(1,), (5,), (17,), (70, 300), (0, 4)])
def test_short_rows_whose_index_is_asked_for(
    package: Any, dtype: torch.dtype, size: int, shape: tuple[int, ...]
) -> None:
    torch.manual_seed(0)
    x, at = torch.randn(shape).to(dtype) / 8, torch.randint(-3, 9, (size,))
    agree(package, "numbered", x, at, dtype=dtype, size=size)
    agree(package, "numbered", x.t().contiguous().t() if x.dim() > 1 else x.flip(0), at, dtype=dtype, size=size)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("c", [0, 1, 3, 16])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (784,), (1025,), (30, 40)])
def test_runs_that_look_up_where_they_stand(package: Any, dtype: torch.dtype, c: int, shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    x, w = torch.randn(3, c, *shape).to(dtype) / 8, torch.randn(c).to(dtype)
    agree(package, "in_groups", x, w, dtype=dtype)
    agree(package, "in_groups", x.transpose(0, -1).contiguous().transpose(0, -1), w, dtype=dtype)


def test_many_arrays_have_short_runs() -> None:
    folder = Path(__file__).resolve().parents[2] / "generated"
    short = [(folder / op / "csrc" / f"{op}_kernels.cpp").read_text() for op in ("quaternion_rotate", "silu")]
    assert ["OPGEN_SHORT_RUNS" in text for text in short] == [True, False]


@pytest.mark.parametrize(
    ("op", "text"),
    [
        ("bags", "ids_ahead.row(table"),
        ("far_columns", "_apart.run("),
        ("corners", ".lengthen()"),
        ("short_rows", ".arrange()"),
        ("numbered", ".arrange()"),
        ("in_groups", "rt::ask_to_store(y, "),
    ],
)
def test_what_is_tested_is_there(package: Any, op: str, text: str) -> None:
    folder = Path(str(package.__path__[0])) / op / "csrc"
    assert text in (folder / f"{op}_kernels.cpp").read_text(encoding="utf-8")
