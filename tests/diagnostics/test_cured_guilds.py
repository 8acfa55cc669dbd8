"""What other trades write in a spec where opgen has a word of its own: what is proposed in its place builds."""

from __future__ import annotations

import pytest

from opgen.diagnostics.model import Diagnostic
from tests.diagnostics.cures import built, diagnosed, whole


def lone(text: str) -> Diagnostic:
    (found,) = diagnosed(text)
    return found


@pytest.mark.parametrize(
    ("formula", "code", "meant"),
    [
        ("1//2*(1 + erf(v/sqrt(2)))", "OPG275", "1/2"),
        ("where(v == nan, 0, v)", "OPG274", "isnan(v)"),
        ("clamp(v, 1, -1)", "OPG276", "clamp(v, -1, 1)"),
        ("v - v", "OPG284", None),
        ("relu(-abs(v))", "OPG284", None),
        ("v*sin(pi*2)", "OPG288", None),
    ],
)
def test_a_formula_of_a_function_is_doubted_like_a_statement(formula: str, code: str, meant: str | None) -> None:
    text = whole(f"inputs: [x]\nfunctions: {{'f(v)': '{formula}'}}", "y = f(x) + f(2*x)")
    found = lone(text)
    plain = lone(whole("inputs: [v]", f"y = {formula}"))
    assert (found.code, found.message, found.hints) == (plain.code, plain.message, plain.hints)
    assert found.code == code
    if meant is not None:
        assert f"`{meant}`" in found.hints[0]
        built(text.replace(found.span.text if found.span else "", meant))


def test_arguments_hide_what_has_their_names() -> None:
    fields = "inputs: {x: {}, k: {dtype: int, domain: k > 1}}"
    fields += "\nparams: {a: float, b: {type: float, domain: b > a}}"
    fields += "\nfunctions: {'f(k)': 'k % 1', 'g(a)': 'relu(a - b)'}"
    built(whole(fields, "y = f(x) + g(x) + a*k"))


def test_a_quotient_in_a_position_is_no_fraction() -> None:
    fields = "inputs: {x: {shape: [N]}, k: {shape: [M], dtype: int}}\nfunctions: {'at(i)': 'i + 1//2'}"
    found = lone(whole(fields, "y[m] = x[at(k[m])]"))
    assert found.code == "OPG275"
    assert found.hints == ()
