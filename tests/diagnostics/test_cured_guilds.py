"""What other trades write in a spec where opgen has a word of its own: what is proposed in its place builds."""

from __future__ import annotations

import pytest

from opgen.diagnostics.model import Diagnostic
from tests.diagnostics.cures import built, diagnosed, whole

LABELS = "inputs: {x: {shape: [N], dtype: int}, v: {shape: [N]}}"


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


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("x[n] == 0 or 1", "x[n] == 0 or x[n] == 1"),
        ("x[n] == 0 or 1 or -1", "x[n] == 0 or x[n] == 1 or x[n] == -1"),
        ("x[n] != 0 and 1", "x[n] != 0 and x[n] != 1"),
        ("x[n] != 0 or 1", "x[n] != 0 and x[n] != 1"),
        ("0 or 1 == x[n]", "0 == x[n] or 1 == x[n]"),
        ("x[n] > 3 and 5", "x[n] > 3 and x[n] > 5"),
        ("x[n] == k or 1", "x[n] == k or x[n] == 1"),
        ("x[n] == 0 or k", "x[n] == 0 or x[n] == k"),
    ],
)
def test_a_number_beside_a_comparison_is_compared_too(typed: str, meant: str) -> None:
    text = whole(f"{LABELS}\nparams: {{k: {{type: int, default: 3}}}}", f"y = sum[n](where({typed}, v[n], k))")
    assert lone(text).hints[0] == f"write `{meant}`"
    built(text.replace(typed, meant))


def test_a_number_alone_is_not() -> None:
    found = lone(whole(LABELS, "y = sum[n](where(v[n] > 0 and x[n], v[n], 0))"))
    assert found.hints == ("compare it, for example `x[n] != 0`",)
