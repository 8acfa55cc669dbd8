"""Recurrences whose left side lacks an index that its formula has: `c[t] = f[d]*c[t - 1] + x[t, d]`.

In goes the statement; out come its lines with that index, the start's included. The index is certainly one of the left
side where the name itself is read at as many positions more, and where it stands in a factor of the step before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from opgen.diagnostics.model import Bag, Label
from opgen.diagnostics.suggest import counted, listed
from opgen.lang.circles import constant_part, step_of
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Product, Target
from opgen.lang.past import bound_by, reads_within
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import names_read, nodes, transform
from opgen.lower.declare import Declarations
from opgen.lower.steps import unbound

T = TypeVar("T")


def lacks_index(d: Declarations, bodies: Mapping[str, Assign], bag: Bag) -> bool:
    """Whether the left side of a recurrence of one name lacks indices; reports it with the lines that have them."""
    name, s = next(iter(bodies.items()))
    free: tuple[str, ...] = ()
    if len(bodies) == 1 and all(isinstance(i, Binder) for i in s.target.items or ()):
        free = unbound(d, s)
    reads = [n for n in nodes(s.value) if isinstance(n, Access) and n.name == name] if free else []
    short, long = len(s.target.items or ()), len(s.target.items or ()) + len(free)
    further = [a for a in reads if len(a.items) == long]
    if not reads or any(len(a.items) not in (short, long) for a in reads):
        return False
    if not further and not any(_is_factor(s, name, index) for index in free):
        return False
    places = _places(s, further, free)
    if places is None:
        return False
    lines = [unparse_assign(line) for line in _lines(d, s, places)]
    if further:
        message = f"`{name}` is assigned at {counted(short, 'dim')} and read at {counted(long, 'dim')}"
        related = (Label(s.target.span, f"lacks {listed(free, 'and')}"),)
        bag.error("OPG212", message, further[0].span, related=related, hints=(f"write {listed(lines, 'and')}",))
        return True
    at = next(n for n in nodes(s.value) if isinstance(n, Name) and n.name == free[0])
    hints = (f"write {listed(lines, 'and')}", f"or sum over it with `sum[{free[0]}](…)`")
    notes = ("nothing is summed implicitly",)
    bag.error("OPG204", f"the index `{free[0]}` is not bound", at.span, hints=hints, label="bound nowhere", notes=notes)
    return True


def _is_factor(s: Assign, name: str, index: str) -> bool:
    """Whether an index stands in a factor of the step before, outside of reductions that bind it."""
    before = [a for a, by in reads_within(name, s.value) if index not in bound_by(by)]
    products = [n for n in nodes(s.value) if isinstance(n, Product)]
    for p in products:
        own = [any(n is a for n in nodes(f) for a in before) for _, f in p.factors]
        beside = [f for (_, f), is_own in zip(p.factors, own, strict=True) if not is_own]
        if any(own) and any(index in names_read(f) for f in beside):
            return True
    return False


def _places(s: Assign, further: Sequence[Access], free: Sequence[str]) -> dict[int, str] | None:
    """Where the indices belong on the left side: as the name itself is read, or in the order of what else is read."""
    own = [i.name for i in s.target.items or () if isinstance(i, Binder)]
    if further:
        steps = [step_of(i) for i in further[0].items]
        left = [k for k, (i, step) in enumerate(zip(further[0].items, steps, strict=True))
                if not isinstance(i, Dots) and step is None and not {*own} & {*names_read(i)}]  # fmt: skip
        return dict(zip(left, free, strict=True)) if len(left) == len(free) else None
    all_of = {*own, *free}
    for a in (n for n in nodes(s.value) if isinstance(n, Access)):
        read = [i.name for i in a.items if isinstance(i, Name)]
        if len(read) == len(a.items) == len(all_of) and {*read} == all_of and [i for i in read if i in own] == own:
            return {k: i for k, i in enumerate(read) if i in free}
    return {len(own) + k: i for k, i in enumerate(free)}


def _lines(d: Declarations, s: Assign, places: Mapping[int, str]) -> list[Assign]:
    """The statements of the name with these indices: its start where that is a number, and how it goes on."""
    short = len(s.target.items or ())

    def with_own(e: Expr) -> Expr | None:
        if isinstance(e, Access) and e.name == s.target.name and len(e.items) == short:
            return replace(e, items=_filled(e.items, [Name(i, e.span) for i in places.values()], places))
        return None

    starts = [o for o in d.forward if o.target.name == s.target.name and constant_part(o) is not None]
    plain = [o for o in starts if len(o.target.items or ()) == short and not names_read(o.value)]
    whole = [replace(o, target=_widened(o.target, places)) for o in plain]
    return [*whole, replace(s, target=_widened(s.target, places), value=transform(s.value, with_own))]


def _widened(target: Target, places: Mapping[int, str]) -> Target:
    own = [Binder(i, None, target.span) for i in places.values()]
    return replace(target, items=_filled(target.items or (), own, places))


def _filled(items: Sequence[T], more: Sequence[T], places: Mapping[int, str]) -> tuple[T, ...]:
    """The items with others at their places, which are in order."""
    found = [*items]
    for k, item in zip(places, more, strict=True):
        found.insert(k, item)
    return tuple(found)
