"""How names with letters of other scripts are spelt."""

from __future__ import annotations

import pytest

from opgen.diagnostics.letters import in_ascii, is_named
from tests.diagnostics.cures import built, diagnosed, said, whole


@pytest.mark.parametrize(
    ("name", "spelt"),
    [
        ("\u03bc", "mu"), ("\u00b5", "mu"), ("log_\u03c3", "log_sigma"), ("\u0394t", "delta_t"),
        ("d\u03c3_dt", "d_sigma_dt"), ("\u03c2", "sigma"), ("\u03d5", "phi"), ("\U0001d6fc", "alpha"),
        ("\u03bb", "lam"), ("\u0177", "y_hat"), ("m\u0302_t", "m_hat_t"), ("x\u0304", "x_bar"),
        ("x\u2081", "x1"), ("\u2113", "l"), ("\u00f8", "o"), ("\u0435", None),
        ("\u540d", None), ("\u2207f", None),
    ],
)  # fmt: skip
def test_a_name_is_spelt_with_the_names_of_its_letters(name: str, spelt: str | None) -> None:
    assert in_ascii(name) == spelt


@pytest.mark.parametrize(
    ("before", "named"),
    [
        ("# gamma is the scale", "gamma"),
        ("summary: scaled by gamma", "gamma"),
        ("doc: |\n  The scale is\n\n  gamma.", "gamma"),
        ("tests: {sizes: {N: 4}}  # of gamma", "gamma"),
        ("params: {gamma: {type: float, default: 1.0}}", "gamma_"),
    ],
)
def test_a_word_in_a_comment_is_no_name(before: str, named: str) -> None:
    assert is_named("gamma", before) is (named == "gamma_")


@pytest.mark.parametrize("other", ["", ", gamma: {type: float, default: 1.0, doc: the other}"])
def test_a_name_is_spelt_alike_where_it_is_declared_and_read(other: str) -> None:
    fields = (
        f'# gamma\ninputs: {{x: {{shape: [N], doc: "scaled by gamma"}}}}\nparams: {{\u03b3: {{type: float}}{other}}}'
    )
    named = "gamma_" if other else "gamma"
    declared, read = diagnosed(whole(fields, "y[n] = \u03b3*x[n]"))
    assert declared.hints[0] == f"write `{named}`"
    assert read.hints == (f"names are made of ASCII letters, digits and `_`: `{named}`",)


def test_the_sign_of_a_sigmoid_before_parentheses_is_that_function() -> None:
    line = "y[n] = \u03c3(g[n])"
    text = whole("inputs: {g: {shape: [N]}}", line)
    assert said(text)[-1] == "sigmoid"
    built(text.replace("\u03c3", "sigmoid"))
