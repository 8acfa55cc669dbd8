"""An equality that is written with the sign of an assignment, as in `where(i = j, x, 0)`.

Both sides in, the condition out.
"""

from __future__ import annotations

from dataclasses import replace

from opgen.lang.nodes import Compare, Expr, Logic


def equal(left: Expr, right: Expr) -> Expr:
    """What is meant by `a > 0 and i = j`: the sides of a `=` are the nearest ones."""
    match left, right:
        case Logic(operands=(*others, last)), _:
            return replace(left, operands=(*others, equal(last, right)))
        case _, Logic(operands=(first, *others)):
            return replace(right, operands=(equal(left, first), *others))
        case _:
            return Compare((left, right), ("==",), left.span.to(right.span))
