"""Recurrences and sums over dims that do not fit, and indices that nothing says the end of: none goes untold."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

U = "inputs: {u: {shape: [T, D]}, g: {shape: [T, K]}}"


def codes(text: str) -> list[str]:
    return [found.code for found in diagnosed(text)]


@pytest.mark.parametrize(
    ("fields", "lines", "code"),
    [
        (U, ("z[t, d] = sigmoid(u[t, d])", "h[t, d] = z[t, d]*h[t - 1, d] + g[t, d]"), "OPG213"),
        (U, ("z[t, d] = sigmoid(u[t, d])", "h[t, d] = z[t, d]*h[t - 1, d] + u[d, t]"), "OPG213"),
        (U, ("z[t, d] = exp(u[t, d])", "h[t] = h[t - 1] + sum[d](z[t, d]*g[t, d])"), "OPG213"),
        (U, ("z[t, d] = exp(u[t, d])", "a[t] = h[t - 1]", "h[t] = a[t] + sum[d](z[t, d]*g[t, d])"), "OPG213"),
        (
            U,
            (
                "z[t, d] = exp(u[t, d])",
                "a[t] = where(true, 1.0, sum[d](z[t, d]*g[t, d]))",
                "h[t] = a[t] + sum[d](z[t, d]*g[t, d])",
            ),
            "OPG213",
        ),
        (f"{U}\nparams: {{p: float}}", ("h[t] = h[t - 1]*p[1] + u[t, 0]",), "OPG206"),
        (f"{U}\nparams: {{p: float}}", ("a[t] = where(true, u[t, 0], p[1])", "h[t] = a[t]*p[1]"), "OPG206"),
    ],
)
@pytest.mark.parametrize("outputs", ["[h]", "[h, z]"])
def test_what_is_found_in_a_trial_is_told_where_it_counts(
    fields: str, lines: tuple[str, ...], code: str, outputs: str
) -> None:
    if "z" in outputs and not lines[0].startswith("z"):
        return
    assert codes(whole(f"{fields}\noutputs: {outputs}", *lines)) == [code]


@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        (U, ("y[t] = u[]*2",)),
        (U, ("n[t, d] = sum - 1[j](u[t, j])", "a, b = chunk(n, 2)", "y[t, d] = a[t, d]*b[t, d]")),
        ("inputs: {x: {shape: [N, M]}}", ("r[-1, j] = 0", "r[i, -1] = 1", "r[i, j + 1] = x[i, j] + r[i - 1, j - 1]")),
        (
            f"inputs: [x]\nparams: {{{', '.join(f'f{k}: bool' for k in range(10))}}}",
            ("y = x", f"y = 0 if not ({' and '.join(f'f{k}' for k in range(10))})"),
        ),
    ],
)
def test_what_cannot_be_mended_in_words_is_told_nevertheless(fields: str, lines: tuple[str, ...]) -> None:
    assert codes(whole(fields, *lines))


def test_a_clash_in_a_recurrence_reads_like_that_of_inputs() -> None:
    text = whole("inputs: {u: {shape: [T, D]}}\noutputs: [h, dt]", "dt[t, d] = softplus(u[t, d])", "{}")
    text = text.replace("{}", "h[t, d] = dt[t, d]*h[t - 1, d] + u[d, t]")
    assert said(text) == ["u[t, d]"]
    built(text.replace("u[d, t]", "u[t, d]"))
