"""Recurrences that start from a list: one statement that chooses by the place."""

from __future__ import annotations

import pytest

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, said, whole

FIELDS = "inputs: {x: {shape: [N, 4]}, a: {shape: []}}"


@pytest.mark.parametrize(
    ("line", "meant", "value"),
    [
        ("p[-1, c] = [1, 0, 0, 0]", "p[-1, c < 4] = where(c == 0, 1, 0)", [1.0, 0.0, 0.0, 0.0]),
        ("p[-1, k] = [0, 0, 1, 0]", "p[-1, k < 4] = where(k == 2, 1, 0)", [0.0, 0.0, 1.0, 0.0]),
        ("p[-1] = [2, 0, a, 0]", "p[-1, c < 4] = where(c == 0, 2, where(c == 2, a, 0))", [2.0, 0.0, 3.0, 0.0]),
    ],
)
def test_a_list_is_a_choice(line: str, meant: str, value: list[float]) -> None:
    body = "p[n, c] = p[n - 1, c] * x[n, c] * a"
    assert said(whole(FIELDS, line, body))[-1] == meant
    program = built(whole(FIELDS, meant, body)).variants[0].program
    made = run(program, {"x": array([[1.0] * 4]), "a": array(3.0)}, {})["p"]
    assert list(made.data) == [3.0 * v for v in value]


def test_a_start_at_0_is_one_of_all_places_too() -> None:
    lines = ("p[0, c] = [1, 0, 0, 0]", "p[n, c] = p[n - 1, c] * x[n, c] * a")
    assert said(whole(FIELDS, *lines))[-1] == "p[0, c < 4] = where(c == 0, 1, 0)"


def test_rows_without_a_recurrence_stay_components() -> None:
    assert said(whole(FIELDS, "r[0, c] = [a, 2*a]"))[0] == "r[0, 0] = a"
