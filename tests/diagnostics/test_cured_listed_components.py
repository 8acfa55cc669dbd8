"""Lists of values, nested or not: the statements for each component that are offered build in place of them."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

FIELDS = "inputs: {a: {shape: [...]}, b: {shape: [...]}, x: {shape: [N]}, w: {shape: [N]}}"
TURNED = [
    "r0[..., 0] = cos(a)", "r0[..., 1] = -sin(a)", "r[..., 0, j] = r0[..., j]",
    "r1[..., 0] = sin(a)", "r1[..., 1] = cos(a)", "r[..., 1, j] = r1[..., j]",
]  # fmt: skip
PAIRS = [
    "y0[n, 0] = x[n]", "y0[n, 1] = w[n]", "y[n, 0, j] = y0[n, j]",
    "y1[n, 0] = -w[n]", "y1[n, 1] = x[n]", "y[n, 1, j] = y1[n, j]",
]  # fmt: skip
CUBE = [
    "y00[..., 0] = a", "y00[..., 1] = b", "y0[..., 0, j] = y00[..., j]", "y[..., 0, j, m] = y0[..., j, m]",
    "y10[..., 0] = b", "y10[..., 1] = a", "y1[..., 0, j] = y10[..., j]", "y[..., 1, j, m] = y1[..., j, m]",
]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("r[..., i, j] = [[cos(a), -sin(a)], [sin(a), cos(a)]]", TURNED),
        ("r[i, j] = [[cos(a), -sin(a)], [sin(a), cos(a)]]", TURNED),
        ("r = [[cos(a), -sin(a)], [sin(a), cos(a)]]", TURNED),
        ("r = torch.tensor([[cos(a), -sin(a)],\n    [sin(a), cos(a)]])", TURNED),
        ("y[n, i, j] = [[x[n], w[n]], [-w[n], x[n]]]", PAIRS),
        ("y = [[x, w], [-w, x]]", PAIRS),
        ("y[..., i] = [a, b]", ["y[..., 0] = a", "y[..., 1] = b"]),
        ("y[i] = [x, w]", ["y[n, 0] = x[n]", "y[n, 1] = w[n]"]),
        ("y = [a, b]", ["y[..., 0] = a", "y[..., 1] = b"]),
        ("y[...] = [a, a*b]", ["y[..., 0] = a", "y[..., 1] = a*b"]),
        (
            "y[..., i, j] = [[a], [b]]",
            ["y0[..., 0] = a", "y[..., 0, j] = y0[..., j]", "y1[..., 0] = b", "y[..., 1, j] = y1[..., j]"],
        ),
        ("y = [[[a, b]], [[b, a]]]", CUBE),
    ],
)
def test_each_component_is_a_statement(line: str, lines: list[str]) -> None:
    assert said(whole(FIELDS, line)) == lines
    built(whole(FIELDS, *lines))


def test_rows_of_several_lengths_have_no_such_lines() -> None:
    (found,) = diagnosed(whole(FIELDS, "y[..., i, j] = [[a, b, 0], [b, a]]"))
    assert "these rows are not all of one length" in found.hints[0]


def test_a_table_of_numbers_is_an_input() -> None:
    found, *_ = diagnosed(whole(FIELDS, "k = [[1, -2.5], [1/3, 4]]", "y = a*k[0, 0]"))
    assert found.hints == ("there are no lists; a table of numbers is an input: `inputs: {k: {shape: [2, 2]}}`",)


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("y", "y[..., m < 2, i < 2] = where(m == 0, where(i == 0, a, b), where(i == 0, b, a))"),
        ("y[..., p, q]", "y[..., p < 2, q < 2] = where(p == 0, where(q == 0, a, b), where(q == 0, b, a))"),
    ],
)
def test_stacks_of_stacks_keep_their_axes(target: str, line: str) -> None:
    text = f"{target} = torch.stack([torch.stack([a, b], dim=-1), torch.stack([b, a], dim=-1)], dim=-2)"
    assert said(whole(FIELDS, text)) == [line]
    built(whole(FIELDS, line))
