"""Kinds of recurrences: the smallest that their starts and their bodies, which read them, give.

A body is lowered with its names taken for conditions, then for what came out, until nothing changes; so a running sum
of integers stays one of integers, and what points at the next element stays a position.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from opgen.ir.program import Kind
from opgen.lower.kinds import promote

Kinds = dict[str, Kind]

_NEXT = {Kind.BOOL: Kind.INT, Kind.INT: Kind.FLOAT}


def settled(known: Mapping[str, Kind | None], lowered: Callable[[Kinds], Kinds | None]) -> tuple[Kinds, bool]:
    """The kind of every name, and whether they are right.

    `known`: declared or given by a start; `lowered`: what bodies give that read such kinds.
    Where they give a mistake, a name of which nothing is known is tried as the next kind; where that does not help, the
    kinds are those that it was found with.
    """
    kinds: Kinds = {n: k or Kind.BOOL for n, k in known.items()}
    mistaken: Kinds | None = None
    while True:
        found = lowered(kinds)
        if found is None:
            mistaken = mistaken or kinds
            wider = {n: k if known[n] is not None else _NEXT.get(k, k) for n, k in kinds.items()}
        else:
            mistaken = None
            wider = {n: promote((k, found[n])) or k for n, k in kinds.items()}
        if wider == kinds:
            return mistaken or kinds, mistaken is None
        kinds = wider
