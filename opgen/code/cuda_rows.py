"""Rows: the accesses of a team whose places are the points of one shared loop, and nothing else moves in it.

In goes the body of a kernel of teams, out come the lines that name its rows. In its loops they are read by name, so
that what lies around a row is computed once, and the team says whether a row is held in registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opgen.code.cuda_scope import Scope, hole
from opgen.ir.program import Axis, Loop
from opgen.ir.scalar import ZERO, Batch, Dim, Index, Lit, Param, Position, Read, walk
from opgen.kernel.model import Atomic, Body, For, Role, Store
from opgen.kernel.walk import chain, inside, values

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
