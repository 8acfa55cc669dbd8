"""Recurrences whose extent nothing says: no element is lost, and integers stay integers."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

READ = (
    "inputs: {v: {shape: [T, S]}, back: {shape: [T, S], dtype: int}, x: {shape: [T]}, s0: {shape: []},"
    " r: {shape: [B, T]}, next: {shape: [N], dtype: int}}\n"
    "params: {first: {type: int, default: 0}}"
)


@pytest.mark.parametrize(
    ("starts", "body", "meant"),
    [
        (
            ["path[T - 1] = argmax[s](v[T - 1, s])"],
            "path[t] = back[t + 1, path[t + 1]]",
            "path[t < T] = where(t == T - 1, argmax[s](v[T - 1, s]), back[t + 1, path[t + 1]])",
        ),
        (
            ["h[b, T - 1] = r[b, T - 1]"],
            "h[b, t] = h[b, t + 1]*2 + r[b, t + 1]",
            "h[b, t < T] = where(t == T - 1, r[b, T - 1], h[b, t + 1] * 2 + r[b, t + 1])",
        ),
        (
            ["h[T - 1] = x[T - 1]", "h[T - 2] = 1"],
            "h[t] = h[t + 1] + h[t + 2] + x[t + 1]",
            "h[t < T] = where(t == T - 1, x[T - 1], where(t == T - 2, 1, h[t + 1] + h[t + 2] + x[t + 1]))",
        ),
        (
            ["h[T - 1] = 0"],
            "h[t] = h[t + 1] + pad(x[t + 1], 0)",
            "h[t < T] = where(t == T - 1, 0, h[t + 1] + pad(x[t + 1], 0))",
        ),
        (["s[0] = s0"], "s[t] = s[t - 1] + x[t - 1]", "s[t < T + 1] = where(t == 0, s0, s[t - 1] + x[t - 1])"),
    ],
)
def test_elements_with_values_of_their_own_are_not_lost(starts: list[str], body: str, meant: str) -> None:
    assert said(whole(READ, *starts, body))[0] == meant
    name = body.partition("[")[0]
    built(whole(READ, meant) + f"outputs: [{name}]\n", warned=True)


@pytest.mark.parametrize(
    "statements",
    [
        ["p[t] = where(t == 0, first, next[p[t - 1]])"],
        ["p[-1] = first", "p[t] = next[p[t - 1]]"],
        ["last = argmax[s](v[T - 1, s])", "p[t] = where(t == T - 1, last, back[t + 1, p[t + 1]])"],
        ["p[t] = where(t == 0, first, next[p[t - 1]])", "y[t] = x[p[t]]"],
    ],
)
def test_a_walk_of_integers_lacks_an_extent_only(statements: list[str]) -> None:
    found = diagnosed(whole(READ, *statements))
    assert [d.code for d in found] == ["OPG214"]
    sized = [re.sub(r"^p\[t\]", "p[t < T]", s) for s in statements]
    built(whole(READ, *sized) + "outputs: [p]\n" * (len(statements) < 2 or "y[t]" not in statements[1]), warned=True)
