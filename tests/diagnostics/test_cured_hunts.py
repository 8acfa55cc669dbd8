"""What people write by the habits of other tools, with what its one message says in it, builds."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import follow, whole

SPECS = [
    (
        whole("inputs: {a: {shape: [M, N]}}", "y(m) = sum[n](a(m, n))"),
        {"y(m) = sum[n](a(m, n))": "y[m] = sum[n](a[m, n])"},
    ),
    (
        whole("inputs: {a: {shape: [B, I, J]}, b: {shape: [B, J, K]}}", "bij,bjk->bik"),
        {"bij,bjk->bik": "out[m, i, k] = sum[j](a[m, i, j]*b[m, j, k])"},
    ),
    (whole("inputs: {x: {shape: [N]}}\noutputs: {y: float32}", "y[n] = 2*x[n]"), {"y: float32": "y: {dtype: float32}"}),
    (
        whole("inputs: {x: {shape: [N]}}", "y[n] = 2*x[n]") + "tests: {N: 5}\n",
        {"tests: {N: 5}": "tests: {sizes: {N: 5}}"},
    ),
    (whole("inputs: [x]\nparams: {k: {type: int, value: 3}}", "y = k*x"), {"value": "default"}),
    (whole("inputs: {x: {shape: [_, D]}}", "y[n, d] = 2*x[n, d]"), {"_": "N"}),
    (whole("inputs: {a: {shape: [M, N]}}", "y[m] = exp(a(m, 0))"), {"a(m, 0)": "a[m, 0]"}),
    (
        whole("inputs: {x: {shape: [..., K]}, w: {shape: [K]}}", "y[..., k] = w[k]*x[..., k]")
        + "module: {parameters: {weight: ones}}\n",
        {"weight": "w"},
    ),
]


@pytest.mark.parametrize(("text", "cure"), SPECS)
def test_what_is_proposed_builds(text: str, cure: dict[str, str]) -> None:
    follow(text, cure)
