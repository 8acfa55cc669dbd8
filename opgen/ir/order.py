"""The nodes of an expression in the order in which they depend on each other."""

from __future__ import annotations

from opgen.ir.scalar import Scalar, children


def outermost_first(e: Scalar) -> list[Scalar]:
    """Every distinct node once, behind all nodes that it is an operand of, first operands first."""
    order: dict[Scalar, None] = {}

    def look(a: Scalar) -> None:
        for c in reversed(children(a)):
            if c not in order:
                look(c)
        order[a] = None

    look(e)
    return [*reversed(order)]


def occurrences(e: Scalar) -> dict[Scalar, int]:
    """At how many places of an expression each of its nodes stands, as it would be written out."""
    order = outermost_first(e)
    found = dict.fromkeys(reversed(order), 0)
    found[e] = 1
    for a in order:
        for c in children(a):
            found[c] += found[a]
    return found
