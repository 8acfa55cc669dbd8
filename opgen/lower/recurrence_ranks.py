"""Reads of a recurrence that lack some of its positions: `h[t - 1]` of `h[..., t, k]`, told with all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from opgen.diagnostics.model import Bag, Label
from opgen.diagnostics.suggest import counted
from opgen.lang.circles import accesses
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Target
from opgen.lang.unparse import unparse
from opgen.lang.walk import names_read
from opgen.lower.declare import Declarations

_Items = Sequence[Expr | Dots]


def read_whole(d: Declarations, bodies: Mapping[str, Assign], bag: Bag) -> bool:
    """Whether every read of the names among themselves has all positions of what is assigned.

    Reports those that lack some, and then those of other statements as well.
    """
    wrong = [a for a in accesses(bodies.values(), tuple(bodies)) if not _fits(a, bodies[a.name])]
    others = [s for s in (*d.forward, *d.backward) if s.target.name not in bodies] if wrong else []
    wrong += [a for a in accesses(others, tuple(bodies)) if not _fits(a, bodies[a.name])]
    for a in wrong:
        target = bodies[a.name].target
        own = _plain(target)
        needed, given = len(_named(own)), len(_named(a.items))
        message = f"`{a.name}` is assigned at {counted(needed, 'dim')} and read at {counted(given, 'dim')}"
        if needed == given:
            message = f"`{a.name}` is read without its batch dims"
            if any(isinstance(i, Dots) for i in a.items):
                elsewhere = any(isinstance(i, Dots) for i in own)
                message = (
                    f"the batch dims of `{a.name}` stand elsewhere" if elsewhere else f"`{a.name}` has no batch dims"
                )
        made = _filled(a, own)
        hints = () if made is None else (f"write `{unparse(made)}`",)
        related = (Label(target.span, "assigned at these"),)
        bag.error("OPG212", message, a.span, related=related, hints=hints)
    return not wrong


def _fits(a: Access, s: Assign) -> bool:
    own = _plain(s.target)
    return [isinstance(i, Dots) for i in a.items] == [isinstance(i, Dots) for i in own]


def _plain(target: Target) -> _Items:
    return [Name(i.name, i.span) if isinstance(i, Binder) else i for i in target.items or ()]


def _filled(a: Access, own: _Items) -> Access | None:
    """The access with what it lacks, each position that reads an index of its own at its place; None where others
    could stand at several."""
    given, places = _named(a.items), [k for k, i in enumerate(own) if not isinstance(i, Dots)]
    at = {i.name: k for k, i in enumerate(own) if isinstance(i, Name)}
    known = [{at[n] for n in names_read(i) if n in at} for i in given]
    ways = [w for w in combinations(places, len(given)) if _agree(w, known)]
    if len(given) == len(places):
        ways = [tuple(places)]
    if len(ways) != 1:
        return None
    found = dict(zip(ways[0], given, strict=True))
    return replace(a, items=tuple(found.get(k, i) for k, i in enumerate(own)))


def _agree(way: Sequence[int], known: Sequence[set[int]]) -> bool:
    return all(not k or place in k for place, k in zip(way, known, strict=True))


def _named(items: _Items) -> list[Expr]:
    return [i for i in items if not isinstance(i, Dots)]
