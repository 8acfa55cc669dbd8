"""Scatters that add to the same place again and again: what is added there, as a sum and a scatter of it.

Loops that no position of a scatter varies along add to the same places each time: the batch of `grad_w[kind[m]] +=`,
for one.
"""

from __future__ import annotations

from opgen.ir.names import Names
from opgen.ir.point import read_of
from opgen.ir.program import Axis, Compute, Loop, Scatter
from opgen.ir.scalar import Batch, mentions, reads
from opgen.opt.ranges import Ranges


def apart(s: Scatter, ranges: Ranges, names: Names) -> tuple[Compute, Scatter] | None:
    """The sum, and the scatter that is left; None where every loop leads elsewhere."""
    found = [mentions(q) for q in s.at if not isinstance(q, Batch)]
    batched = any(isinstance(q, Batch) for q in s.at) or any(batch for _, batch in found)
    varying = {name for own, _ in found for name in own}
    moving = tuple(a for a in s.loops if (a.name in varying if isinstance(a, Axis) else batched))
    over = tuple(a for a in s.loops if a not in moving)
    if s.op != "sum" or not over or any(_may_leave(s, k, ranges, moving) for k in range(len(s.at))):
        return None
    made = Compute(names.fresh(f"{s.target}_sum"), moving, s.body, "sum", over, s.kind, s.span)
    return made, Scatter(s.target, s.axes, moving, s.at, read_of(made), s.op, s.base, s.padded, s.kind, s.span)


def _may_leave(s: Scatter, k: int, ranges: Ranges, loops: tuple[Loop, ...]) -> bool:
    """Is a position inside for no other reason than that the sum has terms?"""
    p, axis = s.at[k], s.axes[k]
    if isinstance(p, Batch) or isinstance(axis, Batch) or s.padded or reads(p):
        return False
    return ranges.inside(p, axis.extent, s.loops) and not ranges.inside(p, axis.extent, loops)
