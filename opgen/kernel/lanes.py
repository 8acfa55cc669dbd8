"""Lanes: which loop of a kernel runs side by side, as the lanes of a vector.

In goes a kernel as it was lowered and how its nest meets memory, out comes the same kernel with other roles of its
loops. Where only the call tells which loop moves along memory, both versions are there, under a condition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from opgen.ir.program import Loop
from opgen.ir.scalar import ONE, Batch, Dim, call
from opgen.kernel.model import Atomic, Body, For, If, Kernel, Node, Role
from opgen.kernel.walk import inside
from opgen.plan.model import Nest, Schedule, Step

Roles = Callable[[Role], Role]  # the role of a loop, from what it was lowered as


def lanes(k: Kernel, schedule: Schedule) -> Kernel:
    """The kernel for a processor with vectors."""
    if schedule is Schedule.COLUMN and _batch_last(k.body):
        one = call("eq", Dim("..."), ONE)
        return replace(k, body=(If(one, _body(k.body, _along_rows), _body(k.body, _across)),))
    k = parallel_first(k)
    roles = {Schedule.ROW: _along_rows, Schedule.WHOLE: _in_chunks}.get(schedule, _across)
    return replace(k, body=_body(k.body, roles))


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
