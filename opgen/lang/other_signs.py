"""What is written with signs of other languages: `i = j` for an equality, and `k & 15` for the bits of integers.

Both sides in, what is meant out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.diagnostics.model import Span
from opgen.lang.nodes import Call, Compare, Expr, Logic, Number


def equal(left: Expr, right: Expr) -> Expr:
    """What is meant by `a > 0 and i = j`: the sides of a `=` are the nearest ones."""
    match left, right:
        case Logic(operands=(*others, last)), _:
            return replace(left, operands=(*others, equal(last, right)))
        case _, Logic(operands=(first, *others)):
            return replace(right, operands=(equal(left, first), *others))
        case _:
            return Compare((left, right), ("==",), left.span.to(right.span))


def of_bits(sign: str, sides: Sequence[Expr], at: Span) -> Call | None:
    """`k & 15`, which no condition can be."""
    name = {"&": "bitand", "|": "bitor"}.get(sign)
    if name is None or len(sides) != 2 or not any(isinstance(side, Number) for side in sides):
        return None
    return Call(name, tuple(sides), sides[0].span.to(sides[1].span), at)
