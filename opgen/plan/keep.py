"""Which maps are computed once under their own name, and which are written in place by whoever reads them.

Cheap values are recomputed: that costs less than storing and loading them. Kept are the operands of matrix products,
values that a reader would compute at more points than they have, and every so often one in a long chain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from opgen.ir.lazy import always_read
from opgen.ir.order import occurrences
from opgen.ir.program import Axis, Compute, Loop, Recurrence, Scatter, Statement
from opgen.ir.rounding import is_reproducible
from opgen.ir.scalar import BATCH, Apply, Batch, Index, Read, Scalar, children, is_exact_test, walk
from opgen.opt.ranges import Ranges
from opgen.plan.model import label

_CHEAP = frozenset(
    "add sub mul neg eq ne lt le gt ge and or not where min max abs square relu detach".split()  # noqa: SIM905
)
_ROOTS = frozenset(("div", "sqrt", "rsqrt", "reciprocal"))
_DEAR = 8  # a value at least this costly is stored rather than computed once per point of a wider loop
_QUICK = 2  # a value that costs no more is computed again rather than stored and gathered
_DEPTH = 16  # maps written into each other at most this deep, so that expressions stay readable and shallow


def kept_maps(statements: tuple[Statement, ...], results: set[str], operands: set[str], ranges: Ranges) -> set[str]:
    """The maps that are computed once; `operands` have to be in memory.

    A map that is read with a fill has to be there as a tensor of its own, and so does one that is read where a check is
    needed: unless it is quick, and reads a tensor at the same position, which is then checked in its place.
    """
    maps = {s.target: s for s in statements if isinstance(s, Compute) and s.op is None}
    kept: set[str] = set()
    spread: set[str] = set()  # maps that some reader evaluates at more points than they have
    padded: set[str] = set()
    read: set[str] = set()
    needed = operands | _deep(statements, maps) | _compared(statements, maps)
    for s in reversed(statements):
        name = s.target
        dear = name in maps and _cost(maps[name].body) >= _DEAR
        if name in needed | padded or (dear and (name in spread or (name in results and name in read))):
            kept.add(name)
        inherits = name in spread and name not in kept
        for loops, e in parts(s):
            labels = {label(a) for a in loops}
            for r in (n for n in walk(e) if isinstance(n, Read) and n.tensor in maps):
                read.add(r.tensor)
                if inherits or labels - _used(r):
                    spread.add(r.tensor)
                if r.fill is not None or not _checked(r, loops, maps, ranges):
                    padded.add(r.tensor)
    return kept & set(maps)


def _compared(statements: Iterable[Statement], maps: Mapping[str, Compute]) -> set[str]:
    """Maps of which values are looked for that are equal to others: computed again they might not be."""
    tests = (n for s in statements for _, e in parts(s) for n in walk(e) if is_exact_test(n))
    found = {a.tensor for n in tests if len({*children(n)}) > 1 for a in children(n) if isinstance(a, Read)}
    return {n for n in found & {*maps} if not is_reproducible(maps[n].body)}


def _checked(r: Read, loops: tuple[Loop, ...], maps: Mapping[str, Compute], ranges: Ranges) -> bool:
    """Whether no position that a map is read at can be out of range unnoticed, once the map is written in place."""
    if ranges.surely(r, loops):
        return True
    m = maps[r.tensor]
    pairs = zip(m.axes, r.at, strict=True)
    named = [(a, p) for a, p in pairs if isinstance(a, Axis) and not isinstance(p, Batch)]
    unsure = [a for a, p in named if not ranges.inside(p, a.extent, loops)]
    return _cost(m.body) <= _QUICK and all(_meets(m, a, maps, ranges) for a in unsure)


def _meets(m: Compute, a: Axis, maps: Mapping[str, Compute], ranges: Ranges) -> bool:
    """Whether all values of a map read some tensor of the same extent where the map itself is along an axis."""
    for r in always_read(m.body):
        sizes = ranges.shapes[r.tensor]
        for k in (k for k, p in enumerate(r.at) if r.fill is None and p == Index(a.name) and sizes[k] == a.extent):
            own = maps.get(r.tensor)
            along = None if own is None else own.axes[k]
            if own is None or (isinstance(along, Axis) and _meets(own, along, maps, ranges)):
                return True
    return False


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
