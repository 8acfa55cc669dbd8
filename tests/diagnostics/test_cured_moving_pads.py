"""Ranges that move over a body that is padded: the line has the condition in place of the pad."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import follow, whole


@pytest.mark.parametrize(
    ("body", "meant"),
    [
        ("pad(square(x[n, j, ...]), 0)", "square(x[n, j, ...])"),
        ("pad(x[n, j, ...]**2, 0)", "x[n, j, ...]**2"),
        ("pad(x[n, j, ...], 0)", "x[n, j, ...]"),
        ("square(x[n, j, ...])", "square(x[n, j, ...])"),
    ],
)
def test_a_condition_takes_the_place_of_a_pad(body: str, meant: str) -> None:
    written = f"y[n, c, ...] = sum[j=c-2..c+2]({body})"
    line = f"y[n, c < C, ...] = sum[j](where(c-2 <= j and j <= c+2, {meant}, 0))"
    follow(whole("inputs: {x: {shape: [N, C, ...]}}", written), {written: line})
