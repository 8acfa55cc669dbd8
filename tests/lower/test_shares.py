"""Sums of shares that add up to 1, and sines of whole half turns: what is told and what is not."""

from __future__ import annotations

import pytest

from opgen.diagnostics.model import Severity
from tests.diagnostics.cures import built, diagnosed, whole

FIELDS = """\
inputs:
  x: {shape: [N, K]}
  m: {shape: [N], dtype: int}
  v: {shape: [N]}
"""
USED = "u[n] = v[n]*m[n]*x[n, 0]"


@pytest.mark.parametrize("line", ["y[n] = sum[k](softmax[k](x[n, k]))", "y = sum[n, k](softmax[n, k](2*x[n, k]))"])
def test_a_sum_of_shares_is_told(line: str) -> None:
    (found,) = diagnosed(whole(FIELDS, line, USED))
    assert (found.code, found.severity) == ("OPG269", Severity.WARNING)


def test_a_name_that_holds_shares_makes_no_difference() -> None:
    lines = ("p[n, k] = softmax[k](x[n, k])", "y[n] = sum[k](p[n, k])", USED)
    (found,) = diagnosed(whole(FIELDS, *lines))
    assert found.hints == ("for the greatest of them write `max[k](p[n, k])`",)
    built(whole(FIELDS, lines[0], "y[n] = max[k](p[n, k])", USED))


@pytest.mark.parametrize(
    "line",
    [
        "y[k] = sum[n](softmax[k](x[n, k]))",
        "y = sum[n, k](softmax[k](x[n, k]))",
        "y[n] = sum[k](softmax[k](x[n, k])*k)",
        "y[n] = sum[k](square(softmax[k](x[n, k])))",
        "y[n] = max[k](softmax[k](x[n, k]))",
        "y[n] = sum[k](log_softmax[k](x[n, k]))",
    ],
)
def test_other_sums_are_not(line: str) -> None:
    assert not diagnosed(whole(FIELDS, line, USED))


@pytest.mark.parametrize("total", ["sum[k < 2](p[n, k])", "sum[k < 2](p[n, k + 1])", "sum[n](p[n, k])"])
def test_a_sum_of_some_shares_is_not(total: str) -> None:
    kept = "y[k]" if "sum[n]" in total else "y[n]"
    assert not diagnosed(whole(FIELDS, "p[n, k] = softmax[k](x[n, k])", f"{kept} = {total}", USED))


@pytest.mark.parametrize(
    ("sine", "hint"),
    [
        ("sin(pi*k*n)", "sin(pi*k*n/…)"),
        ("sin(2*pi*(k + 1)*m[n])", "sin(2*pi*(k + 1)*m[n]/…)"),
        ("tan(pi*n)", "tan(pi*n/…)"),
    ],
)
def test_a_sine_of_whole_half_turns_is_told(sine: str, hint: str) -> None:
    (found,) = diagnosed(whole(FIELDS, f"y[n, k < 3] = v[n] + {sine}", USED))
    assert (found.code, found.severity) == ("OPG288", Severity.WARNING)
    assert f"`{hint}`" in found.hints[0]


@pytest.mark.parametrize(
    "term",
    ["cos(pi*k*n)", "sin(pi*k*n/N)", "sin(pi*v[n]*k)", "sin(k*n)", "sin(pi*pi*k)", "sin(pi/2*k)", "sin(0.5*pi*k)"],
)
def test_other_angles_are_not(term: str) -> None:
    assert not diagnosed(whole(FIELDS, f"y[n, k < 3] = v[n] + {term}", USED))


@pytest.mark.parametrize(
    "lines",
    [
        ["y[n, pi < 3] = v[n]*sin(pi*n)"],
        ["y[n] = sum[pi < 3](v[n]*sin(pi*n))"],
        ["pi = sum[n](v[n])", "y[n < N] = sin(pi*n)"],
    ],
)
def test_what_is_called_pi_is_no_half_turn(lines: list[str]) -> None:
    assert not diagnosed(whole(FIELDS, *lines, USED))
