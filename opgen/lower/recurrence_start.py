"""Reads of what stands one place outside a recurrence: its start.

In goes an access one place back, within the recurrence or in a statement after it; out comes the start in its place.
"""

from __future__ import annotations

from opgen.ir.polynomial import number, polynomial
from opgen.ir.program import Kind, Shape
from opgen.ir.scalar import ONE, ZERO, Batch, Lit, Read, Scalar, call, sub, where
from opgen.lower.kinds import numeric
from opgen.lower.scope import Start, Typed


def start_value(start: Start, e: Read, kind: Kind) -> Scalar:
    """The start at the other positions of an access, of the kind of the recurrence: a read of it, or a literal."""
    begun, place = start.value, start.place
    if begun is None:
        return Lit(False) if kind is Kind.BOOL else ZERO
    if begun.op is None and isinstance(begun.body, Lit):
        value: Scalar = begun.body
    else:
        value = Read(begun.target, e.at[:place] + e.at[place + 1 :], e.fill)
    return value if kind is Kind.BOOL else numeric(Typed(value, begun.kind)).scalar


def or_start(start: Start, e: Read, shape: Shape, kind: Kind) -> Scalar:
    """An access one place back in a statement after the recurrence."""
    position, extent = e.at[start.place], shape[start.place]
    assert not isinstance(position, Batch)
    assert not isinstance(extent, Batch)
    here = (polynomial(position) - number(start.offset)).scalar()
    first = ZERO if start.offset < 0 else sub(extent, ONE)
    return where(call("eq", here, first), start_value(start, e, kind), e)
