"""Neighbours on either side, `u[i + 1] - u[i - 1]`, some of which stand outside: one line for all of them.

In goes a position that leaves its tensor; out come the positions of its statement that do, where they leave it in front
and behind, with the statement in each way that it may be meant.
"""

from __future__ import annotations

from collections.abc import Sequence

from opgen.ir import text
from opgen.ir.scalar import Dim, Lit
from opgen.lang.nodes import Access, Assign, Dots, Expr
from opgen.lang.unparse import respelled, unparse, unparse_target
from opgen.lang.walk import nodes, statement_at
from opgen.lower.earlier import less, shift
from opgen.lower.scope import Check, Frame


def both_ends(f: Frame, c: Check) -> tuple[list[Check], tuple[str, ...]] | None:
    """All positions of the statement that leave their tensor, and what to write; None where one end is concerned."""
    s = statement_at(f.decl.forward, c.span)
    if s is None or s.op != "=" or _leaves(f, c) is None:
        return None
    read = [n for n in nodes(s.value) if isinstance(n, Access)]
    found = [o for o in f.checks if _leaves(f, o) is not None and any(n.span == o.site.span for n in read)]
    shifts = [shift(o) or 0 for o in found]
    if min(shifts, default=0) >= 0 or max(shifts) <= 0 or any(n.name == s.target.name for n in read):
        return None
    if any(n.span == o.site.span for n in _inner(read) for o in found):
        return None  # the place of something
    places = [(n, [o for o in found if o.site.span == n.span]) for n in read]
    padded = [(n, f"pad({respelled(n)}, 0)") for n, own in places if own]
    rings = [(n, wrapped(n, own)) for n, own in places if own]
    chosen = f"where({' and '.join(_conditions(found))}, {respelled(s.value)}, 0)"
    return found, (
        f"write `{_with(s, respelled(s.value, *padded))}`, or what there is outside in place of 0",
        f"or say what all of it is there, 0 for one: `{_with(s, chosen)}`",
        f"or, to wrap around: `{_with(s, respelled(s.value, *rings))}`",
    )


def _leaves(f: Frame, c: Check) -> int | None:
    """By how much a position leaves its tensor that is read at an index of the target, whatever the values are."""
    by = shift(c)
    own = f.scope is not None and any(i is c.indices[0][1] for i in f.scope.root().loops) if by else False
    return by if own and c.always and not c.site.written and not c.site.padded else None


def _inner(read: Sequence[Access]) -> list[Expr]:
    """What stands in the positions of accesses."""
    return [n for a in read for i in a.items if not isinstance(i, Dots) for n in nodes(i)]


def _conditions(found: Sequence[Check]) -> list[str]:
    """Where all that is read is there, by index."""
    made: list[str] = []
    for index in dict.fromkeys(c.indices[0][1].name for c in found):
        own = [c for c in found if c.indices[0][1].name == index]
        back, ahead = (max((sign * (shift(c) or 0) for c in own), default=0) for sign in (-1, 1))
        made += inside(own[0], back, ahead)
    return made


def inside(c: Check, back: int, ahead: int) -> list[str]:
    """Where an index that is read so far before itself and behind reads nothing outside of the axis of a position."""
    index = c.indices[0][1].name
    first = [f"{index} >= {back}"] if back > 0 else []
    return first + ([f"{index} < {unparse(less(c, ahead))}"] if ahead > 0 else [])


def wrapped(a: Access, own: Sequence[Check]) -> str:
    """An access with these of its positions around the end."""
    sizes = ((c, text.scalar(c.extent)) for c in own)
    rings = {c.span: f"({c.span.text}) % {n if isinstance(c.extent, Dim | Lit) else f'({n})'}" for c, n in sizes}
    items = (rings.get(i.span) or ("..." if isinstance(i, Dots) else respelled(i)) for i in a.items)
    return f"{a.name}[{', '.join(items)}]"


def _with(s: Assign, value: str) -> str:
    guard = "" if s.guard is None else f" if {respelled(s.guard)}"
    return f"{unparse_target(s.target)} = {value}{guard}"
