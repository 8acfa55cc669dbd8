"""Products that are added up on their way into a sum: each goes in by itself, multiplied and added in one instruction.

join s with a*b - c*d        join s with a*b; join s with -(c*d)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opgen.ir.program import Kind
from opgen.ir.scalar import Apply, Scalar
from opgen.kernel.model import Acc, Body, Join, Node


def apart(body: Body, accs: Iterable[Acc]) -> Body:
    """What joins some accumulators, product by product."""
    sums = {a.name for a in accs if a.op == "sum" and a.kind is Kind.FLOAT}

    def split(node: Node) -> tuple[Node, ...]:
        if not isinstance(node, Join) or node.acc not in sums:
            return (node,)
        terms = tuple(_terms(node.value))
        return tuple(Join(node.acc, e) for e in terms) if all(map(_is_product, terms)) else (node,)

    return tuple(part for node in body for part in split(node))


def _terms(e: Scalar) -> Iterator[Scalar]:
    match e:
        case Apply("add", args):
            for a in args:
                yield from _terms(a)
        case Apply("sub", (a, b)):
            yield from _terms(a)
            yield Apply("neg", (b,))
        case _:
            yield e


def _is_product(e: Scalar) -> bool:
    match e:
        case Apply("mul", _):
            return True
        case Apply("neg", (a,)):
            return _is_product(a)
        case _:
            return False
