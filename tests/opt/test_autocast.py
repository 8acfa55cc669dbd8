"""Which of autocast's lists an operator stands on."""

from __future__ import annotations

import pytest

from opgen.opt.autocast import Autocast, autocast
from opgen.opt.derive import derive
from tests.lower.specs import built, elementwise

X, Y = "{x: {shape: [..., K]}}", "{x: {shape: [..., K]}, z: {shape: [..., K]}}"
MATRIX = "{x: {shape: [..., K]}, w: {shape: [N, K]}}"
LISTS = {
    # products that are summed
    ("y[..., n] = sum[k](x[..., k]*w[n, k])", MATRIX): Autocast.LOWER,
    ("y[..., n] = sum[k](x[..., k]*w[k, n])", "{x: {shape: [..., K]}, w: {shape: [K, N]}}"): Autocast.LOWER,
    ("y[n] = sum[h](w[h, n]*x[h])", "{w: {shape: [H, N]}, x: {shape: [H]}}"): Autocast.LOWER,
    ("y[...] = sum[k](x[..., k]*w[k])", "{x: {shape: [..., K]}, w: {shape: [K]}}"): Autocast.LOWER,
    ("y[..., n] = silu(sum[k](x[..., k]*w[n, k]))", MATRIX): Autocast.LOWER,
    ("y[..., n] = max(0, sum[k](where(k <= n, x[..., k]*w[n, k], 0)))", MATRIX): Autocast.LOWER,
    (
        "y[o, i < L - K + 1] = sum[c, k](x[c, i + k]*w[o, c, k])",
        "{x: {shape: [C, L]}, w: {shape: [O, C, K]}}",
    ): Autocast.LOWER,
    # sums, norms, logarithms
    ("y[...] = sum[k](x[..., k]*z[..., k])", Y): Autocast.FLOAT32,
    ("y = mean[...](square(x - z))", "[x, z]"): Autocast.FLOAT32,
    ("y[...] = norm[k](x[..., k])", X): Autocast.FLOAT32,
    ("y[..., k] = softmax[k](x[..., k])", X): Autocast.FLOAT32,
    ("y[..., k] = cumsum[k](x[..., k])", X): Autocast.FLOAT32,
    ("y[..., k] = x[..., k]*rsqrt(mean[k](x[..., k]**2) + 1)", X): Autocast.FLOAT32,
    ("y[...] = logsumexp[n](sum[k](x[..., k]*w[n, k]))", MATRIX): Autocast.FLOAT32,
    ("y[...] = max[k](exp(x[..., k]))", X): Autocast.FLOAT32,
    ("y = 3*exp(x) + 1", "[x]"): Autocast.FLOAT32,
    ("y = log(1 + exp(2*x))/2", "[x]"): Autocast.FLOAT32,
    ("y = 1/x", "[x]"): Autocast.FLOAT32,
    # everything else
    ("y = x*sigmoid(x)", "[x]"): Autocast.AS_GIVEN,
    ("y = where(x > 0, x, exp(x) - 1)", "[x]"): Autocast.AS_GIVEN,
    ("y[...] = max[k](x[..., k])", X): Autocast.AS_GIVEN,
    ("y[..., p < K//2] = mean[r < 2](x[..., 2*p + r])", X): Autocast.AS_GIVEN,
    ("y[n, d] = sum[k](x[ids[n, k], d])", "{x: {shape: [V, D]}, ids: {shape: [N, K], dtype: int}}"): Autocast.AS_GIVEN,
    ("y[...] = count[k](x[..., k] > 0)", X): Autocast.AS_GIVEN,
}


@pytest.mark.parametrize(("formula", "inputs"), LISTS)
def test_the_list_of_an_operator(formula: str, inputs: str) -> None:
    derived = derive(built(elementwise(formula, inputs)))
    assert autocast(d.forward for d in derived) is LISTS[formula, inputs]


def test_the_wider_list_holds_for_all_variants() -> None:
    spec = """
op: f
inputs: [x, z]
params: {reduction: {choices: [mean, none]}}
forward: "y = reduction[...](abs(x - z))"
"""
    assert [autocast([d.forward]) for d in derive(built(spec))] == [Autocast.FLOAT32, Autocast.AS_GIVEN]
    assert autocast(d.forward for d in derive(built(spec))) is Autocast.FLOAT32
