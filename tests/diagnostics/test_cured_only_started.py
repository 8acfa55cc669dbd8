"""A recurrence that is read where only its start stands above: which line belongs below which, as it then builds."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

X = "inputs: {start: {shape: [S]}, trans: {shape: [S, S]}, emit: {shape: [T, S]}}"
START, BODY = "best[-1, j] = start[j]", "best[t, j] = max[i](best[t - 1, i] + trans[i, j]) + emit[t, j]"


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (
            "back[t, j] = argmax[i](best[t - 1, i] + trans[i, j])",
            "back[t < T, j] = argmax[i](best[t - 1, i] + trans[i, j])",
        ),
        ("y[t, j] = emit[t, j]*best[t - 1, j]", "y[t, j] = emit[t, j] * best[t - 1, j]"),
        ("y[j] = best[T - 1, j]", "y[j] = best[T - 1, j]"),
        ("y[k, j] = best[k - 1, j]", "y[k < T, j] = best[k - 1, j]"),
    ],
)
def test_the_line_belongs_below_the_statement_that_goes_on(line: str, meant: str) -> None:
    (found,) = diagnosed(whole(X, START, line, BODY))
    assert found.label == "only its start stands above"
    assert {label.text for label in found.related} == {"assigned here", "its start"}
    assert found.hints == (f"put this line below `best[t, j] = …`: `{meant}`",)
    built(whole(f"{X}\noutputs: [{line.partition('[')[0]}]", START, BODY, meant), warned=True)


def test_what_is_read_in_between_stays_below() -> None:
    lines = ("z[t, j] = 2*best[t - 1, j]", "w[t, j] = z[t, j]*emit[t, j]")
    moved, made = said(whole(X, START, *lines, BODY))
    built(whole(f"{X}\noutputs: [w]", START, moved, made, lines[1]), warned=True)


def test_a_recurrence_all_of_which_stands_below_is_not_begun() -> None:
    (found,) = diagnosed(whole(X, "y[t, j] = 2*best[t, j]", START, BODY))
    assert found.label == "not assigned yet"
    assert found.hints == ("put this line below `best[t, j] = …`: `y[t, j] = 2 * best[t, j]`",)
