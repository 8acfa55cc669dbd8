"""What introduces an index."""

from __future__ import annotations

from opgen.lang.nodes import Binder, Compare, Dots, Expr, Name


def as_binder(item: Expr | Dots) -> Binder | Dots | None:
    """An item read as what introduces an index; None for any other expression."""
    match item:
        case Dots():
            return item
        case Name(name=name, span=span):
            return Binder(name, None, span)
        case Compare(operands=(Name(name=name), extent), ops=("<",), span=span):
            return Binder(name, extent, span)
        case _:
            return None
