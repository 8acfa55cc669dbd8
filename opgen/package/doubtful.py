"""Positions that a call may get wrong: what nothing that is known of sizes, params and conditions keeps in range.

In go a program, the loops of a statement, a position and the extent along it; out comes whether it may leave. Fewer
are doubted here than kernels check: what is told to be out of range should be what is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opgen.ir.held import Held, in_common, parts_held
from opgen.ir.polynomial import Polynomial, number, polynomial
from opgen.ir.program import Compute, Loop, Program, Scatter, definitions, statement_scalars
from opgen.ir.ranges import (
    Facts,
    corner,
    derived_sizes,
    facts_of,
    inside,
    is_nonnegative,
    nonnegative_where,
    positive_params,
    sizes_of,
)
from opgen.ir.scalar import Batch, Position, Read, Scalar, call

_PICKS = ("argsort", "argmax", "argmin")


def held_around(st: Compute | Scatter) -> dict[Read, Held]:
    """Every access of a statement, with what holds wherever it is asked for."""
    found: dict[Read, Held] = {}
    for e in statement_scalars(st):
        for part, held in parts_held(e, _told):
            if isinstance(part, Read):
                found[part] = in_common(found[part], held) if part in found else held
    return found


def _told(condition: Scalar, holds: bool) -> tuple[Polynomial, ...]:
    return nonnegative_where(condition if holds else call("not", condition))


def is_doubtful(p: Program, loops: Sequence[Loop], position: Position, extent: Scalar | Batch, held: Held) -> bool:
    """Is a position not known to be in range?"""
    if isinstance(position, Batch) or isinstance(extent, Batch) or _is_place(p, position, extent):
        return False
    dims = derived_sizes(p)
    facts = replace(facts_of(loops, dims, sizes_of(p), positive=positive_params(p)), assumed=held)
    opened = _opened(facts, dims)
    return not (inside(position, extent, facts) or inside(position, extent, opened) or _ends(position, extent, opened))


def _ends(position: Scalar, extent: Scalar, facts: Facts) -> bool:
    """Whether a position is in range where its indices begin and end, and so between."""
    p = polynomial(position, facts.dims)
    ends = (corner(q, facts, least=True) for q in (p, polynomial(extent, facts.dims) - p - number(1)))
    return all(end is not None and is_nonnegative(end, facts) for end in ends)


def _opened(facts: Facts, dims: Mapping[str, Scalar | None]) -> Facts:
    """The same with what sizes are computed from in their place."""
    extents = {name: polynomial(e.scalar(), dims) for name, e in facts.extents.items()}
    return replace(facts, extents=extents, assumed=tuple(polynomial(a.scalar(), dims) for a in facts.assumed))


def _is_place(p: Program, position: Scalar, extent: Scalar) -> bool:
    """Is a position read from what holds places along an axis of that extent, as an order does?"""
    made = {st.target: st for st in definitions(p)} if isinstance(position, Read) else {}
    while isinstance(position, Read) and isinstance(st := made.pop(position.tensor, None), Compute):
        if st.op in _PICKS:
            return [a.extent for a in st.over if not isinstance(a, Batch)] == [extent]
        if st.op is not None:
            return False
        position = st.body
    return False
