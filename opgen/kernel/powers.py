"""The largest value along a loop and the sum of exponentials relative to it, as one statement.

    acc m = max; for c < C: join m with x[c]
    acc s = sum; for c < C: join s with exp(x[c] - m)          powers m, s of x[c] along c < C

The sum may be relative to 0 instead where the maximum is not finite, as a local between the two says. Who computes both
at once need not go through what is read twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opgen.ir.program import Axis
from opgen.ir.scalar import ZERO, Apply, Index, Read, Scalar, reads, substitute
from opgen.kernel.model import Acc, Body, For, Join, Node, Store
from opgen.plan.model import Let


@dataclass(frozen=True, slots=True)
class Powers:
    """`most`: the maximum; `total`: the sum of `exp(value - most)`, along `loop`; `finite`: relative to finite ones."""

    most: Acc
    total: Acc
    loop: For
    value: Scalar
    finite: bool = False


def powers(body: Body) -> tuple[Node | Powers, ...]:
    """A body with such pairs where their maxima stood."""
    found: dict[int, Powers] = {}
    gone: set[int] = set()
    for i in range(len(body)):
        most = _fold(body, i)
        if most is None or most[0].op != "max" or i in gone:
            continue
        for k in range(i + 2, len(body) - 1):
            made = _pair(most, body[i + 2 : k], _fold(body, k))
            if made is not None and k not in gone:
                found[i] = made
                gone |= {i, i + 1, k, k + 1}
                break
            if not isinstance(body[k], Store | Let) or _changes(body[k], most[3]):
                break
    return tuple(found.get(i, n) for i, n in enumerate(body) if i in found or i not in gone)


_Folded = tuple[Acc, For, Axis, Scalar]


def _fold(body: Sequence[Node], at: int) -> _Folded | None:
    """An accumulator, the loop behind it and what that joins, if it does nothing else."""
    match body[at : at + 2]:
        case (Acc() as acc, For(loop=Axis() as along, body=(Join(name, value),)) as loop) if name == acc.name:
            return acc, loop, along, value
        case _:
            return None


def _pair(most: _Folded, between: Sequence[Node], other: _Folded | None) -> Powers | None:
    if other is None:
        return None
    (acc, loop, along, value), (total, again, other_along, power) = most, other
    match power:
        case Apply("exp", (Apply("sub", (same, Read() as by)),)) if total.op == "sum":
            finite = Let(by.tensor, _finite(acc)) in between
            alike = (along.extent, loop.role, loop.reverse) == (other_along.extent, again.role, again.reverse)
            moved = substitute(same, {Index(other_along.name): Index(along.name)})
            known = alike and moved == value and (finite or by == Read(acc.name, ()))
            return Powers(acc, total, loop, value, finite) if known else None
        case _:
            return None


def _finite(most: Acc) -> Scalar:
    m = Read(most.name, ())
    return Apply("where", (Apply("isfinite", (m,)), m, ZERO))


def _changes(node: Node, value: Scalar) -> bool:
    return isinstance(node, Store) and node.slot in {r.tensor for r in reads(value)}
