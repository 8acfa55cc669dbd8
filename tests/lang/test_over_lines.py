"""How a formula goes on over the end of a line, with the lines of the spec."""

from __future__ import annotations

from opgen.lang.habits import over_lines


def test_what_is_computed_stands_in_brackets() -> None:
    assert over_lines("  y = x", "  + 1").endswith(": `y = (x` … `+ 1)`")


def test_a_guard_stands_behind_them() -> None:
    assert over_lines("  y = x", '  + 1 if mode == "b"').endswith(': `y = (x` … `+ 1) if mode == "b"`')
