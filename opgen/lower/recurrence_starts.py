"""What is meant by the start of a recurrence that has fewer positions, or other sizes, than what goes on from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.diagnostics.model import Bag
from opgen.ir import text
from opgen.ir.scalar import Scalar
from opgen.lang.circles import is_constant
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name
from opgen.lang.unparse import unparse, unparse_target
from opgen.lang.walk import nodes, transform
from opgen.lower.declare import Declarations


def aligned(d: Declarations, body: Assign, s: Assign, places: Sequence[int], bag: Bag) -> bool:
    """Whether a start has the positions of what goes on from it; reports it where not."""
    if [isinstance(i, Dots) for i in s.target.items or ()] == [isinstance(i, Dots) for i in body.target.items or ()]:
        return True
    message = f"the start of `{s.target.name}` has other positions than `{body.target.span.text}`"
    bag.error("OPG250", message, s.target.span, hints=_at_all_positions(d, body, s, places))
    return False


def _at_all_positions(d: Declarations, body: Assign, s: Assign, places: Sequence[int]) -> tuple[str, ...]:
    """A start with every position of what goes on from it, what it reads included; nothing where that is unclear."""
    constants = [i for i in s.target.items or () if is_constant(i)]
    given = [i for i in s.target.items or () if not is_constant(i)]
    whole = [_plain(i) for i in body.target.items or ()]
    if len(places) != 1 or len(constants) != 1:
        return ()
    left = [i for k, i in enumerate(whole) if k != places[0]]
    if [i for i in left if i in map(_plain, given)] != [*map(_plain, given)]:
        return ()
    value = _read_at(d, s.value, left, [*map(_plain, given)])
    if value is None:
        return ()
    at = constants[0]
    shown = [Name(_outside(at), at.span) if k == places[0] else i for k, i in enumerate(whole)]
    start = Access(s.target.name, tuple(shown), s.span, s.span)
    return (f"it has a position for each index: write `{unparse(start)} = {unparse(value)}`",)


def _outside(item: Binder | Dots | Expr) -> str:
    """A position outside, as it was written."""
    return "..." if isinstance(item, Dots) else item.span.text.replace(" ", "")


def _plain(item: Binder | Dots | Expr) -> Expr | Dots:
    return Name(item.name, item.span) if isinstance(item, Binder) else item


def _read_at(d: Declarations, value: Expr, left: Sequence[Expr | Dots], given: Sequence[Expr | Dots]) -> Expr | None:
    """A value that reads what has a position for each of these indices at all of them; None where others lack some.

    `given`: the indices that the start has already; others in their place mean those that it gets.
    """
    good = True

    def step(e: Expr) -> Expr | None:
        nonlocal good
        rank = _rank(d, e.name) if isinstance(e, Name | Access) else None
        if rank is None or not isinstance(e, Name | Access):
            return None
        items = e.items if isinstance(e, Access) else ()
        if len(items) == rank and not _are_others(items, left, given):
            return None
        known = [i for i in left if i in items] == [*items] or len(items) == rank
        good = good and rank == len(left) and known
        return Access(e.name, tuple(left), e.span, e.span)

    made = transform(value, step)
    return made if good else None


def _are_others(items: Sequence[Expr | Dots], left: Sequence[Expr | Dots], given: Sequence[Expr | Dots]) -> bool:
    """Whether positions are those of the start under other names: `h[-1] = h0[b, h]` of `h[b, t, j]`."""
    fits = len(items) == len(left) and all(a == b or a not in given for a, b in zip(items, left, strict=True))
    return fits and all(isinstance(i, Name | Dots) for i in items) and any(i not in left for i in items)


def _rank(d: Declarations, name: str) -> int | None:
    """How many positions a tensor has."""
    if name in d.shapes:
        return len(d.shapes[name])
    return next((len(s.target.items or ()) for s in d.forward if s.target.name == name), None)


def as_far_as_the_start(body: Assign, place: int, extent: Scalar) -> tuple[str, ...]:
    """A body that runs as far as its start does, where its index stands beside another number as well.

    `z[b, j]` and `z[b, j + H]` are parts of `z`, so that `j` runs over less than all of it.
    """
    items = body.target.items or ()
    item = items[place]
    if not isinstance(item, Binder) or item.extent is not None:
        return ()
    index = Name(item.name, item.span)
    read = {e for a in nodes(body.value) if isinstance(a, Access) for e in a.items if not isinstance(e, Dots)}
    if not any(e != index and index in nodes(e) for e in read):
        return ()
    sized = replace(item, extent=Name(text.scalar(extent), item.span))
    target = replace(body.target, items=(*items[:place], sized, *items[place + 1 :]))
    return (f"it goes on as far as it starts: write `{unparse_target(target)} = …`",)
