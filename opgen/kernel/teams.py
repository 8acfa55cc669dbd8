"""Teams: how the points of a kernel are given to the threads of a device.

In goes a kernel as it was lowered and how its nest meets memory, out comes the same kernel with other roles of its
loops. Outer points are teams of threads, or threads where nothing is left to share out; atomic stores may meet, so that
all their points are threads; a loop that goes on from what it stored stays with one thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.ir.point import positions
from opgen.ir.program import Axis, Loop
from opgen.ir.scalar import Batch, Index, Lit, Param, reads, walk
from opgen.kernel.model import Atomic, Body, For, If, Join, Kernel, Node, Role, Tile
from opgen.kernel.walk import chain, inside, moving, parts, values, waits
from opgen.plan.model import Schedule


def teams(k: Kernel, schedule: Schedule) -> Kernel:
    """The kernel for a device."""
    body = tuple(map(_along_target, k.body))
    return replace(k, body=tuple(_node(n, _role(p, schedule)) for p in parts(body) for n in p))


def without_batch(k: Kernel, schedule: Schedule) -> Schedule:
    """How a nest that folds once meets memory in calls whose batch is empty, where another loop may be the fastest."""
    outer, body = chain(k.body, (Role.PARALLEL,))
    folded = [n for n in body if isinstance(n, For)]
    inner, within = chain(tuple(folded), (Role.SERIAL,))
    loops = (*outer, *inner)
    one = len(folded) == 1 and any(isinstance(n, Join) for n in within)
    if schedule not in (Schedule.ROW, Schedule.COLUMN) or not one or not any(isinstance(a, Axis) for a in outer):
        return schedule
    found = [r for e in values(within) for r in reads(e) if len(r.at) > 1]
    most = max((len(moving(r.at, loops)) for r in found), default=0)
    row = column = 0
    for r in found:
        last = moving([p for p in r.at if not isinstance(p, Batch)][-1:], loops)
        if last and len(moving(r.at, loops)) == most:
            row, column = (row + 1, column) if last <= {*inner} else (row, column + 1)
    return schedule if row == column else Schedule.COLUMN if column > row else Schedule.ROW


def _role(part: Body, schedule: Schedule) -> Role:
    """How the inner loops of a part run."""
    tiles = {n.name for n in inside(part) if isinstance(n, Tile)}
    if any(isinstance(n, Atomic) and n.slot not in tiles for n in inside(part)):
        return Role.PARALLEL
    loops = [n for n in chain(part, (Role.PARALLEL,))[1] if isinstance(n, For)]
    outer, _ = chain(part, (Role.PARALLEL,))
    if any(map(waits, loops)) or (loops and all(_is_window(outer, n) for n in loops)):
        return Role.SERIAL
    folded = len(loops) == 1 and any(isinstance(n, Join) for n in inside(loops[0].body))
    return Role.CHUNKS if folded and schedule in (Schedule.COLUMN, Schedule.WHOLE) else Role.TEAM


def _along_target(node: Node) -> Node:
    """Loops around what is added to places that others share, with the one that goes along memory there as the last."""
    loops: list[For] = []
    body: Body = (node,)
    while len(body) == 1 and isinstance(body[0], For) and not body[0].reverse:
        loops.append(body[0])
        body = body[0].body
    places = {n.at[-1:] for n in inside(body) if isinstance(n, Atomic)}
    last = [a for a in loops if places == {positions((a.loop,))}]
    for a in reversed([*(a for a in loops if a not in last), *last]):
        body = (replace(a, body=body),)
    return body[0]


def _is_window(outer: Sequence[Loop], fold: For) -> bool:
    """Whether a point reads a few of its neighbours, as many as params tell: one thread has them all."""
    loops, body = chain((fold,), (Role.SERIAL,))
    points = {Index(a.name) for a in outer if isinstance(a, Axis)}
    taps = {Index(a.name) for a in loops if isinstance(a, Axis) and isinstance(a.extent, Param | Lit)}
    places = [{*walk(p)} for e in values(body) for r in reads(e) for p in r.at if not isinstance(p, Batch)]
    beside = {tap for place in places if points & place for tap in taps & place}
    return len(taps) == len(loops) and beside == taps


def _node(node: Node, role: Role) -> Node:
    match node:
        case For(body=body, role=Role.SERIAL):
            alone = len(body) == 1 and isinstance(body[0], For)
            within = role if alone or role is Role.PARALLEL else Role.SERIAL  # one thread has a point to itself
            return replace(node, role=role, body=tuple(_node(n, within) for n in body))
        case For(body=body):
            return replace(node, body=tuple(_node(n, role) for n in body))
        case If(body=body, otherwise=otherwise):
            then = tuple(_node(n, role) for n in body)
            return replace(node, body=then, otherwise=tuple(_node(n, role) for n in otherwise))
        case _:
            return node
