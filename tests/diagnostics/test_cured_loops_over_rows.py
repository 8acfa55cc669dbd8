"""Loops of Python whose state is a row: what is said of them has every index."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, said, whole

READ = (
    "inputs: {x: {shape: [T, D]}, w: {shape: [D]}, v: {shape: [T]}, u: {shape: [B, T]}}\n"
    "params: {decay: {type: float, default: 0.9}}"
)
LOOP = "for t in range(T):"


@pytest.mark.parametrize(
    ("lines", "meant"),
    [
        (
            ["h = 0", LOOP, "    h = decay*h + x[t]", "y = h"],
            ["h[-1, d] = 0", "h[t < T, d] = decay * h[t - 1, d] + x[t, d]", "y[d] = h[T - 1, d]"],
        ),
        (
            ["h = 0", LOOP, "    h = decay*h + x[t]*w", "y = h*2"],
            ["h[-1, d] = 0", "h[t < T, d] = decay * h[t - 1, d] + x[t, d] * w[d]", "y[d] = h[T - 1, d]*2"],
        ),
        (
            ["h = 0", LOOP, "    h = max(h, x[t])"],
            ["h[-1, d] = 0", "h[t < T, d] = max(h[t - 1, d], x[t, d])", "y[d] = h[T - 1, d]"],
        ),
        (
            ["h = 0", LOOP, "    h = decay*h + u[b, t]", "y = h"],
            ["h[b, -1] = 0", "h[b, t < T] = decay*h[b, t - 1] + u[b, t]", "y[b] = h[b, T - 1]"],
        ),
        (
            ["h = 0", "c = 0", LOOP, "    h = decay*h + x[t]", "    c = c + h", "y = c"],
            [
                "h[-1, d] = 0",
                "c[-1, d] = 0",
                "h[t < T, d] = decay * h[t - 1, d] + x[t, d]",
                "c[t < T, d] = c[t - 1, d] + h[t, d]",
                "y[d] = c[T - 1, d]",
            ],
        ),
        (
            ["h = 0", LOOP, "    h = decay*h + v[t]", "y = h"],
            ["h[-1] = 0", "h[t < T] = decay*h[t - 1] + v[t]", "y = h[T - 1]"],
        ),
    ],
)
def test_a_step_over_rows(lines: list[str], meant: list[str]) -> None:
    assert said(whole(READ, *lines))[: len(meant)] == meant
    built(whole(READ, *meant), warned=True)


@pytest.mark.parametrize(
    ("added", "meant"),
    [
        ("y += x[t]", ["y[d] = sum[t](x[t, d])"]),
        ("y = y + x[t]**2", ["y[d] = sum[t](x[t, d]**2)"]),
        ("y += v[t]", ["y = sum[t](v[t])"]),
        ("y += x[t, d]*w[d]", ["y[d] = sum[t](x[t, d]*w[d])", "y = sum[t, d](x[t, d] * w[d])"]),
    ],
)
def test_rows_that_are_added_up(added: str, meant: list[str]) -> None:
    lines = said(whole(READ, "y = 0", LOOP, f"    {added}"))
    assert [line for line in lines if "sum" in line] == meant
    for line in meant:
        built(whole(READ, line), warned=True)
