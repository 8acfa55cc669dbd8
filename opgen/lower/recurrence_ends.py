"""How far a recurrence runs whose elements get values of their own, where nothing else says it.

In go the statement that goes on and those of the elements, `p[T - 1] = a`; out comes its target with an extent where
one is needed, so that no element is lost: `p[t < T]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.ir import text
from opgen.lang.circles import Step, shift_of
from opgen.lang.nodes import Access, Assign, Binder, Call, Dots, Expr, Name, Number, Sum, Target
from opgen.lang.unparse import unparse
from opgen.lang.walk import nodes
from opgen.lower.declare import Declarations


def is_last(item: Expr) -> bool:
    """Whether a position is counted from the end, `T - 1`, where an element stands."""
    return isinstance(item, Sum) and item.terms[-1][0] == "-" and isinstance(item.terms[-1][1], Number)


def target_with_end(d: Declarations, body: Assign, elements: Sequence[Assign], place: int, step: Step) -> Target:
    """The target of a recurrence with an extent for the index that it runs along, where nothing else says it."""
    items = body.target.items or ()
    own = items[place]
    if not isinstance(own, Binder) or own.extent is not None or place < len(d.output_shapes.get(body.target.name, ())):
        return body.target
    reads = [a for a in _outside_of_pads(body.value) if a.name != body.target.name]
    if any(isinstance(i, Name) and i.name == own.name for a in reads for i in a.items):
        return body.target
    end = _behind(elements, place) if step.offset > 0 else _as_read(d, reads, own.name)
    if not end:
        return body.target
    sized = replace(own, extent=Name(end, own.span))
    return replace(body.target, items=(*items[:place], sized, *items[place + 1 :]))


def _outside_of_pads(e: Expr) -> list[Access]:
    padded = {id(n) for p in nodes(e) if isinstance(p, Call) and p.name == "pad" for n in nodes(p)}
    return [n for n in nodes(e) if isinstance(n, Access) and id(n) not in padded]


def _behind(elements: Sequence[Assign], place: int) -> str:
    """One more than the last position of elements that are counted from the end; empty where one is not."""
    ends: list[tuple[int, str]] = []
    for s in elements:
        item = (s.target.items or ())[place]
        if not isinstance(item, Sum) or not is_last(item):
            return ""
        *rest, (_, last) = item.terms
        less = last.value if isinstance(last, Number) else 0
        size = unparse(replace(item, terms=tuple(rest)) if rest[1:] else rest[0][1])
        ends.append((int(less), f"{size} - {int(less) - 1}" if less != 1 else size))
    return min(ends)[1] if ends else ""


def _as_read(d: Declarations, reads: Sequence[Access], index: str) -> str:
    """How far an index runs with what is read at one distance from it; empty where there are several."""
    found: dict[str, None] = {}
    for a in reads:
        shape = d.shapes.get(a.name, ())
        for k, item in enumerate(a.items if len(shape) == len(a.items) else ()):
            shift = None if isinstance(item, Dots) else shift_of(item)
            if shift is not None and shift.index == index:
                sign = "-" if shift.offset > 0 else "+"
                found[f"{text.position(shape[k])} {sign} {abs(shift.offset)}"] = None
    return next(iter(found)) if len(found) == 1 else ""
