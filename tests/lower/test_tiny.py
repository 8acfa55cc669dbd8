"""Numbers that are 0 in float32: what is told, what is proposed, and what is left alone."""

from __future__ import annotations

import pytest

from opgen.diagnostics.model import Diagnostic, Severity
from tests.diagnostics.cures import diagnosed, whole

INPUTS = "inputs: {x: {shape: [N]}, p: {shape: [N], domain: 0 <= p <= 1}, k: {shape: [N], dtype: int}}"


def told(*lines: str, fields: str = INPUTS) -> list[Diagnostic]:
    found = [d for d in diagnosed(whole(fields, *lines)) if d.code == "OPG289"]
    assert all(d.severity is Severity.WARNING for d in found)
    return found


@pytest.mark.parametrize(
    ("formula", "number", "meant"),
    [
        ("log(p[n] + 1e-50)", "1e-50", "p[n] + 1e-12"),
        ("x[n]/(abs(x[n]) + 1e-60)", "1e-60", "abs(x[n]) + 1e-12"),
        ("log(max(p[n], 1e-50))", "1e-50", "max(p[n], 1e-12)"),
        ("log(clamp(p[n], 1e-50, 1))", "1e-50", "clamp(p[n], 1e-12, 1)"),
        ("1/(1e-30**2 + k[n])", "1e-30**2", "1e-12 + k[n]"),
        ("log(x[n] - 1e-30*1e-30)", "1e-30*1e-30", "x[n] - 1e-12"),
    ],
)
def test_what_adds_nothing_is_told(formula: str, number: str, meant: str) -> None:
    (found,) = told(f"y[n] = {formula}")
    assert found.message.startswith(f"`{number}` is 0 in float32")
    assert found.hints[0] == f"write `{meant}`, or another number that counts"
    assert found.span is not None
    assert found.span.text == number
    assert not told(f"y[n] = {formula.replace(number, '1e-12')}")


def test_a_share_times_its_logarithm_has_a_function_of_its_own() -> None:
    (found,) = told("h = -sum[n](p[n]*log(p[n] + 1e-50))")
    assert found.hints == (
        "for `p[n]*log(p[n])` write `xlogy(p[n], p[n])`, which is 0 where `p[n]` is 0",
        "or take a number that counts: `p[n] + 1e-12`",
    )
    assert not told("h = -sum[n](xlogy(p[n], p[n]))")


@pytest.mark.parametrize(
    ("formula", "number"),
    [("6.626e-34**2*x[n]", "6.626e-34**2"), ("x[n]*1e-60", "1e-60"), ("-1e-30*1e-30*x[n]", "-1e-30*1e-30")],
)
def test_a_product_that_is_0_is_told(formula: str, number: str) -> None:
    (found,) = told(f"y[n] = {formula}")
    assert found.message.startswith(f"`{number}` is 0 in float32")
    assert found.hints[1] == "or say that float64 is passed: `x: {…, dtype: float64}`"
    assert not told(f"y[n] = {formula}", fields=INPUTS.replace("x: {shape: [N]}", "x: {shape: [N], dtype: float64}"))


@pytest.mark.parametrize(
    "lines",
    [
        ["y[n] = log(p[n] + 1e-38)"],
        ["y[n] = log(p[n] + 0.0)"],
        ["y[n] = x[n]*1e-45"],
        ["y[n] = 6.626e-34**2*x[n]*1e60"],  # numbers are multiplied first
        ["y[n] = (1e-60*x[n])*1e30"],
        ["t[n] = 1e-60*x[n]", "y[n] = t[n]/1e-40"],
        ["y[n] = x[n]*(1 + 1e-60)"],  # numbers alone are exact
        ["y[n] = 1e-60*x[n]*N"],
        ["y[n] = min(x[n], 1e-60)"],
        ["y[n] = where(x[n] > 1e-60, x[n], 0)"],
    ],
)
def test_what_counts_is_not(lines: list[str]) -> None:
    assert not told(*lines)


def test_what_params_may_make_up_for_is_not_told() -> None:
    fields = f"{INPUTS}\nparams: {{s: {{type: float, default: 1e50}}}}"
    assert not told("y[n] = 1e-60*s*x[n]", fields=fields)
    assert not told("y[n] = log(s + 1e-60)*x[n]", fields=fields)  # params are float64
    assert told("y[n] = log(s*x[n] + 1e-60)", fields=fields)


def test_nothing_is_said_where_float64_is_stored() -> None:
    assert not told("y[n] = log(p[n] + 1e-50)", fields=f"{INPUTS}\noutputs: {{y: {{dtype: float64}}}}")
