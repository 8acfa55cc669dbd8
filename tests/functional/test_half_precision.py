"""Plain torch in 16 bits: what cancels is summed up in float32, and matrix products stay torch's own."""

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
