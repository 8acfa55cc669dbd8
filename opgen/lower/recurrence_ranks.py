"""Reads of a recurrence that lack some of its positions: `h[t - 1]` of `h[..., t, k]`, told with all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product

from opgen.diagnostics.model import Bag, Label
from opgen.diagnostics.suggest import counted, listed
from opgen.lang.circles import accesses
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Target
from opgen.lang.past import bound_by, reads_within
from opgen.lang.unparse import unparse
from opgen.lang.walk import names_read, nodes, statement_at
from opgen.lower.declare import Declarations
from opgen.lower.recurrence_lacking import lacks_index

_Items = Sequence[Expr | Dots]
_MOST = 3  # ways that are told


def read_whole(d: Declarations, bodies: Mapping[str, Assign], bag: Bag) -> bool:
    """Whether every read of the names among themselves has all positions of what is assigned.

    Reports those that lack some, and then those of other statements as well.
    """
    if lacks_index(d, bodies, bag):
        return False
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
        ways = _filled(d, a, own)
        hints = (f"write {listed(map(unparse, ways))}",) if ways else ()
        related = (Label(target.span, "assigned at these"),)
        bag.error("OPG212", message, a.span, related=related, hints=hints)
    return not wrong


def _fits(a: Access, s: Assign) -> bool:
    own = _plain(s.target)
    return [isinstance(i, Dots) for i in a.items] == [isinstance(i, Dots) for i in own]


def _plain(target: Target) -> _Items:
    return [Name(i.name, i.span) if isinstance(i, Binder) else i for i in target.items or ()]


def _filled(d: Declarations, a: Access, own: _Items) -> list[Access]:
    """The access with what it lacks, each position that reads an index of its own at its place, in every way that is
    likely; none where others could stand at several.
    """
    given, places = _named(a.items), [k for k, i in enumerate(own) if not isinstance(i, Dots)]
    at = {i.name: k for k, i in enumerate(own) if isinstance(i, Name)}
    known = [{at[n] for n in names_read(i) if n in at} for i in given]
    ways = [w for w in combinations(places, len(given)) if _agree(w, known)]
    if len(given) == len(places):
        ways = [tuple(places)]
    if len(ways) != 1:
        return []
    found = dict(zip(ways[0], given, strict=True))
    read = [n for i in given for n in names_read(i)]
    lacking = {k: _possible(d, a, i) if isinstance(i, Name) else [i] for k, i in enumerate(own) if k not in found}
    chosen = [dict(zip(lacking, way, strict=True)) for way in product(*lacking.values())]
    rows = [[found.get(k) or way[k] for k in range(len(own))] for way in chosen]
    return [replace(a, items=tuple(row)) for row in rows if _is_apart(row, read)][:_MOST]


def _is_apart(row: _Items, read: Sequence[str]) -> bool:
    """Whether the indices that stand alone are different ones, and none is moved elsewhere."""
    alone = [i.name for i in row if isinstance(i, Name)]
    return len({*alone}) == len(alone) and not any(i in read for i in alone if alone.count(i) > read.count(i))


def _possible(d: Declarations, a: Access, own: Name) -> _Items:
    """The indices that an access may lack at a position where its name is assigned at `own`, the likeliest first: one
    that a reduction around it binds, and nothing else in it reads, alone.
    """
    s = statement_at((*d.forward, *d.backward), a.span)
    around = [] if s is None else next((list(by) for read, by in reads_within(a.name, s.value) if read is a), [])
    if s is None or not around:
        return [own]
    bound = bound_by(around)[::-1]
    sizes = _sizes(d, d.forward, own.name)
    likely = [n for n in bound if not sizes or not (runs := _sizes(d, (s,), n)) or not sizes.isdisjoint(runs)]
    free = [n for n in likely if not any(n in names_read(i) for i in _beside(s, a))]
    if free or own.name in bound:
        likely = free[:1] or [own.name]
    elif own.name in (i.name for i in s.target.items or () if isinstance(i, Binder)):
        likely = [*likely, own.name]
    return [Name(n, a.span) for n in dict.fromkeys(likely)] or [own]


def _beside(s: Assign, a: Access) -> list[Expr]:
    """The other accesses of a statement, and what uses an index as a number."""
    inside = [id(n) for n in nodes(a)]
    return [n for n in nodes(s.value) if isinstance(n, Access | Name) and id(n) not in inside]


def _sizes(d: Declarations, statements: Iterable[Assign], index: str) -> frozenset[str]:
    """The dims over which an index runs, as far as inputs tell."""
    found: list[str] = []
    for a in (n for s in statements for n in nodes(s.value) if isinstance(n, Access)):
        shape = d.words.shapes.get(a.name, ())
        if len(shape) == len(a.items):
            found += [size for size, i in zip(shape, a.items, strict=True) if isinstance(i, Name) and i.name == index]
    return frozenset(found)


def _agree(way: Sequence[int], known: Sequence[set[int]]) -> bool:
    return all(not k or place in k for place, k in zip(way, known, strict=True))


def _named(items: _Items) -> list[Expr]:
    return [i for i in items if not isinstance(i, Dots)]
