"""Comprehensions of Python and Julia: the lines that are proposed for them."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import diagnosed, follow, whole


@pytest.mark.parametrize(
    ("fields", "written", "line"),
    [
        ("{a: {shape: [H, F]}}", "g[h] = sum(a[h, f]**2 for f in 1:F)", "g[h] = sum[f](a[h, f]**2)"),
        ("{a: {shape: [H, F]}}", "g[h] = sum([a[h, f]**2 for f in 0:F-1])", "g[h] = sum[f](a[h, f]**2)"),
        ("{a: {shape: [H, F]}}", "g[h] = max(a[h, f], for f in F)", "g[h] = max[f](a[h, f])"),
        ("{a: {shape: [H, F]}}", "g = sum(a[h, f] for h in range(H) for f in 1:F)", "g = sum[h < H, f](a[h, f])"),
        (
            "{a: {shape: [H, F]}}",
            "g[h] = sum(f*a[h, f] for f in range(1, F))",
            "g[h] = sum[f < F - 1]((f + 1) * a[h, f + 1])",
        ),
        (
            "{a: {shape: [H, F]}, m: {shape: [F], dtype: bool}}",
            "g[h] = sum(a[h, f] for f in 1:F if m[f])/F",
            "g[h] = sum[f](where(m[f], a[h, f], 0)) / F",
        ),
        ("{c: {shape: [N, N]}}", "g[i] = sum(c[i, j] for j in range(i))", "g[i] = sum[j](where(j < i, c[i, j], 0))"),
        ("{a: {shape: [H, F]}}", "g[h, f] = softmax(a[h, f] for f in 1:F)", "g[h, f] = softmax[f](a[h, f])"),
    ],
)
def test_the_reduction_is_written_out(fields: str, written: str, line: str) -> None:
    follow(whole(f"inputs: {fields}", written), {written: line})


@pytest.mark.parametrize(
    "written",
    [
        "g[h] = sum(f*a[h, f] for f in 1:F)",  # which counts from 1
        "g[h] = sum(a[h, f] for f in 1:F-1)",
        "g[h] = sum(a[h, f] for f in range(0, F, 2))",
        "g[h] = sum(x for x in a)",
        "g[h] = sum(a[h, f] for f in eachindex(a))",
        "g[h] = sum(x for i, x in enumerate(a))",
        "g[h] = total(a[h, f] for f in 1:F)",
        "g[h] = a[h, 0] for h in range(H)",
    ],
)
def test_what_is_not_certain_is_told_at_its_word(written: str) -> None:
    (found,) = diagnosed(whole("inputs: {a: {shape: [H, F]}}", written))
    assert found.message == "`for` is not part of the formula language"
    assert found.span is not None
    assert found.span.text == "for"
    assert len(found.hints) == 1
    assert "write" not in found.hints[0]
