"""A loop that stores a constant all along unless a condition holds that is the same along it: two loops, one of them
for either side, of which the second computes and reads nothing.

    for c < C                                 if keep
      y[n, c] = where(keep, x[n, c], 0)         for c < C
                                                  y[n, c] = x[n, c]
                                              else
                                                for c < C
                                                  y[n, c] = 0
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from opgen.ir.lazy import deciding
from opgen.ir.program import Axis
from opgen.ir.scalar import Apply, Scalar, all_of, both, is_constant, mentions, reads, transform
from opgen.kernel.model import Body, For, If, Store
from opgen.kernel.walk import alive
from opgen.kernel.wanted import opener
from opgen.plan.model import Let


def sides(loop: For) -> If | None:
    """A loop along an axis as two; None where it has no such condition, or does more than store."""
    stores = [n for n in loop.body if isinstance(n, Store)]
    if not isinstance(loop.loop, Axis) or not stores or not all(isinstance(n, Let | Store) for n in loop.body):
        return None
    opened = opener(loop.body)
    found = [_choice(opened(n.value), loop.loop) for n in stores]
    common = [c for c in found[0][0] if all(c in conditions for conditions, _ in found)]
    if not common:
        return None
    decided = deciding(lambda e: opened(e) in common)
    then = tuple(replace(n, value=transform(n.value, decided)) for n in loop.body if isinstance(n, Let | Store))
    otherwise: Body = tuple(replace(n, value=other) for n, (_, other) in zip(stores, found, strict=True))
    return If(reduce(both, common), (replace(loop, body=alive(then)),), (replace(loop, body=otherwise),))


def _choice(e: Scalar, along: Axis) -> tuple[tuple[Scalar, ...], Scalar]:
    """The conditions that stay as they are along a loop, and the constant that a value is where one does not hold."""
    match e:
        case Apply("where", (condition, _, other)) if is_constant(other):
            return tuple(c for c in all_of(condition) if _stays(c, along)), other
        case _:
            return (), e


def _stays(condition: Scalar, along: Axis) -> bool:
    return along.name not in mentions(condition)[0] and not any(r.at for r in reads(condition))
