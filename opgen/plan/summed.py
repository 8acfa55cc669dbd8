"""Sums in front of scatters: what is added to one place again and again is summed first.

A reduction over loops that no position varies along is parallel, and adds in parts, where a scatter goes on from what a
place holds.
"""

from __future__ import annotations

from opgen.ir.names import Names
from opgen.ir.program import Scatter, Statement
from opgen.opt.ranges import Ranges
from opgen.opt.scattered import apart


def summed(statements: tuple[Statement, ...], ranges: Ranges, names: Names) -> tuple[Statement, ...]:
    """The statements with such sums as statements of their own."""
    found: list[Statement] = []
    for s in statements:
        found += (apart(s, ranges, names) if isinstance(s, Scatter) else None) or (s,)
    return tuple(found)
