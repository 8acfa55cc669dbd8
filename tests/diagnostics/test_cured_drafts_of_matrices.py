"""A formula of matrices as the first text of a spec: it stands there with its indices, and builds."""

from __future__ import annotations

import pytest

from opgen.lower.draft import of_formula
from opgen.lower.draft_notation import plain
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


@pytest.mark.parametrize("sign", ["*", "\u00b7", "@", "dot"])
def test_a_product_of_rows_is_a_sum_over_their_axis(sign: str) -> None:
    value = "dot(q[i, :], k[j, :])" if sign == "dot" else f"q[i, :] {sign} k[j, :]"
    text = of_formula("drafted", f"s[i, j] = {value}", "s.json")
    assert text.endswith("s[i, j] = sum[d](q[i, d]*k[j, d])\n")
    built(text)


def test_rows_side_by_side_are_a_product_of_matrices() -> None:
    text = of_formula("drafted", "c[i, j] = a[i, :] b[:, j]", "s.json")
    assert text.endswith("c[i, j] = sum[d](a[i, d]*b[d, j])\n")
    built(text)


@pytest.mark.parametrize("line", ["y[d] = a[0, :]*b[1, :]", "y[i, j] = sum(a[i, :]*b[j, :])", "y = a[0, :]*b[1, :]"])
def test_rows_that_are_multiplied_element_by_element_stay(line: str) -> None:
    assert "sum[" not in plain(line)


def test_the_sign_of_a_sigmoid_is_read() -> None:
    assert of_formula("drafted", "y = \u03c3(g)", "s.json").endswith("y = sigmoid(g)\n")


@pytest.mark.parametrize("formula", ["y[n] = sum[k](x[n, k]*w[k])", "y = a*b + c", "loss = mean[...]((a - b)**2)"])
def test_other_formulas_are_drafted_as_before(formula: str) -> None:
    built(of_formula("drafted", formula, "s.json"))
