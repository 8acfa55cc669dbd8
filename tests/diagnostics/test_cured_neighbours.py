"""Neighbours of which some stand outside: a ring is offered, and no end that leaves out terms of another direction."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

S = "inputs: {s: {shape: [N, M]}, h: {shape: [N, M]}}"


@pytest.mark.parametrize(
    ("fields", "line", "cures"),
    [
        ("inputs: {s: {shape: [N]}}", "e = -sum[i](s[i]*s[i + 1])", {"s[i + 1]": "s[(i + 1) % N]"}),
        ("inputs: {s: {shape: [N]}}", "e[i] = s[i]*s[i + 1]", {"s[i + 1]": "s[(i + 1) % N]"}),
        (
            S,
            "e = -sum[i, j](s[i, j]*s[i + 1, j] + s[i, j]*s[i, j + 1])",
            {"s[i + 1, j]": "s[(i + 1) % N, j]", "s[i, j + 1]": "s[i, (j + 1) % M]"},
        ),
    ],
)
def test_a_ring_is_offered(fields: str, line: str, cures: dict[str, str]) -> None:
    """One at each read."""
    told = said(whole(fields, line))
    for old, new in cures.items():
        assert new in told
        line = line.replace(old, new)
    used = fields if "M]" in line else fields.replace(", h: {shape: [N, M]}", "")
    built(whole(used.replace(", h: {shape: [N, M]}", ""), line))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (
            "e = -sum[i, j](s[i, j]*s[i + 1, j] + s[i, j]*s[i, j + 1] + h[i, j]*s[i, j])",
            "e = -(sum[i < N - 1, j](s[i, j] * s[i + 1, j]) + sum[i, j < M - 1](s[i, j] * s[i, j + 1])"
            " + sum[i, j](h[i, j] * s[i, j]))",
        ),
        (
            "e = -sum[i, j](s[i, j]*(s[i + 1, j] + s[i, j + 1]))",
            "e = -(sum[i < N - 1, j](s[i, j] * s[i + 1, j]) + sum[i, j < M - 1](s[i, j] * s[i, j + 1]))",
        ),
        (
            "e = sum[i, j](-0.5*(s[i, j]*s[i + 1, j] - h[i, j]*s[i, j]))",
            "e = sum[i < N - 1, j](-0.5 * s[i, j] * s[i + 1, j]) - sum[i, j](-0.5 * h[i, j] * s[i, j])",
        ),
        (
            "e = sum[i < N, j < M](abs(s[i + 1, j] - s[i, j]) + abs(s[i, j + 1] - s[i, j]))",
            "e = sum[i < N - 1, j < M](abs(s[i + 1, j] - s[i, j])) + sum[i < N, j < M - 1](abs(s[i, j + 1] - s[i, j]))",
        ),
        (
            "e = sum[i, j](s[i, j]*s[i - 1, j] + h[i, j]*s[i, j])",
            "e = sum[i < N - 1, j](s[i + 1, j] * s[i, j]) + sum[i, j](h[i, j] * s[i, j])",
        ),
    ],
)
def test_terms_that_need_different_ends_are_summed_apart(line: str, meant: str) -> None:
    fields = S if "h[" in line else S.replace(", h: {shape: [N, M]}", "")
    hints = [str(hint) for found in diagnosed(whole(fields, line)) for hint in found.hints]
    assert meant in said(whole(fields, line))
    assert not any("earlier" in hint or re.search(r"write `[ij] < ", hint) for hint in hints)
    built(whole(fields, meant))


@pytest.mark.parametrize(
    "line",
    [
        "e = sum[i](x[i]*(x[i + 1] - x[i]))",
        "e = sum[i](x[i + 2] - 2*x[i + 1] + x[i])",
        "e = sum[i]((x[i] + x[i + 1])/2)",
        "e = sum[i](x[i]*y[i + 1] - x[i + 1]*y[i])",
        "e = sum[i](x[i + 1]*y[i] - x[i]*y[i])",
    ],
)
def test_terms_that_belong_together_end_together(line: str) -> None:
    fields = "inputs: {x: {shape: [N]}, y: {shape: [N]}}"
    hints = [str(hint) for found in diagnosed(whole(fields, line)) for hint in found.hints]
    assert any("end earlier" in hint for hint in hints)
    assert not any("apart" in hint for hint in hints)


def test_no_mean_leaves_out_terms_that_are_inside() -> None:
    text = whole("inputs: {x: {shape: [N]}}", "e = mean[i](x[i]*x[i + 1] + x[i]**2)")
    assert said(text) == ["pad(x[i + 1], 0)", "x[(i + 1) % N]"]
