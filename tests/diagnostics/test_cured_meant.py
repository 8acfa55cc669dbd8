"""Mistakes that can be read in two ways: what is said first is what was meant, and nothing else is edited."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

ROWS = "inputs: {x: {shape: [N, C]}, y: {shape: [N], dtype: int}}"
DEEP = "inputs: {x: {shape: [B, T, C]}, y: {shape: [B, T], dtype: int}}"


def proposed(text: str) -> list[str]:
    """The statements that messages propose, in order."""
    return [line for line in said(text) if re.match(r"\w+(\[[^=]*\])? = ", line)]


@pytest.mark.parametrize(
    ("fields", "line", "element", "rows"),
    [
        (ROWS, "z = -mean(log(x[y]))", "z = -mean[n](log(x[n, y[n]]))", "z = -mean[n, c](log(x[y[n], c]))"),
        (ROWS, "z = x[y]", "z[n] = x[n, y[n]]", "z[n, c] = x[y[n], c]"),
        (ROWS, "z = mean[n](x[y])", "z = mean[n](x[n, y[n]])", "z[c] = mean[n](x[y[n], c])"),
        (ROWS, "z = x - x[y]", "z[n, c] = x[n, c] - x[n, y[n]]", "z[n, c] = x[n, c] - x[y[n], c]"),
        (DEEP, "z = sum(x[y])", "z = sum[b, t](x[b, t, y[b, t]])", "z = sum[b, t, m, c](x[y[b, t], m, c])"),
    ],
)
def test_integers_over_an_axis_that_is_there_pick_along_the_other_one(
    fields: str, line: str, element: str, rows: str
) -> None:
    text = whole(fields, line)
    assert proposed(text) == [element, rows]
    assert [found.edit for found in diagnosed(text)] == [None]
    for meant in (element, rows):
        built(whole(fields, meant))


@pytest.mark.parametrize(
    ("end", "meant"), [("C", "z = mean[n](log(x[n, y[n]]))"), ("N", "z = mean[n, c](log(x[y[n], c]))")]
)
def test_the_domain_says_along_which_axis_integers_pick(end: str, meant: str) -> None:
    fields = f"inputs: {{x: {{shape: [N, C]}}, y: {{shape: [N], dtype: int, domain: 0 <= y < {end}}}}}"
    assert proposed(whole(fields, "z = mean(log(x[y]))")) == [meant]
    built(whole(fields, meant))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("z[n, c] = x[y]", "z[n, c] = x[y[n], c]"),
        ("z[c] = mean(x[y], dim=0)", "z[c] = mean[n](x[y[n], c])"),
        ("z[n] = x[y]", "z[n] = x[n, y[n]]"),
    ],
)
def test_the_indices_of_the_target_say_it(line: str, meant: str) -> None:
    assert proposed(whole(ROWS, line)) == [meant]


def test_rows_of_a_table_are_rows() -> None:
    fields = "inputs: {x: {shape: [V, D]}, y: {shape: [N], dtype: int}}"
    assert proposed(whole(fields, "z = x[y]")) == ["z[n, d] = x[y[n], d]"]


def test_an_element_at_integers_lacks_the_index_beside_them() -> None:
    (found,) = diagnosed(text := whole(ROWS, "z[n] = x[y[n]]"))
    assert found.edit is None
    assert said(text)[0] == "x[n, y[n]]"
    assert proposed(text) == ["z[n, c] = x[y[n], c]"]
    built(text.replace("x[y[n]]", "x[n, y[n]]"))
