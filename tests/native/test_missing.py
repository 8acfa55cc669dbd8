"""Inputs that stand for a number where they are missing: one kernel reads them, or the number."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch

import opgen
from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

INPUTS = """
op: standing
inputs:
  x: {shape: [..., N]}
  ids: {shape: [N], dtype: int, domain: 0 <= ids < N}
  w: {shape: [N], optional: true, absent: 1}
  b: {shape: [..., N], optional: true}
forward: |
"""
FORMULAS = {
    "map": "y[..., n] = tanh(x[..., n]*w[n] + b[..., n])",
    "row": "y[..., n] = softmax[n](x[..., n]*w[n] + b[..., n])",
    "columns": "y[n] = sum[...](x[..., n]*w[n] + b[..., n])",
    "whole": "y = sum[..., n]((x[..., n] - b[..., n])**2*w[n])",
    "gather": "y[..., n] = x[..., n]*w[ids[n]] + b[..., N - 1 - n]",
    "scatter": "y[..., n < N] = 0\n  y[..., ids[n]] += x[..., n]*w[n] + b[..., n]",
    "recurrence": "h[..., -1] = 0\n  h[..., n] = w[n]*h[..., n - 1] + x[..., n] + b[..., n]\n  y[..., n] = h[..., n]",
    "window": "y[..., n] = sum[k < 3](pad(x[..., n + k - 1], 0)*w[n]) + pad(b[..., n - 1], 0)",
}
SIZES = ((3, 0), (0, 5), (2, 1), (2, 3, 7), (5, 300))


@pytest.fixture(scope="module", params=FORMULAS)
def both(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """The operator, compiled and in plain torch."""
    text = f"{INPUTS}  {FORMULAS[request.param]}\n".replace("op: standing", f"op: standing_{request.param}")
    return opgen.load(text, compiled=True), opgen.load(text, compiled=False)


def results(f: Any, given: list[torch.Tensor | None], ids: torch.Tensor) -> list[torch.Tensor]:
    """The value, and the gradients of what is there."""
    x, *rest = (None if t is None else t.detach().clone(memory_format=torch.preserve_format) for t in given)
    there = [t.requires_grad_() for t in (x, *rest) if t is not None]
    y = f(x, ids, *rest)
    weight = torch.linspace(-1, 1, max(y.numel(), 1), dtype=y.dtype)[: y.numel()].view_as(y)
    return [y, *torch.autograd.grad((y * weight).sum(), there)]


def drawn(shape: tuple[int, ...], dtype: torch.dtype, rng: torch.Generator, turned: bool) -> torch.Tensor:
    t = torch.rand(*shape, generator=rng, dtype=torch.float64).to(dtype)
    return t.transpose(0, -1).contiguous().transpose(0, -1) if turned else t


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_a_missing_input_is_the_number_that_it_stands_for(both: tuple[Any, Any], dtype: torch.dtype) -> None:
    native, plain = both
    rng = torch.Generator().manual_seed(1)
    for shape, (has_w, has_b, turned) in product(SIZES, product([True, False], repeat=3)):
        n = shape[-1]
        wanted = ((True, shape), (has_w, (n,)), (has_b, shape))
        given = [drawn(size, dtype, rng, turned) if there else None for there, size in wanted]
        ids = torch.randint(n, (n,), generator=rng) if n else torch.empty(0, dtype=torch.int64)
        for got, wanted in zip(results(native, given, ids), results(plain, given, ids), strict=True):
            tolerance = {torch.float64: 1e-10, torch.float32: 2e-4}.get(dtype, 3e-2)
            torch.testing.assert_close(got, wanted, rtol=tolerance, atol=tolerance)
