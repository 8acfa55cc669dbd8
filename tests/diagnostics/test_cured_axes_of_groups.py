"""A group of an einops pattern in a shape: one name, where its parts are read nowhere."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, said, whole


@pytest.mark.parametrize("group", ["(H W)", "(H, W)", "[H, W]"])
def test_a_group_whose_parts_are_read_nowhere_is_one_axis(group: str) -> None:
    fields = f"inputs:\n  x: {{shape: [B, {group}, C]}}\n  z: {{shape: [{group}]}}"
    text = whole(fields, "y[b, t, c] = x[b, t, c]*z[t]")
    assert said(text) == ["S", "S"]
    built(text.replace(group, "S"))


@pytest.mark.parametrize(
    "line", ["y[b, h, w < W, c] = x[b, h*W + w, c]", "y[b, h, w, c] = x[b, h, w, c]", "y[b, t, c] = x[b, t, c]*W"]
)
def test_parts_that_are_read_have_sizes(line: str) -> None:
    assert "dims: {S: H*W}" in said(whole("inputs: {x: {shape: [B, (H W), C]}}", line))
