"""Statements in the notation of LaTeX and of paper: the line that is proposed builds as it is."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

X = "inputs: {x: {shape: [N, K]}, w: {shape: [K]}}"


def lines(text: str) -> list[str]:
    """The whole statements that the messages about a spec say to write."""
    return list(dict.fromkeys(line for line in said(text) if re.match(r"\w+(\[[^=]*\])? = ", line)))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (r"y[n, k] = \max\{0, x[n, k]\}*w[k]", "y[n, k] = max(0, x[n, k])*w[k]"),
        (r"y[n, k] = max{0, x[n, k]} + min{w[k], 1}", "y[n, k] = max(0, x[n, k]) + min(w[k], 1)"),
        (r"y = \frac{x}{w}", "y[n, k] = x[n, k]/w[k]"),
        (r"y[n, k] = \frac{x}{1 + e^{-w}}", "y[n, k] = x[n, k]/(1 + exp(-w[k]))"),
        (r"y_{nk} = x_{nk}^2 - 2x_{n,k} w_{k}", "y[n, k] = x[n, k]**2 - 2*x[n, k]*w[k]"),
        (r"y[n, k] = e^{-\frac{x_{nk}}{2}}*w[k]", "y[n, k] = exp(-x[n, k]/2)*w[k]"),
        (r"y[n, k] = exp^{-x[n, k]} + w[k]^{3}", "y[n, k] = exp(-x[n, k]) + w[k]**3"),
        (r"y[n] = \tanh x[n, 0] + sqrt{w[0]}", "y[n] = tanh(x[n, 0]) + sqrt(w[0])"),
        (r"y[n] = 1/K Σ_k x[n, k]*w[k]", "y[n] = 1/K*sum[k](x[n, k]*w[k])"),
        (r"y[n] = ∑ x[n, k]*w[k]", "y[n] = sum[k](x[n, k]*w[k])"),
        (r"y[n] = ∑[k](x[n, k]*w[k])", "y[n] = sum[k](x[n, k]*w[k])"),
        (r"y[n] = ∏ₖ x[n, k] w[k]", "y[n] = prod[k](x[n, k]*w[k])"),
        (r"y[n] = sum_{k=1}^K x[n, k]*w[k]", "y[n] = sum[k](x[n, k]*w[k])"),
        (r"y[n] = max_k x[n, k] - min_k w[k]", "y[n] = max[k](x[n, k]) - min[k](w[k])"),
        (r"y[n] = sum_k x[n, k]² · w[k]", "y[n] = sum[k](x[n, k]**2 * w[k])"),
        (r"y[n] = {x[n, 0] + 1}*w[0]", "y[n] = (x[n, 0] + 1)*w[0]"),
    ],
)
def test_a_statement_of_latex_is_told_as_a_whole(line: str, meant: str) -> None:
    text = whole(X, line)
    assert lines(text) == [meant]
    built(text.replace(line, meant))


def test_what_is_called_e_is_no_exponential() -> None:
    fields = "inputs: [x, e]"
    assert lines(whole(fields, "y = x*e^{2}")) == ["y = x*e**2"]
    built(whole(fields, "y = x*e**2"))


@pytest.mark.parametrize(
    "line",
    [
        r"y[n] = \begin{cases} x[n, 0] \end{cases}",
        r"y[n] = \sigma\left(x[n, 0]\right)",
        r"y[n] = x[n, 0]^{p_n}",
        r"y[n] = \hat{x}[n, 0]",
        r"y[n] = x_{n0}^{T} w",
        r"y[n] = Σ[n, k]*w[0]",
        r"y[n] = \sum_{k \neq n} w_k",
    ],
)
def test_nothing_is_proposed_where_a_part_is_unclear(line: str) -> None:
    fields = f"{X}\nparams: {{p_n: {{type: float, default: 1.0}}}}"
    assert diagnosed(whole(fields, line))
    assert lines(whole(fields, line)) == []


@pytest.mark.parametrize(
    ("value", "part", "meant"),
    [
        ("w[0]! + x[n, 0]", "w[0]!", "exp(lgamma(w[0] + 1))"),
        ("(x[n, 0] + w[0])!/2", "(x[n, 0] + w[0])!", "exp(lgamma(x[n, 0] + w[0] + 1))"),
        ("x[n, 0]*∛w[0]", "∛w[0]", "cbrt(w[0])"),
        ("2*sin² (x[n, 0])*w[0]", "sin² (x[n, 0])", "sin(x[n, 0])**2"),
        ("w[0]*‖x[n, k]‖", "‖x[n, k]‖", "norm[k](x[n, k])"),
        ("‖x[n, k] - w[k]‖²", "‖x[n, k] - w[k]‖²", "norm[k](x[n, k] - w[k])**2"),
        ("x[n, 0]/||w||_2^2", "||w||_2^2", "norm[k](w[k])**2"),
        (r"sum[k](x[n, k]*w[k])/\|x\|", r"\|x\|", "norm[k](x[n, k])"),
    ],
)
def test_a_sign_of_paper_is_told_with_what_takes_its_place(value: str, part: str, meant: str) -> None:
    text = whole(X, f"y[n] = {value}")
    assert meant in said(text)
    built(text.replace(part, meant))


def test_the_power_of_what_stands_between_bars_goes_behind_it() -> None:
    assert said(whole(X, "y[n] = |x[n, 0] - w[0]|²"))[-1] == "abs(x[n, 0] - w[0])**2"
    built(whole(X, "y[n] = abs(x[n, 0] - w[0])**2"))


@pytest.mark.parametrize("sign", ["ᵀ", "⊤"])
def test_a_sign_for_the_transpose_is_that_of_the_matrix(sign: str) -> None:
    fields = "inputs: {x: {shape: [N, K]}}"
    (found,) = diagnosed(whole(fields, f"y[k, n] = x{sign}[k, n]"))
    assert f"`{sign}`" in found.message
    assert lines(whole(fields, f"y[k, n] = x{sign}[k, n]")) == ["y[k, n] = x[n, k]"]
    built(whole(fields, "y[k, n] = x[n, k]"))


@pytest.mark.parametrize("sign", ["±", "∫", "†", "∓"])
def test_signs_without_a_counterpart_are_told_what_is_written(sign: str) -> None:
    (found, *_) = diagnosed(whole(X, f"y[n] = x[n, 0] {sign} w[0]"))
    assert found.hints


def test_not_stays_the_sign_of_conditions() -> None:
    assert "not" in said(whole(X, "y[n] = where(!(x[n, 0] > w[0]), 1, 0)"))


def test_an_arrow_assigns() -> None:
    assert said(whole(X, "y[n] ← x[n, 0]*w[0]")) == ["="]


def test_a_sum_below_which_nothing_stands_is_over_the_axis_of_what_it_adds_up() -> None:
    fields = "inputs: {p: {shape: [..., K]}}"
    meant = "h = -sum[k](p[..., k]*log(p[..., k]))"
    assert said(whole(fields, "h = -\u2211 p log p")) == [meant]
    built(whole(fields, meant))
