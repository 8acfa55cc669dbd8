"""How a formula goes on over the end of a line, with the lines of the spec."""

from __future__ import annotations

import pytest

from opgen.lang.habits import over_lines
from tests.diagnostics.cures import built, diagnosed, whole

FIELDS = "inputs: {x: {shape: [N]}, w: {shape: [N]}}\nparams: {flag: bool}"


def test_what_is_computed_stands_in_brackets() -> None:
    assert over_lines("  y = x", "  + 1").endswith(": `y = (x` … `+ 1)`")


def test_a_guard_stands_behind_them() -> None:
    assert over_lines("  y = x", '  + 1 if mode == "b"').endswith(': `y = (x` … `+ 1) if mode == "b"`')


def test_all_lines_that_go_on_stand_in_brackets() -> None:
    found, *_ = diagnosed(whole(FIELDS, "y[n] = x[n]", "  + w[n]", "  + 2  # more", "z[n] = y[n] if flag"))
    assert found.hints[0].endswith(": `y[n] = (x[n]` … `+ 2)`")


@pytest.mark.parametrize(
    "lines",
    [
        ["y[n] = x[n]", "  + w[n] if flag", "y[n] = x[n]*w[n] if not flag"],
        ["y[n] = x[n]*w[n] if not flag", "y[n] = x[n]  # first", "  # then", "  + w[n] if flag"],
        ["y[n] = x[n]*w[n] if not flag", "y[n] = x[n] + w[n]", "  if flag"],
        ["y[n] = x[n]", "  + w[n] if flag", "y[n] = x[n]", "  *w[n] if not flag"],
    ],
)
def test_a_guard_on_a_line_that_was_not_understood_is_not_missed(lines: list[str]) -> None:
    assert {d.code for d in diagnosed(whole(FIELDS, *lines))} == {"OPG201"}


def test_a_guard_that_is_missing_before_another_mistake_is() -> None:
    lines = ["y[n] = x[n]*w[n] if not flag", "y[n] = x[n]", "z[n] = w[n]", "  + 1"]
    overlap, _ = diagnosed(whole(FIELDS, *lines))
    assert overlap.code == "OPG221"
    assert overlap.hints == ("make the guards exclude each other: write `y[n] = x[n] if flag`",)
    built(whole(FIELDS, lines[0], "y[n] = x[n] if flag"))
