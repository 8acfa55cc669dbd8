"""Exponentials of what is below a maximum: `exp(x - top)` as `decay(top - x)`, which needs not ask for the other sign.

In goes a kernel as it was lowered, out comes the same kernel. That `x` is below the maximum is known where all of it
was joined into that, under no condition; locals count as what they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from opgen.ir.program import Kind
from opgen.ir.scalar import Apply, Read, Scalar, transform
from opgen.kernel.model import Acc, Atomic, Body, For, If, Join, Kernel, Node, Store
from opgen.kernel.walk import bound, inside, loops_of
from opgen.plan.model import Let

Locals = Mapping[Scalar, Scalar]  # what locals are, by their reads


def decays(k: Kernel) -> Kernel:
    """The kernel with the exponentials that cannot overflow as such."""
    named = [getattr(a, "name", "...") for a in loops_of(k.body)]
    highest = {n.name for n in bound(k.body).values() if isinstance(n, Acc) and n.op == "max" and n.kind is Kind.FLOAT}
    if not highest:
        return k
    joins = [n.acc for n in inside(k.body) if isinstance(n, Join)]
    tops = {acc: x for acc, x in _joined(k.body, {}) if acc in highest and joins.count(acc) == 1}
    if not tops or len({*named}) < len(named):
        return k
    return replace(k, body=_body(k.body, {}, tops))


def _joined(body: Body, local: Locals) -> Iterator[tuple[str, Scalar]]:
    """What is joined under no condition, without locals."""
    known = dict(local)
    for n in body:
        match n:
            case Let(name=name, value=value):
                known[Read(name, ())] = _without(value, known)
            case Join(acc=acc, value=value):
                yield acc, _without(value, known)
            case For(body=inner):
                yield from _joined(inner, known)
            case _:
                pass


def _without(e: Scalar, local: Locals) -> Scalar:
    return transform(e, lambda n: local.get(n, n))


def _body(body: Body, local: Locals, tops: Mapping[str, Scalar]) -> Body:
    known, made = dict(local), list[Node]()

    def below(e: Scalar) -> Scalar:
        match e:
            case Apply("exp", (Apply("sub", (x, Read(top, ()) as least)),)) if tops.get(top) == _without(x, known):
                return Apply("decay", (Apply("sub", (least, x)),))
            case _:
                return e

    for n in body:
        match n:
            case For(body=inner):
                made.append(replace(n, body=_body(inner, known, tops)))
            case If(body=then, otherwise=otherwise):
                made.append(replace(n, body=_body(then, known, tops), otherwise=_body(otherwise, known, tops)))
            case Let(name=name, value=value):
                known[Read(name, ())] = _without(value, known)
                made.append(replace(n, value=transform(value, below)))
            case Join(value=value) | Store(value=value) | Atomic(value=value):
                made.append(replace(n, value=transform(value, below)))
            case _:
                made.append(n)
    return tuple(made)
