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


U = "inputs: {u: {shape: [..., N]}}\nparams: {dx: {type: float, default: 0.1}}\noutputs: {y: {shape: [..., N]}}"
GRID = "inputs: {u: {shape: [X, Y]}}"


@pytest.mark.parametrize(
    ("fields", "line", "inside"),
    [
        (U, "y[..., i] = (u[..., i+1] - u[..., i-1])/(2*dx)", "i >= 1 and i < N - 1"),
        (U, "y[..., i] = (u[..., i+1] - 2*u[..., i] + u[..., i-1])*dx", "i >= 1 and i < N - 1"),
        (U, "y[..., i] = (u[..., i+2] - u[..., i-1])*dx", "i >= 1 and i < N - 2"),
        (
            GRID,
            "y[i, j] = u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1] - 4*u[i, j]",
            "i >= 1 and i < X - 1 and j >= 1 and j < Y - 1",
        ),
        (GRID, "y[i, j] = u[i-1, j+1] - u[i, j]", "i >= 1 and j < Y - 1"),
        (GRID, "y[i, j] = s[i, j]*(u[i + 1, j] - u[i - 1, j])", "i >= 1 and i < X - 1"),
    ],
)
def test_neighbours_on_either_side_are_told_one_line_for_all(fields: str, line: str, inside: str) -> None:
    fields = fields.replace("[X, Y]}", "[X, Y]}, s: {shape: [X, Y]}") if "s[" in line else fields
    text = whole(fields, line)
    assert len(diagnosed(text)) == 1
    padded, chosen, ring = proposed(text)
    left, _, value = line.partition(" = ")
    assert chosen == f"{left} = where({inside}, {value}, 0)"
    assert "pad(" in padded
    assert "%" in ring
    for way in (padded, chosen, ring):
        built(whole(fields, way))


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("where(i >= 1, u[i + 1] - u[i - 1], 0)", "where(i >= 1 and i < N - 1, u[i + 1] - u[i - 1], 0)"),
        ("where(i >= 1, u[i + 1], 0) + u[i]", "where(i >= 1 and i < N - 1, u[i + 1], 0) + u[i]"),
        ("where(i < N - 1, u[i - 1], 0) + u[i]", "where(i < N - 1 and i >= 1, u[i - 1], 0) + u[i]"),
        ("where(i == 0 or i > 0, u[i + 1], 0) + u[i]", "where((i == 0 or i > 0) and i < N - 1, u[i + 1], 0) + u[i]"),
        ("where(i == 0, u[0], u[i + 1]) + u[i]", ""),
    ],
)
def test_a_condition_that_does_not_concern_an_end_guards_no_read_there(value: str, meant: str) -> None:
    fields = "inputs: {u: {shape: [N]}}\noutputs: {y: {shape: [N]}}"
    (found,) = diagnosed(whole(fields, f"y[i] = {value}"))
    assert found.code == "OPG232"
    assert proposed(whole(fields, f"y[i] = {value}"))[:1] == ([f"y[i] = {meant}"] if meant else [])
    if meant:
        built(whole(fields, f"y[i] = {meant}"))


@pytest.mark.parametrize(
    "value",
    [
        "where(i >= 1, u[i - 1], 0) + u[i]",
        "where(i != N - 1, u[i + 1], 0) + u[i]",
        "where(i == 0, u[i], u[i - 1])",
        "where(m[i], u[i + 1], 0) + u[i]",
        "where(i >= 1 and m[i], u[i + 1], 0) + u[i]",
        "sum[j](where(j > i, u[j]*u[i + 1], 0)) + u[i]",
        "sum[j](where(j < i, u[j]*u[i - 1], 0)) + u[i]",
        "sum[j < N](where(j <= i, u[i - j], 0)) + u[i]",
        "where(i % 2 == 0, u[i + 1], u[i - 1]) + u[i]",
        "where(i == 0, u[i + 1] - u[i], where(i == N - 1, u[i] - u[i - 1], (u[i + 1] - u[i - 1])/2))",
        "where(i + 1 < N, u[i + 1], u[N - 1]) + u[i]",
        "where(i >= N - 1, u[i], u[i + 1])",
        "where(not (i == N - 1 or i == 0), u[i + 1], u[i])",
        "where(0 < i < N - 1, u[i - 1] + u[i + 1], 0) + u[i]",
        "where(i >= k, u[i + 1], 0) + u[i]",
    ],
)
def test_a_condition_that_may_concern_an_end_is_taken_at_its_word(value: str) -> None:
    fields = "inputs: {u: {shape: [N]}, m: {shape: [N], dtype: bool}}\nparams: {k: int}\noutputs: {y: {shape: [N]}}"
    bare = fields if "m[" in value else fields.replace(", m: {shape: [N], dtype: bool}", "")
    built(whole(bare if "k" in value else bare.replace("params: {k: int}\n", ""), f"y[i] = {value}"), warned=True)
