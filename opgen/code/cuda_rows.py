"""Rows: the accesses of a team whose places are the points of one shared loop, and nothing else moves in it; and lines,
which are those of a thread that folds for neighbouring points.

In goes the body of a kernel of teams, out come the lines that name its rows. In its loops they are read by name, so
that what lies around a row is computed once, and the team says whether a row is held in registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from opgen.code.cuda_scope import Scope, hole
from opgen.ir.lazy import always_read
from opgen.ir.program import Axis, Loop
from opgen.ir.scalar import ZERO, Batch, Dim, Index, Lit, Param, Position, Read, Scalar, walk
from opgen.kernel.model import Atomic, Body, For, Role, Store
from opgen.kernel.walk import chain, inside, values
from opgen.plan.model import Let

_VECTOR = 8  # elements, of 16 bits


def rows_along(scope: Scope, outer: Sequence[Loop], body: Body) -> list[str]:
    """Names the rows of a kernel."""
    stored = {n.slot for n in inside(body) if isinstance(n, Store | Atomic)}
    around = {a.name for a in outer if isinstance(a, Axis)}
    lines: list[str] = []
    for loop, inner in _loops(body):
        for slot, at in dict.fromkeys((*_reads(inner, stored), *_stores(inner, body))):
            new = (slot, hole(at, loop)) not in scope.rows.names and _is_row(scope, slot, at, loop, around)
            if new and scope.rows.along(slot) in ([], [at.index(Index(loop.name))]):
                lines.append(_named(scope, slot, at, loop, stored))
    return lines


def lines_across(scope: Scope, outer: Sequence[Loop], loops: Sequence[Loop], body: Body) -> list[str]:
    """Names what neighbouring points read, at one place of the inner loops, and what they store."""
    last = outer[-1] if outer else None
    if not isinstance(last, Axis):
        return []
    stored = {n.slot for n in inside(body) if isinstance(n, Store | Atomic)}
    around = {a.name for a in (*outer[:-1], *loops) if isinstance(a, Axis)}
    lines: list[str] = []
    added = {n.slot for n in body if isinstance(n, Atomic)}
    cells = [(n.slot, n.at) for n in body if isinstance(n, Atomic)]
    for slot, at in dict.fromkeys((*_reads(body, stored), *_stores(body, body), *cells)):
        here = Index(last.name)
        if list(at).count(here) != 1 or scope.rows.along(slot) not in ([], [at.index(here)]):
            continue
        if not _is_row(scope, slot, at, last, around) and not _is_told(scope, slot, at, last, body, stored):
            continue
        method = "write_line" if slot in stored else "read_line"
        method += "_or_zero" if slot not in stored and scope.formal.slots[slot].optional else ""
        name = scope.fresh(f"{slot}_line")
        scope.rows.names[slot, hole(at, last)] = name, last.extent
        tensor, places = scope.tensor(slot), scope.positions(at, slot)
        if slot in added:
            lines.append(f"auto* const {name} = {tensor}.at({places});")
        else:
            const = "" if slot in stored else "const "
            lines.append(f"{const}auto {name} = rt::{method}<V>({tensor}, {places});")
    return lines if any("rt::read" in line for line in lines) else _forgotten(scope)


def _forgotten(scope: Scope) -> list[str]:
    scope.rows.names.clear()
    return []


def _is_told(scope: Scope, slot: str, at: Sequence[Position], last: Axis, body: Body, stored: set[str]) -> bool:
    """Whether what is read is at a place that data tell, wherever the last loop is, and is read at every point."""
    if slot not in scope.formal.slots or scope.doubtful(slot, list(at).index(Index(last.name)), Index(last.name)):
        return False
    places = [n for p in at if p != Index(last.name) and not isinstance(p, Batch) for n in walk(p)]
    moves = any(n == Index(last.name) for n in places)
    data = [n for n in places if isinstance(n, Read)]
    outside = all(n.at and n.fill is None and n.tensor not in stored for n in data)
    added = any(isinstance(n, Atomic) and (n.slot, n.at) == (slot, at) for n in body)
    return bool(data) and outside and not moves and (added or Read(slot, tuple(at)) in _certain(body))


def _certain(body: Body) -> set[Scalar]:
    """What is read at every point, whatever the data."""
    return {r for n in body if isinstance(n, Let | Store) for r in always_read(n.value)}


@contextmanager
def across(scope: Scope, outer: Sequence[Loop], named: Sequence[str]) -> Iterator[None]:
    """Within: points are those of a loop over the lanes of what is named."""
    loops = scope.loops
    if named and isinstance(outer[-1], Axis):
        own = loops[outer[-1].name]
        scope.rows.loop, scope.loops = outer[-1], {**loops, outer[-1].name: f"({own} + at)"}
    yield
    scope.rows.loop, scope.loops = None, loops


def _loops(body: Body) -> Iterator[tuple[Axis, Body]]:
    """The loops that are shared out along one axis."""
    for node in body:
        if isinstance(node, For):
            loops, inner = chain((node,), (Role.TEAM,))
            if len(loops) == 1 and isinstance(loops[0], Axis):
                yield loops[0], inner


def _reads(body: Body, stored: set[str]) -> Iterator[tuple[str, tuple[Position, ...]]]:
    for e in values(body):
        for r in walk(e):
            if isinstance(r, Read) and r.at and r.fill is None and r.tensor not in stored:
                yield r.tensor, r.at


def _stores(body: Body, whole: Body) -> Iterator[tuple[str, tuple[Position, ...]]]:
    """What is stored at every point, once, and nowhere read."""
    read = {r.tensor for e in values(whole) for r in walk(e) if isinstance(r, Read)}
    everywhere = [n.slot for n in inside(whole) if isinstance(n, Store | Atomic)]
    for n in body:
        if isinstance(n, Store) and n.slot not in read and everywhere.count(n.slot) == 1:
            yield n.slot, n.at


def _is_row(scope: Scope, slot: str, at: Sequence[Position], loop: Axis, around: set[str]) -> bool:
    if isinstance(loop.extent, Lit) and loop.extent.value % _VECTOR:  # few, and never whole vectors
        return False
    if slot not in scope.formal.slots or any(scope.doubtful(slot, k, p) for k, p in enumerate(at)):
        return False
    here = Index(loop.name)
    rest = [p for p in at if p != here and not isinstance(p, Batch)]
    parts = [n for p in rest for n in walk(p)]
    fixed = all(isinstance(n, Lit | Dim | Param) or (isinstance(n, Index) and n.name in around) for n in parts)
    return list(at).count(here) == 1 and fixed


def _named(scope: Scope, slot: str, at: Sequence[Position], loop: Axis, stored: set[str]) -> str:
    """The line that names a row."""
    here = Index(loop.name)
    places = scope.positions([ZERO if p == here else p for p in at], slot)
    name = scope.fresh(f"{slot}_row")
    tensor = scope.tensor(slot)
    scope.rows.names[slot, hole(at, loop)] = name, loop.extent
    axis = list(at).index(here)
    if slot in stored:
        return f"auto {name} = rt::write_row<Team, {axis}>({tensor}, {places});"
    method = "read_row_or_zero" if scope.formal.slots[slot].optional else "read_row"
    return f"const auto {name} = rt::{method}<Team, {axis}>({scope.size(loop)}, {tensor}, {places});"
