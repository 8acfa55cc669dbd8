"""The current point of loops: what an access says that moves along with them, and nothing else.

In go the axes of a tensor or of a statement, out come positions, the batch at its own place.
"""

from __future__ import annotations

from collections.abc import Iterable

from opgen.ir.program import Compute, Loop
from opgen.ir.scalar import BATCH, Batch, Index, Position, Read


def positions(loops: Iterable[Loop]) -> tuple[Position, ...]:
    """Where a tensor with these axes is read at their current point."""
    return tuple(BATCH if isinstance(a, Batch) else Index(a.name) for a in loops)


def read_of(s: Compute) -> Read:
    """What a statement makes, at the point of its own axes."""
    return Read(s.target, positions(s.axes))
