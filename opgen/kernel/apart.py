"""What a kernel stores for one result alone: in goes a body without loops, out come the stores that reads feed."""

from __future__ import annotations

from opgen.ir.scalar import Read, Scalar, walk
from opgen.kernel.model import Body, Store
from opgen.plan.model import Let


def fed(body: Body) -> dict[str, frozenset[str]]:
    """Of each tensor that is read at a point: the slots whose values it goes into."""
    lets: dict[str, frozenset[str]] = {}
    found: dict[str, set[str]] = {}

    def read(e: Scalar) -> frozenset[str]:
        own = [n for n in walk(e) if isinstance(n, Read)]
        tensors = (lets.get(n.tensor, frozenset[str]()) if not n.at else frozenset((n.tensor,)) for n in own)
        return frozenset[str]().union(*tensors)

    for node in body:
        if isinstance(node, Let):
            lets[node.name] = read(node.value)
        elif isinstance(node, Store):
            for tensor in read(node.value):
                found.setdefault(tensor, set()).add(node.slot)
    return {tensor: frozenset(slots) for tensor, slots in found.items()}
