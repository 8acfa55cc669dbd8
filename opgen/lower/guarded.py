"""Reads of a tensor that ends before others do: the statement with a condition around them, `where(u < U, …, 0)`.

In go a statement, an index of its target, and what is read at it that ends earlier; out comes the statement with what
does not count where the shorter one has ended: `-inf` in a `max` or a `logaddexp`, 0 in a sum.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from opgen.diagnostics.model import Span
from opgen.lang.nodes import Assign, Binder, Call, Expr, Name, Reduction, Sum, Unary
from opgen.lang.unparse import respelled, unparse_target
from opgen.lang.walk import nodes, operands

_FILLS = {"logaddexp": "-inf", "max": "-inf", "min": "inf", "logsumexp": "-inf", "sum": "0"}


def guarded(s: Assign, index: str, size: str, end: str, places: Sequence[Span]) -> str:
    """The statement over `size` places of an index with a condition around what is read at places up to `end`; empty
    where the index is none of its target.
    """
    items = s.target.items or ()
    if not any(isinstance(i, Binder) and i.name == index for i in items):
        return ""
    stated = (
        replace(i, extent=Name(size, i.span)) if isinstance(i, Binder) and i.name == index and i.extent is None else i
        for i in items
    )
    return conditioned(replace(s, target=replace(s.target, items=tuple(stated))), f"{index} < {end}", places)


def conditioned(s: Assign, condition: str, places: Sequence[Span]) -> str:
    """The statement with a condition around what is read at some places; empty where it is a scatter, or where that
    would be around the reduction that binds an index of the condition.
    """
    part, fill = _part(s.value, places)
    names = re.findall(r"\w+", condition)
    own = [b.name for n in nodes(part) if isinstance(n, Reduction) for b in n.binders if isinstance(b, Binder)]
    if s.op != "=" or any(n in own for n in names):
        return ""
    made = f"where({condition}, {respelled(part)}, {fill})"
    guard = "" if s.guard is None else f" if {respelled(s.guard)}"
    return f"{unparse_target(s.target)} = {respelled(s.value, (part, made))}{guard}"


def _part(e: Expr, places: Sequence[Span]) -> tuple[Expr, str]:
    """The part of a value that stands for nothing without what is read at some places, and what it is then."""
    found, at = (e, "0"), e
    while True:
        inner = [x for x in operands(at) if all(_holds(x, place) for place in places)]
        if len(inner) != 1:
            return found
        match at:
            case Sum():
                found = inner[0], "0"
            case Call(name=name) | Reduction(name=name) if name in _FILLS:
                found = inner[0], _FILLS[name]
                if _FILLS[name] != "0":
                    return found
            case Call(name="where", args=(condition, *_)) if inner[0] is not condition:
                pass
            case Unary(op="-"):
                pass
            case _:
                return found
        at = inner[0]


def _holds(e: Expr, place: Span) -> bool:
    return e.span.start <= place.start and place.end <= e.span.end
