"""Rows that meet tiles in groups, places of extremes in lanes, states that go on in runs: compiled, at any size."""

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
op: grouped
inputs:
  q: {shape: [B, N, D]}
  k: {shape: [B, M, D]}
  v: {shape: [B, M, E]}
  x: {shape: [B, P]}
outputs: {mixed: {}, near: {}, best: {}, worst: {}, state: {}}
forward: |
  mixed[b, i, e] = sum[j](softmax[j](sum[d](q[b, i, d]*k[b, j, d]))*v[b, j, e])
  near[b, i, e] = sum[j](exp(-sum[d]((q[b, i, d] - k[b, j, d])**2))*v[b, j, e])
  best[b] = argmax[p](x[b, p])
  worst[b] = argmin[p](x[b, p])
  s[b, -1, d, e] = 0
  r[b, -1, d, e] = 1
  s[b, j, d, e] = tanh(k[b, j, d])*s[b, j - 1, d, e] + v[b, j, e]*r[b, j - 1, d, e]
  r[b, j, d, e] = 0.5*r[b, j - 1, d, e] + tanh(s[b, j, d, e])
  state[b, j, d, e] = s[b, j, d, e] + r[b, j, d, e]
"""
SIZES = (  # of N, M, D, E, P
    (1, 1, 1, 1, 1),
    (3, 65, 5, 17, 3),
    (65, 63, 16, 16, 15),
    (70, 129, 67, 33, 65),
    (4, 64, 3, 300, 257),
    (0, 5, 3, 2, 16),
    (5, 0, 3, 17, 300),
)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("groups")
    (folder / "grouped.yaml").write_text(SPEC)
    assert not build(folder / "grouped.yaml", folder / "groups").failed
    compile_op(folder / "groups", "grouped")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield importlib.import_module("groups.grouped")


def operands(
    sizes: tuple[int, ...], dtype: torch.dtype = torch.float64, *, turned: bool = False
) -> tuple[torch.Tensor, ...]:
    n, m, d, e, p = sizes
    torch.manual_seed(n + m)
    shapes = (2, n, d), (2, m, d), (2, m, e), (2, p)
    made = (torch.randn(s[::-1]).permute(*range(len(s))[::-1]) if turned else torch.randn(s) for s in shapes)
    return tuple((t / 4).to(dtype).requires_grad_() for t in made)


def results(package: ModuleType, backend: str, given: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    """Outputs and gradients."""
    runtime = importlib.import_module("groups._runtime")
    before = runtime.calls("native")
    with runtime.use_backend(backend):
        out = package.grouped(*given)
        floats = [y for y in out if y.is_floating_point()]
        grads = torch.autograd.grad(floats, given[:3], [torch.cos(y.detach()) for y in floats])
    assert (runtime.calls("native") >= before + 2) == (backend == "native")
    return [*out, *grads]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("turned", [False, True])
def test_any_size_and_strides(package: ModuleType, sizes: tuple[int, ...], turned: bool) -> None:
    given = operands(sizes, turned=turned)
    found, expected = (results(package, backend, given) for backend in ("native", "torch"))
    for got, want in zip(found, expected, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("p", [1, 3, 15, 16, 17, 63, 65, 257, 300])
def test_places_of_what_ties_or_is_no_number(package: ModuleType, p: int) -> None:
    rows = [torch.randint(3, (p,)).float(), torch.full((p,), -torch.inf), torch.full((p,), torch.inf)]
    for k in {0, p // 2, p - 1}:
        rows.append(rows[0].clone())
        rows[-1][k :: max(1, p // 3)] = torch.nan
    x = torch.stack(rows)
    none = torch.zeros(len(rows), 1, 1)
    for backend in ("native", "torch"):
        with importlib.import_module("groups._runtime").use_backend(backend):
            _, _, best, worst, _ = package.grouped(none, none, none, x)
        first = [_first(row, largest) for largest in (True, False) for row in x]
        assert [*best.tolist(), *worst.tolist()] == first, backend


def _first(row: torch.Tensor, largest: bool) -> int:
    """The first place of what is no number, else of the extreme."""
    wanted = row.isnan() if row.isnan().any() else row == (row.max() if largest else row.min())
    return wanted.tolist().index(True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_threads_change_no_bit(package: ModuleType, dtype: torch.dtype) -> None:
    given, threads = operands(SIZES[3], dtype), torch.get_num_threads()
    found = []
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            found.append(results(package, "native", given))
    finally:
        torch.set_num_threads(threads)
    assert all(map(torch.equal, *found))
