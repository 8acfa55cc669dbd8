"""Components of one tensor that read one another: each has a name of its own, and they are joined."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

READ = "inputs: {f: {shape: [T]}, a: {shape: [B, T]}}"


@pytest.mark.parametrize(
    ("shape", "lines", "meant"),
    [
        (
            "[T, 2]",
            ["s[t, 0] = s[t - 1, 0] + 0.1*s[t - 1, 1]", "s[t, 1] = s[t - 1, 1] - 0.1*s[t - 1, 0] + f[t]"],
            ["s0[t < T] = s0[t - 1] + 0.1 * s1[t - 1]", "s1[t] = s1[t - 1] - 0.1 * s0[t - 1] + f[t]"],
        ),
        (
            "[T, 2]",
            ["s[-1, 0] = 1", "s[t, 0] = s[t - 1, 0] + s[t - 1, 1]", "s[t, 1] = s[t - 1, 1] - s[t, 0]"],
            ["s0[-1] = 1", "s0[t < T] = s0[t - 1] + s1[t - 1]", "s1[t < T] = s1[t - 1] - s0[t]"],
        ),
        (
            "[T, 2]",
            ["s[T, 1] = 1", "s[t, 0] = s[t + 1, 1] + f[t]", "s[t, 1] = s[t + 1, 0]"],
            ["s1[T] = 1", "s0[t] = s1[t + 1] + f[t]", "s1[t < T] = s0[t + 1]"],
        ),
        (
            "[2, B, T]",
            ["s[0, b, t] = s[0, b, t - 1] + s[1, b, t]", "s[1, b, t] = a[b, t]"],
            ["s1[b, t] = a[b, t]", "s0[b < B, t < T] = s0[b, t - 1] + s1[b, t]"],
        ),
        (
            "[T, 2]",
            ["s[-1, c] = c + 1", "s[t, 0] = s[t - 1, 1] + f[t]", "s[t, 1] = s[t - 1, 0]"],
            ["s0[-1] = 0 + 1", "s1[-1] = 1 + 1", "s0[t] = s1[t - 1] + f[t]", "s1[t < T] = s0[t - 1]"],
        ),
        ("[T, 2]", ["s[t, 0] = f[t]", "s[t, 1] = s[t, 0]*2"], ["s0[t] = f[t]", "s1[t < T] = s0[t] * 2"]),
    ],
)
def test_components_have_names(shape: str, lines: list[str], meant: list[str]) -> None:
    outputs = f"outputs: {{s: {{shape: {shape}}}}}\n"
    told = said(whole(READ, *lines) + outputs)
    assert told[: len(meant)] == meant
    built(whole(READ, *told) + outputs, warned=True)


@pytest.mark.parametrize(
    "lines",
    [
        ["s[t, 0] = s[t - 1, 0] + f[t]", "s[t, 1] = sum[k](s[t - 1, k]) + f[t]"],
        ["s[t, 0] = s[t - 1, 0] + s[t - 1, 1]", "s[t, 1] = f[t]"],
        ["s[0, 0] = 1", "s[t, 0] = s[t - 1, 0] + s[t - 1, 1]", "s[t, 1] = s[t - 1, 1] + f[t]"],
    ],
)
def test_nothing_but_the_way_is_told_where_it_is_not_certain(lines: list[str]) -> None:
    (found,) = diagnosed(whole(READ, *lines) + "outputs: {s: {shape: [T, 2]}}\n")
    assert found.message == "the components of `s` read one another"
    assert "a name of its own" in found.hints[0]
