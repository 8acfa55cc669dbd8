"""Folds of windows that slide over a row, and convolutions of channels that see no others: compiled, as in torch."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator
from types import ModuleType

import pytest
import torch
from torch.nn import functional

import opgen
from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SLIDES = """
op: slides
inputs:
  x: {shape: [..., C, L]}
  w: {shape: [C, K]}
  plane: {shape: [..., H, W]}
  part: {shape: [I, J]}
  u: {shape: [K]}
params: {padding: {type: int, default: 0, domain: padding >= 0}, apart: {type: int, default: 1, domain: apart > 0}}
dims:
  P: L + 2*padding - apart*(K - 1)
  R: H - I + 1
  S: W + 2*padding - J + 1
outputs:
  line: {shape: [..., C, P]}
  most: {shape: [..., C, P]}
  area: {shape: [..., R, S]}
  thin: {shape: [..., C, P]}
  before: {shape: [..., C, L]}
forward: |
  line[..., c, p] = sum[k](pad(x[..., c, p + k*apart - padding], 0)*w[c, k])
  most[..., c, p] = max[k](pad(x[..., c, p + k*apart - padding], -1)*w[c, k])
  area[..., r, s] = sum[i, j](pad(plane[..., r + i, s + j - padding], 0)*part[i, j])
  thin[..., c, p] = sum[k < K](pad(x[..., c, p + k*apart - padding], 0)*pad(u[2*k], 1))
  before[..., c, l] = sum[k](where(l - k >= 0 and l - k < L, exp(x[..., c, l - k])*w[c, k], 0))
"""
LINE = """
op: line
inputs: {x: {shape: [..., C, L]}, w: {shape: [O, Cg, K]}, b: {shape: [O], optional: true}}
params:
  padding: {type: int, default: 0, domain: padding >= 0}
  stride: {type: int, default: 1, domain: stride > 0}
  dilation: {type: int, default: 1, domain: dilation > 0}
  groups: {type: int, default: 1, domain: groups > 0}
dims: {C: groups*Cg, O: groups*Og, P: (L + 2*padding - dilation*(K - 1) - 1)//stride + 1}
outputs: {y: {shape: [..., O, P]}}
forward: y[..., o, p] = sum[c, k](pad(x[..., o//Og*Cg + c, p*stride + k*dilation - padding], 0)*w[o, c, k]) + b[o]
"""
DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("slides")
    for name, text in (("slides", SLIDES), ("line", LINE)):
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
        assert not opgen.build(folder / f"{name}.yaml", folder / "of_windows").failed
    opgen.compile(["slides", "line"], folder / "of_windows")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("of_windows")


def close(dtype: torch.dtype, terms: int) -> dict[str, float]:
    """Sums that nearly cancel are as wrong as their terms are."""
    if dtype == torch.float64:
        return {}
    relative, absolute = (1e-4, 1e-4) if dtype == torch.float32 else (2e-2, 5e-2)
    return {"rtol": relative, "atol": absolute * terms**0.5}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("padding", "apart"), [(0, 1), (2, 1), (5, 3)])
@pytest.mark.parametrize("taps", [1, 3, 17])
@pytest.mark.parametrize("length", [51, 63, 1100])
def test_slides(made: ModuleType, length: int, taps: int, padding: int, apart: int, dtype: torch.dtype) -> None:
    torch.manual_seed(length)
    shapes = (2, 3, length), (3, taps), (2, 5, length), (2, min(taps, 5)), (taps,)
    leaves = [torch.randn(s).to(dtype).requires_grad_() for s in shapes]
    results = {}
    for backend, as_dtype in (("native", dtype), ("torch", torch.float64)):
        mine = [t.detach().to(as_dtype).requires_grad_() for t in leaves]
        with importlib.import_module("of_windows._runtime").use_backend(backend):
            out = made.slides(*mine, padding=padding, apart=apart)
            weights = [(torch.arange(o.numel()) % 5 - 1).to(as_dtype).reshape(o.shape) for o in out]
            results[backend] = [*out, *torch.autograd.grad(out, mine, weights)]
    for ours, right in zip(*results.values(), strict=True):
        terms = taps * length if right.shape in {leaves[k].shape for k in (1, 3, 4)} else taps
        torch.testing.assert_close(ours.double(), right, **close(dtype, terms))


def test_slides_of_other_strides(made: ModuleType) -> None:
    torch.manual_seed(0)
    x, w, plane, part = torch.randn(80, 3, 2), torch.randn(6, 3), torch.randn(60, 2, 5), torch.randn(3, 2)
    leaves = x.permute(2, 1, 0)[..., ::2], w[::2].mT, plane.permute(1, 2, 0), part.mT, torch.randn(6)[::2]
    with importlib.import_module("of_windows._runtime").use_backend("native"):
        found = made.slides(*leaves, padding=1)
        apart = made.slides(*(t.contiguous() for t in leaves), padding=1)
    for a, b in zip(found, apart, strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("bias", [False, True], ids=["plain", "biased"])
@pytest.mark.parametrize(
    ("shape", "channels", "taps", "params"),
    [
        ((2, 6, 40), 6, 4, {"padding": 3}),
        ((2, 6, 40), 6, 4, {"padding": 7, "dilation": 3}),
        ((2, 6, 1500), 6, 20, {"padding": 2}),
        ((2, 6, 40), 12, 4, {"padding": 3}),
        ((2, 6, 40), 6, 4, {"padding": 3, "stride": 2}),
        ((0, 6, 40), 6, 4, {"padding": 3}),
        ((2, 6, 4), 6, 4, {}),
        ((6, 9), 6, 1, {}),
        ((2, 1, 50), 1, 3, {}),
    ],
)
def test_channels_that_see_no_others(
    made: ModuleType,
    shape: tuple[int, ...],
    channels: int,
    taps: int,
    params: dict[str, int],
    bias: bool,
    dtype: torch.dtype,
) -> None:
    torch.manual_seed(0)
    groups = shape[-2]
    x, w, b = torch.randn(shape).to(dtype), torch.randn(channels, 1, taps).to(dtype), torch.randn(channels).to(dtype)
    leaves = [x, w, b] if bias else [x, w]
    ours = [t.clone().requires_grad_() for t in leaves]
    right = [t.double().requires_grad_() for t in leaves]
    with importlib.import_module("of_windows._runtime").use_backend("native"):
        y = made.line(*ours, groups=groups, **params)
    want = functional.conv1d(*right, groups=groups, **params)
    assert y.dtype == dtype
    g = (torch.arange(want.numel()) % 7 - 3).to(dtype).reshape(want.shape)
    found = [y, *torch.autograd.grad(y, ours, g)]
    for a, c in itertools.zip_longest(found, [want, *torch.autograd.grad(want, right, g.double())]):
        terms = 1 if a is found[0] else max(1, x.numel() // groups)
        torch.testing.assert_close(a.double(), c, **close(dtype, terms))


def test_wrong_sizes_are_told(made: ModuleType) -> None:
    with importlib.import_module("of_windows._runtime").use_backend("native"), pytest.raises(ValueError, match="line"):
        made.line(torch.randn(2, 6, 9), torch.randn(6, 1, 3), groups=5)


def test_results_do_not_depend_on_threads(made: ModuleType) -> None:
    x, w = torch.randn(4, 64, 3000), torch.randn(64, 1, 5)
    found = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
        with importlib.import_module("of_windows._runtime").use_backend("native"):
            y = made.line(x, w, groups=64, padding=2)
        found.append([y, *torch.autograd.grad(y, (x, w), torch.ones_like(y))])
    for a, b in zip(*found, strict=True):
        assert torch.equal(a, b)
