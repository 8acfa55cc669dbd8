"""What is brought from torch, NumPy and einops: an input with one element more, masks, kept dims, groups of a shape."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

SAME = "inputs: {r: {shape: [B, T]}, v: {shape: [B, T]}}"
LONGER = "inputs: {{r: {{shape: [B, T]}}, v: {{shape: [B, S]}}}}\ndims: {{T: S - {}}}"


@pytest.mark.parametrize(
    ("lines", "more", "bound"),
    [
        (["d[b, t] = r[b, t] + v[b, t + 1] - v[b, t]"], 1, ["d[b, t < T]"]),
        (["d[b, t] = r[b, t] + v[b, t + 1]"], 1, []),
        (["d[b, t] = r[b, t]*v[b, t + 1] - v[b, t]", "a[b, t] = d[b, t] + 0.9*a[b, t + 1]"], 1, ["d[b, t < T]"]),
        (["a[b, t] = r[b, t] + v[b, t + 1] - v[b, t] + 0.9*a[b, t + 1]"], 1, ["a[b, t < T]"]),
        (["y[b] = sum[t]((r[b, t] + v[b, t + 1] - v[b, t])**2)"], 1, ["sum[t < T]"]),
        (["d[b, t] = r[b, t] + v[b, t + 2] - v[b, t]", "e[b, t] = d[b, t] + v[b, t]"], 2, ["d[b, t < T]", "e[b, t < T]"]),
        (["d[b, t] = r[b, t] + v[b, t + 1]*v[b, t + 2]"], 2, []),
    ],
)
def test_an_input_that_is_read_behind_the_dim_of_others_may_have_more(
    lines: list[str], more: int, bound: list[str]
) -> None:
    hints = {found.hints[-1] for found in diagnosed(whole(SAME, *lines))}
    (proposed,) = [re.findall(r"`([^`]*)`", hint)[2:] for hint in hints]
    assert proposed[:2] == ["v: {shape: [B, S]}", f"dims: {{T: S - {more}}}"]
    text = whole(LONGER.format(more), *lines)
    assert len(proposed) == len(bound) + 2
    for line, head in zip(proposed[2:], bound, strict=True):
        assert line.startswith(head)
        text = text.replace(head.replace(" < T", ""), head, 1)
    built(text)


@pytest.mark.parametrize(
    "text",
    [
        whole("inputs: {v: {shape: [B, T]}}", "d[b, t] = v[b, t + 1] - v[b, t]"),
        whole(SAME, "d[b, t] = r[b, t] + v[b, t + 1] - v[b, t - 1]"),
        whole(SAME + "\ntests: {sizes: {T: 4}}", "d[b, t] = r[b, t] + v[b, t + 1]"),
        whole("inputs: {r: {shape: [T]}, v: {shape: [T, T]}}", "d[t] = r[t] + v[t, t + 1]"),
    ],
)
def test_no_longer_input_is_proposed_where_its_dim_is_stated_or_its_own(text: str) -> None:
    assert not any("more than" in hint for found in diagnosed(text) for hint in found.hints)
