"""Recurrences whose places are made of rows: compiled, long rows and short ones give what the torch form gives."""

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
op: rows_in_turn
inputs:
  x: {shape: [B, T, N]}
  gate: {shape: [B, N]}
  table: {shape: [T, B, C]}
  keep: {shape: [B, N], dtype: bool}
  pick: {shape: [B, N], dtype: int, domain: 0 <= pick < C}
outputs: {h: {}, steps: {}, total: {}}
forward: |
  h[b, -1, n] = where(n == 0, 1, 0.5)
  mixed[b, t, n] = tanh(h[b, t - 1, n]) + where(n > 1, h[b, t - 1, n - 2], gate[b, n])
  h[b, t, n] = 0.5*mixed[b, t, n] + where(keep[b, n], table[t, b, pick[b, n]], where(n + 1 < N, x[b, t, n], 0))
  steps[b, -1, n < N] = n
  steps[b, t < T, n < N] = where(keep[b, n], min(steps[b, t - 1, n], where(n > 0, steps[b, t - 1, n - 1], 3)), n) + 1
  total[b, t] = sum[n](h[b, t, n])
"""
SIZES = (1, 15, 16, 17, 33, 256, 257, 300)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("rows")
    (folder / "rows_in_turn.yaml").write_text(SPEC)
    assert not build(folder / "rows_in_turn.yaml", folder / "rowed").failed
    compile_op(folder / "rowed", "rows_in_turn")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield importlib.import_module("rowed.rows_in_turn")


def operands(n: int, dtype: torch.dtype, *, turned: bool = False) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(n)
    x = torch.randn(n, 5, 3).permute(2, 1, 0) if turned else torch.randn(3, 5, n)
    floats = (t.to(dtype).requires_grad_() for t in (x, torch.randn(3, n), torch.randn(5, 3, 7)))
    return *floats, torch.rand(3, n) < 0.6, torch.randint(0, 7, (3, n))


def results(package: ModuleType, backend: str, given: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    """Outputs and gradients."""
    runtime = importlib.import_module("rowed._runtime")
    before = runtime.calls("native")
    with runtime.use_backend(backend):
        h, steps, total = package.rows_in_turn(*given)
        grads = torch.autograd.grad([h, total], given[:3], [torch.cos(h.detach()), torch.sin(total.detach())])
    assert (runtime.calls("native") >= before + 2) == (backend == "native")
    return [h, steps, total, *grads]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("turned", [False, True])
def test_rows_of_any_length(package: ModuleType, n: int, turned: bool) -> None:
    given = operands(n, torch.float64, turned=turned)
    found, expected = (results(package, backend, given) for backend in ("native", "torch"))
    for got, want in zip(found, expected, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("n", [17, 300])
def test_threads_change_no_bit(package: ModuleType, n: int, dtype: torch.dtype) -> None:
    given, threads = operands(n, dtype), torch.get_num_threads()
    found = []
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            found.append(results(package, "native", given))
    finally:
        torch.set_num_threads(threads)
    assert all(map(torch.equal, *found))
    for got, want in zip(found[0], results(package, "torch", given), strict=True):
        torch.testing.assert_close(got, want, rtol=2e-2 if dtype is torch.bfloat16 else 2e-5, atol=2e-2)
