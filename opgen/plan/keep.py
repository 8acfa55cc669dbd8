"""Which maps are computed once under their own name, and which are written in place by whoever reads them.

Cheap values are recomputed: that costs less than storing and loading them. Kept are the operands of matrix products,
values that a reader would compute at more points than they have, and every so often one in a long chain.
"""

from __future__ import annotations

from typing import assert_never

from opgen.ir.program import Compute, Loop, Recurrence, Scatter, Statement
from opgen.ir.scalar import BATCH, Apply, Batch, Index, Read, Scalar, occurrences, walk
from opgen.plan.model import label
from opgen.plan.ranges import Ranges

_CHEAP = frozenset(
    "add sub mul neg eq ne lt le gt ge and or not where min max abs square relu detach".split()  # noqa: SIM905
)
_ROOTS = frozenset(("div", "sqrt", "rsqrt", "reciprocal"))
_DEAR = 8  # a value at least this costly is stored rather than computed once per point of a wider loop
_DEPTH = 16  # maps written into each other at most this deep, so that expressions stay readable and shallow


def kept_maps(statements: tuple[Statement, ...], results: set[str], operands: set[str], ranges: Ranges) -> set[str]:
    """The maps that are computed once; `operands` have to be in memory.

    A map that is read with a fill, or where a check is needed, has to be there as a tensor of its own.
    """
    maps = {s.target: s for s in statements if isinstance(s, Compute) and s.op is None}
    deep = _deep(statements, maps)
    kept: set[str] = set()
    spread: set[str] = set()  # maps that some reader evaluates at more points than they have
    padded: set[str] = set()
    read: set[str] = set()
    for s in reversed(statements):
        name = s.target
        dear = name in maps and _cost(maps[name].body) >= _DEAR
        if name in operands | deep | padded or (dear and (name in spread or (name in results and name in read))):
            kept.add(name)
        inherits = name in spread and name not in kept
        for loops, e in parts(s):
            labels = {label(a) for a in loops}
            for r in (n for n in walk(e) if isinstance(n, Read) and n.tensor in maps):
                read.add(r.tensor)
                if inherits or labels - _used(r):
                    spread.add(r.tensor)
                if r.fill is not None or not ranges.surely(r, loops):
                    padded.add(r.tensor)
    return kept & set(maps)


def _deep(statements: tuple[Statement, ...], maps: dict[str, Compute]) -> set[str]:
    """Maps that end a stretch of maps reading maps."""
    depth: dict[str, int] = {}
    for s in statements:
        if s.target in maps:
            below = (depth.get(n.tensor, 0) for n in walk(maps[s.target].body) if isinstance(n, Read))
            depth[s.target] = (1 + max(below, default=0)) % (_DEPTH + 1)
    return {name for name, own in depth.items() if own == 0}


def _used(r: Read) -> set[str]:
    """The loops that an access moves with."""
    names = {n.name for p in r.at if not isinstance(p, Batch) for n in walk(p) if isinstance(n, Index)}
    return names | {"..."} if BATCH in r.at else names


def _cost(e: Scalar) -> int:
    """What a value costs, in additions."""
    calls = [(n.fn, k) for n, k in occurrences(e).items() if isinstance(n, Apply)]
    return sum(k * (1 if fn in _CHEAP else 3 if fn in _ROOTS else 8) for fn, k in calls)


def scalars(s: Statement) -> tuple[Scalar, ...]:
    """The expressions of a statement: bodies, base, positions."""
    return tuple(e for _, e in parts(s))


def parts(s: Statement) -> tuple[tuple[tuple[Loop, ...], Scalar], ...]:
    """The expressions of a statement, each with the loops that it stands in."""
    match s:
        case Compute():
            return ((s.loops, s.body),)
        case Scatter():
            inner = (s.body, *(p for p in s.at if not isinstance(p, Batch)))
            return (*((s.loops, e) for e in inner), (s.axes, s.base))
        case Recurrence():
            return tuple((step.loops, step.body) for step in s.steps)
        case _:
            assert_never(s)
