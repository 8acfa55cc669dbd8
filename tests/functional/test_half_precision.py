"""Plain torch in 16 bits: what cancels, or decides, is computed in float32, and products stay torch's own."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
import torch

import opgen

INPUTS = "inputs: {k: {shape: [N, A]}, x: {shape: [N, A]}}\n"
SUMS = {
    "products that are made": "y[n] = sum[a](k[n, a]*x[n, a])",
    "sums of two": "y[n] = sum[a](k[n, a] + x[n, a])",
    "products of three": "y[n] = sum[a](k[n, a]*x[n, a]*x[n, a])",
}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", SUMS)
def test_sums_are_rounded_once(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    k, x = torch.randn(2, 50, 64).to(dtype).unbind()
    op = opgen.load(f"op: made\n{INPUTS}forward: {SUMS[name]}", compiled=False)
    want = op(k.double(), x.double())
    step = torch.finfo(dtype).eps * 2.0 ** want.abs().log2().floor()
    assert ((op(k, x).double() - want).abs() <= step * 0.51 + 64 * 1e-6).all()


PRODUCTS = {
    "mm": (
        "inputs: {x: {shape: [N, K]}, w: {shape: [K, M]}}\nforward: y[n, m] = sum[k](x[n, k]*w[k, m])",
        (3, 4),
        (4, 5),
    ),
    "convolution": (
        "inputs: {x: {shape: [N, C, T]}, w: {shape: [O, C, K]}}\ndims: {P: T - K + 1}\n"
        "outputs: {y: {shape: [N, O, P]}}\nforward: y[n, o, t] = sum[c, k](x[n, c, t + k]*w[o, c, k])",
        (2, 3, 9),
        (4, 3, 2),
    ),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_that_torch_computes_stay_in_their_dtype(name: str) -> None:
    spec, *shapes = PRODUCTS[name]
    made = opgen.load(f"op: made\n{spec}", compiled=False)
    function = inspect.getmodule(inspect.unwrap(made))
    assert function is not None
    assert "upcast" not in Path(str(function.__file__)).with_name("function.py").read_text()
    x, w = (torch.randn(s).bfloat16() for s in shapes)
    assert made(x, w).dtype is torch.bfloat16


SMALL = 2**-9  # so little that `1 + SMALL` is 1 in bfloat16
ONE = "inputs: {x: {shape: [N]}, b: {shape: [N]}}"
ROWS = "inputs: {x: {shape: [N, K]}, b: {shape: [K]}}"


@pytest.mark.parametrize(
    "formula",
    [
        "y[n] = x[n] + b[n] > 1",
        "y[n] = where(x[n] + b[n] > 1, 5, -5)",
        "y[n] = ceil(x[n] + b[n])",
        "y[n] = int(ceil(x[n] + b[n]))",
        "y[n] = frac(x[n] - b[n]/2)",
        "y[n] = (x[n] - b[n]/2) % 1",
        "y[n] = where(isfinite(x[n]*3e38), 1, 0)",
        "y[n] = x[n] + b[n] == x[n]",
        "y[n] = sign(x[n] - b[n])*heaviside(x[n]*b[n] - 1, 0)",
        "y = count[n](x[n] + b[n] > 1)",
        "y = any[n](x[n] - b[n]/2 < 1)",
        "s[n] = x[n] + b[n]\n  y[n] = where(s[n] > x[n], 1, 0)",
    ],
)
def test_decisions_are_those_of_float32(formula: str) -> None:
    f = opgen.load(f"op: decides\n{ONE}\noutputs: [y]\nforward: |\n  {formula}\n", compiled=False)
    x, b = torch.ones(1), torch.tensor([SMALL])
    found = f(x.bfloat16(), b.bfloat16())
    assert torch.equal(found, f(x, b).to(found.dtype))


@pytest.mark.parametrize("formula", ["argmax[k](x[n, k] + b[k])", "argmin[k](x[n, k] - b[k])"])
def test_places_are_those_of_float32(formula: str) -> None:
    f = opgen.load(f"op: places\n{ROWS}\nforward: y[n] = {formula}\n", compiled=False)
    x, b = torch.ones(1, 2), torch.tensor([SMALL, 1.5 * SMALL])
    assert f(x.bfloat16(), b.bfloat16()).tolist() == f(x, b).tolist() == [1]


@pytest.mark.parametrize("formula", ["max[k](x[n, k] + b[k])", "min[k](x[n, k] - b[k])", "median[k](x[n, k] + b[k])"])
def test_gradients_go_where_those_of_float32_go(formula: str) -> None:
    f = opgen.load(f"op: chooses\n{ROWS}\nforward: y[n] = {formula}\n", compiled=False)
    found = []
    for dtype in (torch.float32, torch.bfloat16):
        x = torch.ones(1, 2, dtype=dtype, requires_grad=True)
        b = torch.tensor([1.5 * SMALL, SMALL], dtype=dtype)
        (grad,) = torch.autograd.grad(f(x, b).sum(), x)
        found.append(grad.tolist())
    assert found[0] == found[1]
    assert sum(found[0][0]) == 1


def test_what_only_moves_is_not_widened() -> None:
    f = opgen.load(
        "op: moves\ninputs: {x: {shape: [N]}}\nforward: y[n] = where(x[n] > 0, x[n], max(-x[n], 2))\n", compiled=False
    )
    x = torch.randn(7).bfloat16()
    assert torch.equal(f(x), torch.where(x > 0, x, torch.maximum(-x, torch.tensor(2.0).bfloat16())))
