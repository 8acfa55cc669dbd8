"""Positions that begin in front of their tensor: the statement or the reduction without what has none before it."""

from __future__ import annotations

from dataclasses import replace

from opgen.diagnostics.model import Span
from opgen.ir import text
from opgen.ir.polynomial import polynomial
from opgen.ir.reductions import REDUCTIONS
from opgen.ir.scalar import Index
from opgen.lang.nodes import Access, Assign, Binder, Call, Compare, Expr, Name, Number, Reduction, Sum
from opgen.lang.slices import total
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.walk import nodes, rebuild
from opgen.lower.read_further import is_read_further
from opgen.lower.scope import Check, Frame


def without_first(f: Frame, c: Check) -> tuple[str, ...]:
    """A reduction that reads what stands before, from where there is something on."""
    back = -(shift(c) or 0)
    own = (s for s in (*f.decl.forward, *f.decl.backward) if s.target.name == f.target)
    index = c.indices[0][1].name if len(c.indices) == 1 else ""
    around = [
        r for s in own for r in nodes(s.value)
        if isinstance(r, Reduction) and r.span.start <= c.span.start and c.span.end <= r.span.end
        and [b.name for b in r.binders if isinstance(b, Binder) and b.extent is None] == [index]
    ]  # fmt: skip
    if (
        back <= 0
        or len(around) != 1
        or not _looks_back(f, c)
        or (around[0].name in REDUCTIONS and REDUCTIONS[around[0].name].keeps_index)
    ):
        return ()
    r, size = around[0], less(c, back)
    binders = tuple(replace(b, extent=size) if isinstance(b, Binder) else b for b in r.binders)
    made = replace(r, binders=binders, body=moved_on(r.body, index, back, c.span))
    return (f"leave out what has none before it: `{unparse(made)}`",)


def from_the_start(f: Frame, c: Check) -> tuple[str, ...]:
    """The statement with a value of its own where a number of places before the index are none, or without those."""
    own = [s for s in f.decl.forward if s.target.name == f.target]
    back = (polynomial(c.position) - polynomial(Index(c.indices[0][0]))).constant if len(c.indices) == 1 else None
    if back is None or back >= 0 or len(own) != 1 or own[0].op != "=" or c.indices[0][1].name not in _loops(own[0]):
        return ()
    index, span = Name(c.indices[0][1].name, c.span), own[0].span
    inside = Compare((index, Number(int(-back), span)), (">=",), span)
    line = unparse_assign(replace(own[0], value=Call("where", (inside, own[0].value, Number(0, span)), span, span)))
    told = f"or say what all of it is there, 0 for one: `{line}`"
    if any(isinstance(n, Access) and n.name == f.target for n in nodes(own[0].value)):
        return ()  # a recurrence has its own values before the first one
    shaped = f.target in f.decl.output_shapes or any(o.name == f.target and o.shape for o in f.decl.spec.outputs or ())
    size = less(c, int(-back))
    if shaped or not _looks_back(f, c) or is_read_further(f, f.target, index.name, unparse(size)):
        return (told,)
    items = tuple(
        replace(i, extent=size) if isinstance(i, Binder) and i.name == index.name else i
        for i in own[0].target.items or ()
    )
    shorter = replace(own[0].target, items=items)
    made = replace(own[0], target=shorter, value=moved_on(own[0].value, index.name, int(-back), c.span))
    return (f"or leave out what has none before it: `{unparse_assign(made)}`", told)


def _looks_back(f: Frame, c: Check) -> bool:
    """Is everything that is read at the index of a position read there, or before it?"""
    shifts = [shift(o) for o in f.checks if c.indices[0] in o.indices]
    return all(shift is not None and shift <= 0 for shift in shifts)


def shift(c: Check) -> int | None:
    """How far a position is from the index that runs over its whole dim."""
    if len(c.indices) != 1 or c.indices[0][1].extent != c.extent:
        return None
    return (polynomial(c.position) - polynomial(Index(c.indices[0][0]))).constant


def less(c: Check, back: int) -> Expr:
    return total([(1, Name(text.scalar(c.extent), c.span)), (-1, Number(back, c.span))], c.span)


def moved_on(e: Expr, index: str, back: int, at: Span) -> Expr:
    """An expression with an index as many places later."""
    match e:
        case Name(name=name) if name == index:
            return total([(1, e), (1, Number(back, at))], at)
        case Reduction(binders=binders) if any(isinstance(b, Binder) and b.name == index for b in binders):
            return e  # which has one of its own
        case Sum(terms=terms) if ("+", Name(index, at)) in terms:
            return total([*((1 if sign == "+" else -1, x) for sign, x in terms), (1, Number(back, at))], at)
        case _:
            return rebuild(e, lambda x: moved_on(x, index, back, at))


def _loops(s: Assign) -> list[str]:
    return [i.name for i in s.target.items or () if isinstance(i, Binder)]
