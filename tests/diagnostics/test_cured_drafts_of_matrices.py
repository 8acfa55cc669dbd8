"""A formula of matrices as the first text of a spec: it stands there with its indices, and builds."""

from __future__ import annotations

import pytest

from opgen.lower.draft import of_formula
from tests.diagnostics.cures import built

ATTENTION = "y[i, e] = sum[d](softmax[d](sum[j](q[i, j] * k[d, j])) * v[d, e])"


@pytest.mark.parametrize(
    ("formula", "meant"),
    [
        ("y = softmax(q @ k.T) @ v", ATTENTION),
        ("softmax(q @ k.T) @ v", ATTENTION),
        ("y = torch.softmax(torch.matmul(q, k.transpose(-2, -1)), dim=-1) @ v", ATTENTION),
        (
            "y = softmax(q @ k.T / sqrt(d)) @ v",
            "y[i, m] = sum[e](softmax[e](sum[j](q[i, j] * k[e, j]) / sqrt(d)) * v[e, m])",
        ),
        ("y = relu(x @ w.T + b)", "y[i, d] = relu(sum[j](x[i, j] * w[d, j]) + b[d])"),
        ("y = q @ k @ v", "y[i, e] = sum[d](sum[j](q[i, j] * k[j, d]) * v[d, e])"),
        ("loss = mean((a @ b - c)**2)", "loss = mean[i, d]((sum[j](a[i, j] * b[j, d]) - c[i, d])**2)"),
        ("y = tanh(i @ j)", "y[d, m] = tanh(sum[e](i[d, e] * j[e, m]))"),
    ],
)
def test_a_formula_of_matrices_is_one_line(formula: str, meant: str) -> None:
    text = of_formula("drafted", formula, "s.json")
    assert text.endswith(f"forward: |\n  {meant}\n")
    built(text)


@pytest.mark.parametrize("formula", ["y[n] = sum[k](x[n, k]*w[k])", "y = a*b + c", "loss = mean[...]((a - b)**2)"])
def test_other_formulas_are_drafted_as_before(formula: str) -> None:
    built(of_formula("drafted", formula, "s.json"))
