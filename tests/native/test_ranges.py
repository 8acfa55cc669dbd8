"""Maps whose fastest loop runs in ranges: at any sizes, also where ends have another order, and where reads miss."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest
import torch
from torch.nn.functional import pad

from opgen import build
from opgen.toolchain.library import compile_op
from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SPEC = """
op: ranged
inputs: {a: {shape: [N, A]}, b: {shape: [N, B]}, x: {shape: [..., D]}, angle: {shape: [H]}}
outputs: {joined: {}, turned: {}, halves: {}, blocks: {}, padded: {}}
forward: |
  joined[n, k < A + B + A] = where(k < A, a[n, k], where(k < A + B, exp(b[n, k - A]), a[n, k - A - B]**2))
  turned[..., d < 2*H] = where(
      d < H, x[..., d]*cos(angle[d]) - x[..., d + H]*sin(angle[d]),
      x[..., d]*cos(angle[d - H]) + x[..., d - H]*sin(angle[d - H]))
  halves[..., d] = where(d >= A, x[..., d]**2, where(d < B, -x[..., d], 3*x[..., d] + d))
  blocks[i < N + N, j < A + B] = where(i < N and j < A, a[i, j], where(i >= N and j >= A, b[i - N, j - A], 0))
  padded[..., k < H + H] = where(k < H, x[..., k + H], pad(x[..., k + H], 7))
"""
SIZES = (  # of N, A, B, H, and what D has beyond 2*H
    (3, 5, 7, 4, 0),
    (2, 1, 300, 17, 3),
    (1, 257, 1, 1, 0),
    (4, 16, 16, 33, 70),
    (2, 0, 5, 3, 1),
    (2, 6, 0, 128, 0),
    (0, 4, 3, 2, 1),
)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("ranges")
    (folder / "ranged.yaml").write_text(SPEC)
    assert not build(folder / "ranged.yaml", folder / "ranges").failed
    compile_op(folder / "ranges", "ranged")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield importlib.import_module("ranges.ranged")


def expected(a: torch.Tensor, b: torch.Tensor, x: torch.Tensor, angle: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """What comes out, by other words."""
    h, places = len(angle), torch.arange(x.shape[-1])
    first, second = x[..., :h], x[..., h : 2 * h]
    turned = (first * angle.cos() - second * angle.sin(), second * angle.cos() + first * angle.sin())
    chosen = torch.where(places < b.shape[1], -x, 3 * x + places)
    return (
        torch.cat((a, b.exp(), a**2), 1),
        torch.cat(turned, -1),
        torch.where(places >= a.shape[1], x**2, chosen),
        torch.block_diag(a, b) if len(a) else torch.cat((a, b), 1),
        pad(x, (0, 2 * h), value=7)[..., h : 3 * h],
    )


def run(
    function: Callable[..., tuple[torch.Tensor, ...]], given: tuple[torch.Tensor, ...]
) -> tuple[tuple[torch.Tensor, ...], tuple[torch.Tensor, ...]]:
    out = function(*given)
    grads = torch.autograd.grad(out, given, [torch.cos(y.detach()) + 2 for y in out])
    return out, grads


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_any_size_and_strides(package: ModuleType, sizes: tuple[int, ...], turned: bool, dtype: torch.dtype) -> None:
    n, a, b, h, more = sizes
    torch.manual_seed(a + b)
    shapes = (n, a), (n, b), (3, 2, 2 * h + more), (h,)
    made = [torch.randn(s[::-1]).permute(*range(len(s))[::-1]) if turned else torch.randn(s) for s in shapes]
    given = tuple(t.to(dtype).requires_grad_() for t in made)
    runtime = importlib.import_module("ranges._runtime")
    before = runtime.calls("native")
    with runtime.use_backend("native"):
        out, grads = run(package.ranged, given)
    assert runtime.calls("native") >= before + 2
    exact = tuple(t.detach().double().requires_grad_() for t in given)
    values, wanted = run(lambda *x: tuple(y.to(dtype).double() for y in expected(*x)), exact)
    close = {torch.float64: 1e-12, torch.float32: 2e-5, torch.bfloat16: 6e-2}[dtype]
    for ours, theirs in zip((*out, *grads), (*values, *wanted), strict=True):
        torch.testing.assert_close(ours.double(), theirs, rtol=close, atol=close)


@pytest.mark.parametrize("size", [0, 7])
def test_what_ends_too_early_is_told(package: ModuleType, size: int) -> None:
    runtime = importlib.import_module("ranges._runtime")
    given = torch.ones(2, 3), torch.ones(2, 2), torch.ones(5, size), torch.ones(4)
    for backend in ("native", "torch"):
        with runtime.use_backend(backend), pytest.raises((ValueError, IndexError), match="ranged: "):
            package.ranged(*given)
