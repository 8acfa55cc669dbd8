"""Recognition of sorting in a plan: the pass that counts for each element of a row how many come before it.

Each pair of elements is compared, where torch sorts: a row of twice the length takes four times as long.
"""

from __future__ import annotations

from opgen.ir.program import Axis
from opgen.ir.scalar import ONE, ZERO, Apply, Index, walk
from opgen.plan.model import Nest, Pass

PAIR = 0.45  # nanoseconds of a kernel, for two elements (`opgen.plan.speed`)


def ranks(n: Nest, p: Pass) -> bool:
    """Does a pass count the elements of its row that are less, or equal and further in front?"""
    match n.outer, p.loops, p.folds:
        case (*_, Axis() as mine), (Axis() as other,), (fold,):
            tie = Apply("lt", (Index(other.name), Index(mine.name)))
            match fold.value:
                case Apply("where", (condition, one, zero)):
                    return fold.op == "sum" and (one, zero) == (ONE, ZERO) and tie in walk(condition)
    return False
