"""Partial derivatives of one scalar body with respect to the tensors it reads.

The accesses of a body are replaced by numbered placeholders before sympy sees it. Bodies of the same form, which are
common in long programs, are then differentiated once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from opgen.diff.symbolic import differentiate
from opgen.ir.program import Function
from opgen.ir.scalar import ONE, Apply, Read, Scalar, rebuild, substitute

_REMEMBERED = 4096


def value_reads(e: Scalar) -> tuple[Read, ...]:
    """The distinct accesses whose value enters a body (not those inside positions), in order of appearance."""
    found: dict[Read, None] = {}
    stack = [e]
    while stack:
        node = stack.pop()
        match node:
            case Read(fill=fill):
                found[node] = None
                if fill is not None:
                    stack.append(fill)
            case Apply(args=args):
                stack.extend(reversed(args))
            case _:
                rebuild(node, lambda a: (stack.append(a), a)[1])
    return tuple(found)


def partials(body: Scalar, wrt: Sequence[Read], functions: Sequence[Function] = ()) -> tuple[Scalar, ...]:
    """The derivative of `body` with respect to each access in `wrt`, in that order."""
    if isinstance(body, Read):
        return tuple(ONE for _ in wrt)
    into: dict[Scalar, Scalar] = {}
    out: dict[Scalar, Scalar] = {}
    for k, r in enumerate(value_reads(body)):
        hole = Read(f"#{k}", ())
        into[r], out[hole] = hole, r
    holes = tuple(into[r] for r in wrt)
    found = _remembered(substitute(body, into), holes, tuple(functions))
    return tuple(substitute(p, out) for p in found)


@lru_cache(maxsize=_REMEMBERED)
def _remembered(body: Scalar, holes: tuple[Read, ...], functions: tuple[Function, ...]) -> tuple[Scalar, ...]:
    return differentiate(body, holes, functions)
