"""Rows of several loops: the accesses of a team whose places are the points of a chain of loops, as the positions of a
channel in all images of a batch.

In goes the body of a kernel of teams; the scope learns which accesses are neighbours along the last loop of a chain,
which a team reads and stores in vectors. All lanes of one are at the same point of the loops around the last, so that
this is computed once for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from opgen.code.cuda_rows import VECTOR, certain, reads_of, stored_once, stores_of
from opgen.code.cuda_scope import Access, Scope, along
from opgen.ir.program import Axis, Loop
from opgen.ir.scalar import Apply, Batch, Dim, Index, Lit, Param, Read, walk
from opgen.kernel.model import Atomic, Body, Role, Store
from opgen.kernel.walk import chain, inside, loop_of


def nests_along(scope: Scope, outer: Sequence[Loop], body: Body) -> list[str]:
    """Notes what goes along the last loops of chains; the lines name what is stored there."""
    if scope.rows.sums:  # which are joined place by place
        return []
    slots = {n.slot for n in inside(body) if isinstance(n, Store | Atomic)}
    lines: list[str] = []
    once = stored_once(body)
    for found in filter(None, map(loop_of, body)):
        loops, within = chain(found[:1], (Role.TEAM,))
        if len(loops) == 1 and isinstance(loops[0], Axis):
            continue
        fixed = {a.name for a in (*outer, *loops[:-1]) if isinstance(a, Axis)}
        taken: dict[Access, int] = {}
        met = certain(within)
        for slot, at in (*reads_of(within, slots), *stores_of(within, once)):
            here = _goes_along(scope, (slot, at), loops[-1], fixed, sure=Read(slot, at) in met)
            if here is not None and all(k == here for (name, _), k in taken.items() if name == slot):
                taken[slot, at] = here
        if slots.issuperset(slot for slot, _ in taken):  # nothing is read so
            continue
        scope.rows.nests[loops] = scope.rows.nests.get(loops, frozenset()) | taken.keys()
        scope.rows.dims |= {slot: here for (slot, _), here in taken.items()}
        for slot in dict.fromkeys(slot for slot, _ in taken if slot in slots):
            name = scope.rows.written[slot] = scope.fresh(f"{slot}_lanes")
            lines.append(f"auto {name} = rt::written<Team, {scope.rows.dims[slot]}>({scope.tensor(slot)});")
    return lines


@contextmanager
def in_lanes(scope: Scope, loops: tuple[Loop, ...]) -> Iterator[None]:
    """Within: places are those of lanes, next to the first of each vector."""
    near, last = scope.rows.nests.get(loops, frozenset()), loops[-1]
    before = scope.loops, scope.place
    scope.rows.near = near
    if near and isinstance(last, Axis):
        scope.rows.first = scope.loops[last.name]
        scope.loops = {**scope.loops, last.name: f"({scope.rows.first} + rt::lane(at))"}
    elif near:
        scope.rows.first = scope.place
        scope.place = f"rt::beside({scope.place}, rt::lane(at))"
    yield
    scope.rows.near, scope.rows.first = frozenset(), ""
    scope.loops, scope.place = before


def _goes_along(scope: Scope, access: Access, last: Loop, fixed: set[str], *, sure: bool) -> int | None:
    """Which position moves with the last loop, one by one, where the others stay with what lies around it.

    One that is `sure` to be met may be where a host has to check it.
    """
    slot, at = access
    if isinstance(last, Axis) and (Index(last.name) not in at or _is_odd(last)):
        return None
    here = along(at, last)
    if len(here) != 1 or scope.rows.dims.get(slot, here[0]) != here[0] or slot not in scope.formal.slots:
        return None
    if any(scope.doubtful(slot, k, p, told=sure) for k, p in enumerate(at)):
        return None
    parts = [n for k, p in enumerate(at) if k != here[0] and not isinstance(p, Batch) for n in walk(p)]
    steady = all(isinstance(n, Lit | Dim | Param | Apply) or (isinstance(n, Index) and n.name in fixed) for n in parts)
    return here[0] if steady else None


def _is_odd(axis: Axis) -> bool:
    """Whether it is certain that no vectors fit."""
    return isinstance(axis.extent, Lit) and axis.extent.value % VECTOR != 0
