"""Sums in front of scatters: what is added to one place again and again is summed first.

Loops that no position of a scatter varies along add to the same places each time: the batch of `grad_w[kind[m]] +=`,
for one. A reduction over them is parallel, and adds in parts, where a scatter goes on from what a place holds.
"""

from __future__ import annotations

from opgen.ir.names import Names
from opgen.ir.point import read_of
from opgen.ir.program import Axis, Compute, Loop, Scatter, Statement
from opgen.ir.scalar import Batch, mentions, reads
from opgen.opt.ranges import Ranges


def summed(statements: tuple[Statement, ...], ranges: Ranges, names: Names) -> tuple[Statement, ...]:
    """The statements with such sums as statements of their own."""
    return tuple(part for s in statements for part in (_apart(s, ranges, names) if isinstance(s, Scatter) else (s,)))


def _apart(s: Scatter, ranges: Ranges, names: Names) -> tuple[Statement, ...]:
    found = [mentions(q) for q in s.at if not isinstance(q, Batch)]
    batched = any(isinstance(q, Batch) for q in s.at) or any(batch for _, batch in found)
    varying = {name for own, _ in found for name in own}
    moving = tuple(a for a in s.loops if (a.name in varying if isinstance(a, Axis) else batched))
    over = tuple(a for a in s.loops if a not in moving)
    if s.op != "sum" or not over or any(_may_leave(s, k, ranges, moving) for k in range(len(s.at))):
        return (s,)
    made = Compute(names.fresh(f"{s.target}_sum"), moving, s.body, "sum", over, s.kind, s.span)
    return made, Scatter(s.target, s.axes, moving, s.at, read_of(made), s.op, s.base, s.padded, s.kind, s.span)


def _may_leave(s: Scatter, k: int, ranges: Ranges, loops: tuple[Loop, ...]) -> bool:
    """Is a position inside for no other reason than that the sum has terms?"""
    p, axis = s.at[k], s.axes[k]
    if isinstance(p, Batch) or isinstance(axis, Batch) or s.padded or reads(p):
        return False
    return ranges.inside(p, axis.extent, s.loops) and not ranges.inside(p, axis.extent, loops)
