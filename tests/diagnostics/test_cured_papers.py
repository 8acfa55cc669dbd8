"""A formula as it stands in a paper becomes a spec that builds, with tensors in small letters and indices."""

from __future__ import annotations

import pytest

from opgen.lower.draft import of_formula
from tests.diagnostics.cures import built, diagnosed, whole

SOFTMAX = "[i, e] = sum[d](softmax[d](sum[j](q[i, j] * k[d, j]) / sqrt(d_k)) * v[d, e])"


@pytest.mark.parametrize(
    ("formula", "lines"),
    [
        ("Y = X W^T + b", ["y[i, d] = sum[j](x[i, j] * w[d, j]) + b[d]"]),
        ("Y = XW + b", ["y = xw + b"]),
        ("y = Wx + b", ["y[i, d] = sum[j](w[i, j] * x[j, d]) + b[d]"]),
        ("Y = 2 X W", ["y[i, d] = sum[j]((2 * x[i, j]) * w[j, d])"]),
        ("Y = A @ B", ["y[i, d] = sum[j](a[i, j] * b[j, d])"]),
        ("Y = X.T @ X", ["y[j, m] = sum[i](x[i, j] * x[i, m])"]),
        (
            "H = relu(X W1 + b1)\nY = H W2 + b2",
            ["h[i, d] = relu(sum[j](x[i, j] * w1[j, d]) + b1[d])", "y[i, e] = sum[d](h[i, d] * w2[d, e]) + b2[e]"],
        ),
        (r"Y = \sigma(X W + b)", ["y[i, d] = sigmoid(sum[j](x[i, j] * w[j, d]) + b[d])"]),
        (r"Attention(Q, K, V) = softmax(Q K^T / \sqrt{d_k}) V", [f"attention{SOFTMAX}"]),
        (r"\text{softmax}\left(\frac{QK^T}{\sqrt{d_k}}\right)V", [f"y{SOFTMAX}"]),
        (r"\frac{x}{1+e^{-x}}", ["y = x/(1+exp(-x))"]),
        (r"$$y = \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} \gamma$$", ["y = (x - mu)/sqrt(sigma**2 + epsilon)*gamma"]),
        (r"Y_{ij} = \sum_k A_{ik} B_{kj}", ["y[i, j] = sum[k](a[i, k]*b[k, j])"]),
        (r"L = -\sum_i y_i \log p_i", ["l = -sum[i](y[i]*log(p[i]))"]),
        ("f(x) = x / (1 + exp(-x))", ["f = x / (1 + exp(-x))"]),
        ("Y[i, j] = A[i, j]/K + B[j]", ["y[i, j] = a[i, j]/k + b[j]"]),
        ("Y = max(0, X)", ["y = max(0, x)"]),
        ("y = x^2", ["y = x**2"]),
        ("X = x + 1", ["x_matrix = x + 1"]),
        ("y[n] = sum[k](x[n, k])/K", ["y[n] = sum[k](x[n, k])/K"]),
    ],
)
def test_a_formula_of_a_paper_is_drafted_as_it_builds(formula: str, lines: list[str]) -> None:
    text = of_formula("drafted", formula, "s.json")
    assert [line.strip() for line in text.partition("forward: |\n")[2].strip().split("\n")] == lines
    built(text, warned=True)


@pytest.mark.parametrize(
    "formula", ["C_{ij} = A_{ik}B_{kj}", "Y = A X + X B", "y = x ? 2", r"y = \begin{cases} x \end{cases}", "Y = F(X)"]
)
def test_what_is_unclear_in_a_formula_is_one_message(formula: str) -> None:
    assert len(diagnosed(of_formula("drafted", formula, "s.json"))) == 1


@pytest.mark.parametrize("value", [r"\frac{x[n, 0]}{2} @ w", "e^{x} @ w", r"\sqrt{2}*(x @ w)"])
def test_a_product_of_matrices_beside_latex_is_told(value: str) -> None:
    assert diagnosed(whole("inputs: {x: {shape: [N, K]}, w: {shape: [K]}}", f"y[n] = {value}"))
