"""Starts as arrays have them, `p[0, :] = p0` and `p[-1] = zeros(4)`, are answered with the index of each place."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, said, whole

FIELDS = "inputs: {a: {shape: [T, 4, 4]}, p0: {shape: [4]}}\noutputs: [p]"
BODY = "p[t, j] = sum[i](p[t - 1, i]*a[t, i, j])"
BY_CASE = "p[t, j] = where(t == 0, {}, sum[i](p[t - 1, i]*a[t, i, j]))"


@pytest.mark.parametrize(
    ("start", "meant"),
    [
        ("p[-1, :] = p0", ["p[-1, j] = p0[j]"]),
        ("p[0, :] = p0", [BY_CASE.format("p0[j]"), "p[-1, j] = p0[j]"]),
        ("p[0, :] = [1, 0, 0, 0]", ["p[-1, j < 4] = where(j == 0, 1, 0)"]),
        ("p[-1, :] = [1, 0, 0, 0]", ["p[-1, j < 4] = where(j == 0, 1, 0)"]),
        ("p[-1] = zeros(4)", ["p[-1, j] = 0"]),
        ("p[-1] = torch.ones(4)/4", ["p[-1, j] = 1/4"]),
        ("p[-1, j] = zeros(4)", ["p[-1, j] = 0"]),
        ("p[0] = zeros(4)", [BY_CASE.format("0"), "p[-1, j] = 0"]),
    ],
)
def test_a_start_has_a_position_for_each_index(start: str, meant: list[str]) -> None:
    assert said(whole(FIELDS, start, BODY)) == meant
    for line in meant:
        built(whole(FIELDS, *([line] if line.startswith("p[t") else [line, BODY])), warned=True)


def test_a_slice_of_what_is_no_recurrence_is_told_as_before() -> None:
    fields = "inputs: {a: {shape: [N, 4]}}"
    assert not any("where" in part for part in said(whole(fields, "y[0, :] = a[0, :]", "y[1, :] = a[1, :]")))
