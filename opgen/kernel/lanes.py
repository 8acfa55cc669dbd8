"""Lanes: which loop of a kernel runs side by side, as the lanes of a vector.

In goes a kernel as it was lowered and how its nest meets memory, out comes the same kernel with other roles of its
loops. Where only the call tells which loop moves along memory, both versions are there, under a condition.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import reduce
from typing import TypeGuard

from opgen.ir.program import Axis, Loop
from opgen.ir.scalar import ONE, Batch, Dim, Index, Lit, Position, Read, both, call, reads
from opgen.kernel.checks import Access
from opgen.kernel.decays import decays
from opgen.kernel.idle import spared
from opgen.kernel.kept import kept
from opgen.kernel.model import Acc, Atomic, Body, For, If, Kernel, Node, Role
from opgen.kernel.split import split
from opgen.kernel.unroll import unrolled
from opgen.kernel.walk import chain, inside, loops_of, moving, straight, values, waits
from opgen.plan.model import Nest, Schedule, Step

_SHORT = 16  # points that are too few for lanes
Roles = Callable[[Role], Role]  # the role of a loop, from what it was lowered as


def lanes(k: Kernel, schedule: Schedule, doubtful: Collection[Access] = frozenset()) -> Kernel:
    """The kernel for a processor with vectors; `doubtful` are accesses that are checked in it."""
    k = split(decays(unrolled(k)), doubtful)
    if not any(isinstance(n, For) and n.role is Role.SERIAL for n in inside(k.body)):
        schedule = Schedule.MAP
    if schedule is Schedule.COLUMN and _batch_last(k.body):
        one = call("eq", Dim("..."), ONE)
        return spared(kept(replace(k, body=(If(one, _body(k.body, _along_rows), _body(k.body, _across)),))))
    k = parallel_first(k)
    k = replace(k, body=tuple(map(_long_last, k.body)))
    roles = {Schedule.ROW: _along_rows, Schedule.WHOLE: _in_chunks}.get(schedule, _across)
    return spared(kept(replace(k, body=tuple(_scheduled(n, roles) for n in k.body))))


def _scheduled(node: Node, roles: Roles) -> Node:
    if _adds_along(node, _last):
        return _node(node, _along_rows)
    across = _node(node, roles)
    if _adds_along(node, _found_along):
        return _where_long(_own(node), _node(node, _along_rows), across)
    match chain((node,), (Role.PARALLEL,)):
        case outer, (For(body=body) as turns,) if rows := _rows(turns):
            return _where_long(rows, _around(outer, (replace(turns, body=_body(body, _along_rows)),))[0], across)
        case _:
            return across


def _where_long(rows: Sequence[Loop], along: Node, across: Node) -> Node:
    """One version where rows are long enough for lanes, and the other one where they are not."""
    if any(map(_is_short, rows)):
        return across
    unknown = [a.extent for a in dict.fromkeys(rows) if isinstance(a, Axis) and not isinstance(a.extent, Lit)]
    long = [call("ge", extent, Lit(_SHORT)) for extent in unknown]
    return If(reduce(both, long), (along,), (across,)) if long else along


def _rows(turns: For) -> list[Loop]:
    """The loops along rows that each place of what goes on from place to place is made of: lanes where they are long.

    None where points of a row fold, each of which would be a run of its own.
    """
    if turns.role is not Role.SERIAL or not waits(turns):
        return []
    inner = [chain((n,), (Role.SERIAL,)) for n in turns.body if isinstance(n, For)]
    if any(isinstance(n, Acc | For) for _, body in inner for n in body):
        return []
    return [loops[-1] for loops, _ in inner]


def parallel_first(k: Kernel) -> Kernel:
    """Loops around an atomic store with the parallel ones outside: the others keep their order at each point."""
    return replace(k, body=tuple(_parallel_first(n) for n in k.body))


def _parallel_first(node: Node) -> Node:
    loops: list[For] = []
    body: Body = (node,)
    while len(body) == 1 and isinstance(body[0], For):
        loops.append(body[0])
        body = body[0].body
    if not any(isinstance(n, Atomic) for n in inside(body)):
        return node
    shared = [a for a in loops if a.role is Role.PARALLEL]
    for a in reversed([*shared, *(a for a in loops if a.role is not Role.PARALLEL)]):
        body = (replace(a, body=body),)
    return body[0]


def _long_last(node: Node) -> Node:
    """Outer loops with a short one that would be the lanes as the first of them, but where all accesses move with it.

    Those that do are merged with the loops before it, into one that is long.
    """
    outer, body = chain((node,), (Role.PARALLEL,))
    short = [a for a in outer if _is_short(a)]
    if not short or outer[-1] is not short[-1] or len(short) == len(outer):
        return node
    here = Index(short[-1].name)
    if all(here in r.at for group in straight(body) for e in values(group) for r in reads(e) if r.at):
        return node
    return _around([*short, *(a for a in outer if a not in short)], body)[0]


def _around(outer: Sequence[Loop], body: Body) -> Body:
    """A body inside of loops whose points are independent."""
    for a in reversed(outer):
        body = (For(a, body, Role.PARALLEL),)
    return body


def _is_short(a: Loop) -> TypeGuard[Axis]:
    return isinstance(a, Axis) and isinstance(a.extent, Lit) and a.extent.value < _SHORT


def _adds_along(node: Node, innermost: Callable[[tuple[Position, ...]], tuple[Position, ...]]) -> bool:
    """Whether what adds to shared places moves along memory in a loop that keeps its order."""
    loops = loops_of((node,))
    atomics = [n for n in inside((node,)) if isinstance(n, Atomic)]
    own = set(_own(node))
    accesses = [at for n in atomics for at in (n.at, *(r.at for e in values((n,)) for r in reads(e)))]
    most = max((len(moving(at, loops)) for at in accesses), default=0)
    last = [moving(innermost(at), loops) for at in accesses if len(moving(at, loops)) == most]
    return bool(own) and sum(a <= own for a in last) > sum(not a <= own for a in last)


def _own(node: Node) -> list[Loop]:
    """The loops that keep their order."""
    return [n.loop for n in inside((node,)) if isinstance(n, For) and n.role is Role.SERIAL]


def _last(at: tuple[Position, ...]) -> tuple[Position, ...]:
    return at[-1:]


def _found_along(at: tuple[Position, ...]) -> tuple[Position, ...]:
    """The last position; one that is read from data moves along memory with what it is read along, if at all."""
    match at[-1:]:
        case (Read(at=(*_, last)),):
            return (last,)
        case last:
            return last


def schedule_of(step: Step) -> Schedule:
    """How a step meets memory: what is no nest runs side by side at its outer points."""
    return step.schedule if isinstance(step, Nest) else Schedule.MAP


def _along_rows(role: Role) -> Role:
    return Role.LANES if role is Role.SERIAL else role


def _across(role: Role) -> Role:
    return Role.LANES if role is Role.PARALLEL else role


def _in_chunks(role: Role) -> Role:
    return Role.CHUNKS if role is Role.SERIAL else role


def _body(body: Body, roles: Roles) -> Body:
    return tuple(_node(n, roles) for n in body)


def _node(node: Node, roles: Roles) -> Node:
    match node:
        case For(body=body, role=role):
            return replace(node, role=roles(role), body=_body(body, roles))
        case If(body=body, otherwise=otherwise):
            return replace(node, body=_body(body, roles), otherwise=_body(otherwise, roles))
        case _:
            return node


def _batch_last(body: Body) -> bool:
    """Whether a kernel folds across the batch, which may be empty, as the innermost of its outer loops."""
    outer: list[Loop] = []
    while len(body) == 1 and isinstance(body[0], For) and body[0].role is Role.PARALLEL:
        outer.append(body[0].loop)
        body = body[0].body
    return len(outer) > 1 and isinstance(outer[-1], Batch)
