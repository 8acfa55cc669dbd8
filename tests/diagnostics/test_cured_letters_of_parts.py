"""Parts of a tensor that are called like its indices: the lines that are proposed have other letters."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, whole


@pytest.mark.parametrize(
    ("fields", "written"),
    [
        ("{g: {shape: [N, F]}}", "i, f, o, u = split(g, 4, dim=-1)"),
        ("{p: {shape: [N, C]}}", "n, m = chunk(p, 2, dim=-1)"),
        ("{p: {shape: [N, C]}}", "n, c = max(p, dim=-1)"),
        ("{p: {shape: [N, 2]}}", "n, m = p"),
        ("{p: {shape: [M, N, 2]}}", "n, m = p"),
    ],
)
def test_no_index_is_called_like_a_part(fields: str, written: str) -> None:
    names = written.partition(" = ")[0].split(", ")
    (found,) = diagnosed(whole(f"inputs: {fields}", written))
    lines = [line for line in re.findall(r"`([^`]*)`", " ".join(found.hints)) if " = " in line]
    assert len(lines) == len(names)
    assert not any(re.search(rf"\[[^\]]*\b{name}\b", line) for name in names for line in lines)
    built(whole(f"inputs: {fields}", *lines))
