"""Positions that a call may get wrong: what nothing that is known of sizes, params and conditions keeps in range.

In go a program, the loops of a statement, a position and the extent along it; out comes whether it may leave. Fewer
are doubted here than kernels check: what is told to be out of range should be what is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from opgen.ir.lazy import in_contexts
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
from opgen.ir.scalar import Apply, Batch, Position, Read, Scalar, call, children

Held = tuple[Polynomial, ...]  # what is not negative where a value is asked for
_PICKS = ("argsort", "argmax", "argmin")


def held_around(st: Compute | Scatter) -> dict[Read, Held]:
    """Every access of a statement, with what holds wherever it is asked for."""
    found: dict[Read, Held] = {}
    nothing: Held = ()
    for e in statement_scalars(st):
        for part, held in in_contexts(e, nothing, _inner, _common):
            if isinstance(part, Read):
                found[part] = _common(found[part], held) if part in found else held
    return found


def _inner(e: Scalar, held: Held) -> Iterator[tuple[Scalar, Held]]:
    """The operands of a value, with what is not negative where each is evaluated."""
    match e:
        case Apply("where", (condition, a, b)):
            yield condition, held
            yield a, tuple(dict.fromkeys((*held, *_known(condition, holds=True))))
            yield b, tuple(dict.fromkeys((*held, *_known(condition, holds=False))))
        case _:
            yield from ((part, held) for part in children(e))


def _known(condition: Scalar, *, holds: bool) -> Iterator[Polynomial]:
    """What is not negative where a condition holds, or where it does not."""
    match condition:
        case Apply("not", (a,)):
            yield from _known(a, holds=not holds)
        case Apply("and" | "or" as fn, args) if holds == (fn == "and"):
            for a in args:
                yield from _known(a, holds=holds)
        case _:
            yield from nonnegative_where(condition if holds else call("not", condition))


def _common(a: Held, b: Held) -> Held:
    return tuple(p for p in a if p in b)


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
