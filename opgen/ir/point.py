"""The current point of loops: what an access says that moves along with them, and nothing else.

In go the axes of a tensor or of a statement, out come positions, the batch at its own place.
"""

from __future__ import annotations

from collections.abc import Iterable

from opgen.ir.polynomial import polynomial
from opgen.ir.program import Compute, Loop, Shape
from opgen.ir.scalar import BATCH, ZERO, Batch, Index, Lit, Position, Read, Scalar, both, call


def positions(loops: Iterable[Loop]) -> tuple[Position, ...]:
    """Where a tensor with these axes is read at their current point."""
    return tuple(BATCH if isinstance(a, Batch) else Index(a.name) for a in loops)


def read_of(s: Compute) -> Read:
    """What a statement makes, at the point of its own axes."""
    return Read(s.target, positions(s.axes))


def in_bounds(r: Read, shape: Shape) -> Scalar:
    """The condition that every position of an access is in range."""
    result: Scalar = Lit(True)
    for p, n in zip(r.at, shape, strict=True):
        if isinstance(p, Batch) or isinstance(n, Batch):
            continue
        shown = polynomial(p).constant
        low = Lit(shown >= 0) if shown is not None else call("ge", p, ZERO)
        result = both(both(result, low), call("lt", p, n))
    return result
