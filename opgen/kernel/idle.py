"""Loops that fold nothing where a condition on params does not hold: they are left out then.

In goes a kernel with its roles, out comes one in which such a loop stands under that condition, which is decided in it.
What is folded is the empty value otherwise: the same as what the loop would have found.

    acc total: float = sum                    acc total: float = sum
    for c < C                                 if smoothing > 0
      join total with where(                    for c < C
        smoothing > 0, x[n, c], 0)                join total with x[n, c]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

from opgen.ir.lazy import deciding
from opgen.ir.reductions import REDUCTIONS
from opgen.ir.scalar import Apply, Scalar, all_of, both, transform
from opgen.kernel.model import Acc, Body, For, If, Join, Kernel, Node, Role
from opgen.kernel.walk import alive, inside
from opgen.kernel.wanted import opener
from opgen.plan.asked import turns_off
from opgen.plan.model import Let


def spared(k: Kernel) -> Kernel:
    """The kernel without loops that fold nothing."""
    return replace(k, body=_body(k.body, ()))


def _body(body: Body, around: Body) -> Body:
    """A body; `around`: what stands in those that it is in."""
    made = tuple(_node(n, (*around, *body)) for n in body)
    return body if made == body else alive(made)


def _node(node: Node, around: Body) -> Node:
    match node:
        case For() if (found := _conditional(node, around)) is not None:
            return found
        case For(body=inner, role=Role.PARALLEL | Role.LANES):
            return replace(node, body=_body(inner, around))
        case If(body=then, otherwise=otherwise):
            return replace(node, body=_body(then, around), otherwise=_body(otherwise, around))
        case _:
            return node


def _conditional(loop: For, around: Body) -> If | None:
    """A loop that folds, under the conditions on params without which it folds nothing; None where there are none."""
    within = tuple(inside(loop.body))
    ops = {n.name: n.op for n in around if isinstance(n, Acc)}
    if not all(isinstance(n, For | Let | Join) for n in within):
        return None
    opened = opener((*around, *within))
    joins = [n for n in within if isinstance(n, Join)]
    conditions = [_conditions(opened(n.value), REDUCTIONS[ops[n.acc]].identity) for n in joins]
    common = [c for c in dict.fromkeys(conditions[0]) if all(c in found for found in conditions)] if joins else []
    if not common:
        return None
    settled = deciding(lambda e: opened(e) in common)
    return If(reduce(both, common), (replace(loop, body=_settled(loop.body, settled)),))


def _conditions(e: Scalar, nothing: Scalar | None) -> list[Scalar]:
    """The conditions on params without which a value is what changes nothing."""
    found: list[Scalar] = []
    while isinstance(e, Apply) and e.fn == "where" and e.args[2] == nothing:
        found += filter(turns_off, all_of(e.args[0]))
        e = e.args[1]
    return found


def _settled(body: Body, settled: Callable[[Scalar], Scalar]) -> Body:
    found: list[Node] = []
    for n in body:
        if isinstance(n, For):
            found.append(replace(n, body=_settled(n.body, settled)))
        elif isinstance(n, Let | Join):
            found.append(replace(n, value=transform(n.value, settled)))
    return alive(tuple(found))
