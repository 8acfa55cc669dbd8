"""Accesses that lack the position at an axis of literal size: it is that of the index which stands nowhere else."""

from __future__ import annotations

import pytest

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, said, whole

P, Q = [[0.0, 3.0, 4.0], [1.0, 1.0, 1.0]], [[0.0, 0.0, 0.0], [0.0, 3.0, 0.0]]
CLOUDS = "p: {shape: [N, 3]}, q: {shape: [M, 3]}"


@pytest.mark.parametrize(
    ("inputs", "line", "meant", "value"),
    [
        (CLOUDS, "d[i, j] = norm[c](p[i] - q[j])", ["p[i, c]", "q[j, c]"], [5.0, 4.0, 3**0.5, 6**0.5]),
        (CLOUDS, "d[j, i] = sum[k](p[i]*q[j])", ["p[i, k]", "q[j, k]"], [0.0, 0.0, 9.0, 3.0]),
        (CLOUDS, "d[i, j] = sum[c](p[i, c]*q[j])", ["q[j, c]"], [0.0, 9.0, 0.0, 3.0]),
        (CLOUDS, "d[i < N, j < M] = sum[c < 3](p[i]*q[j])", ["p[i, c]", "q[j, c]"], [0.0, 9.0, 0.0, 3.0]),
        ("p: {shape: [N, 3]}", "d[i] = norm[c](p[i])", ["p[i, c]"], [5.0, 3**0.5]),
        ("p: {shape: [N, 3]}", "d[n] = norm[i](p[n])", ["p[n, i]"], [5.0, 3**0.5]),
        ("p: {shape: [N, 3]}", "d[i, j] = sum[c](p[i] - p[j])", ["p[i, c]", "p[j, c]"], [0.0, 4.0, -4.0, 0.0]),
        ("p: {shape: [..., N, 3]}", "d[..., i] = sum[c](p[..., i])", ["p[..., i, c]"], [7.0, 3.0]),
        ("p: {shape: [N, 3]}, q: {shape: [3]}", "d[i] = sum[c](p[i] + 0*q[c])", ["p[i, c]"], None),
        (
            "p: {shape: [N, 3]}, at: {shape: [E], dtype: int}",
            "d[i, e] = sum[c](p[i] - p[at[e]])",
            ["p[i, c]", "p[at[e], c]"],
            None,
        ),
        (
            "p: {shape: [N, D]}, near: {shape: [N, K], dtype: int}",
            "d[i, k] = norm[c](p[i] - p[near[i, k]])",
            ["p[i, c]", "p[near[i, k], c]"],
            None,
        ),
        ("p: {shape: [N, 3, 3]}", "d[n] = sum[a, b](p[n]**2)", ["p[n, a, b]"], None),
        ("p: {shape: [N, 3]}, m: {shape: [N]}", "e = sum[i](m[i]*sum[c](p[i]**2))/2", ["p[i, c]"], None),
        ("x: {shape: [B, 3, H, W]}", "y[b, h, w] = mean[c](x[b, h, w])", ["x[b, c, h, w]"], None),
    ],
)
def test_an_index_of_a_reduction_stands_where_a_position_lacks(
    inputs: str, line: str, meant: list[str], value: list[float] | None
) -> None:
    fields = f"inputs: {{{inputs}}}"
    text = whole(fields, line)
    assert said(text) == meant
    for found in diagnosed(text):
        assert found.edit is not None
        line = line.replace(found.edit.span.text, found.edit.text, 1)
    program = built(whole(fields, line)).variants[0].program
    if value is not None:
        given = {name: array(rows) for name, rows in (("p", P), ("q", Q)) if f"{name}:" in inputs}
        assert list(run(program, given, {})["d"].data) == pytest.approx(value)


@pytest.mark.parametrize(
    ("inputs", "line", "told"),
    [
        ("x: {shape: [B, 3, H, W]}", "y[b, i, j] = mean[c](x[b, i, j])", ["x[b, i, j, c]", "x[b, c, i, j]"]),
        ("p: {shape: [3, N]}", "r[i] = norm[c](p[i])", ["p[i, c]", "p[c, i]"]),
        ("r: {shape: [3, 3]}, p: {shape: [N, 3]}", "y[n, i] = sum[j](r[i, j]*p[n])", ["p[n, i]", "p[n, j]"]),
        ("p: {shape: [N, 3]}", "d[i] = p[i]", ["N", "3"]),
        ("p: {shape: [N, T, 3]}", "r[i, t] = norm[c](p[i])", ["N", "T", "3"]),
    ],
)
def test_where_several_axes_may_be_meant_no_replacement_is_applied(inputs: str, line: str, told: list[str]) -> None:
    text = whole(f"inputs: {{{inputs}}}", line)
    assert said(text) == told
    assert all(found.edit is None for found in diagnosed(text))
