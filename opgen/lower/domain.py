"""What the domain of an integer param says about its sign."""

from __future__ import annotations

from opgen.diagnostics.model import Bag
from opgen.lang.nodes import Compare, Name, Number
from opgen.lang.parser import parse_expression
from opgen.schema.model import ParamSpec


def is_at_least(name: str, p: ParamSpec, bound: int) -> bool:
    """Whether the domain of an int param keeps it at a bound or above, one way round or the other."""
    e = None if p.type != "int" or p.domain is None else parse_expression(p.domain, Bag())
    if not isinstance(e, Compare):
        return False
    for left, op, right in zip(e.operands, e.ops, e.operands[1:], strict=False):
        low, high = (right, left) if op in (">", ">=") else (left, right)
        strict = op in ("<", ">")
        if isinstance(high, Name) and high.name == name and isinstance(low, Number) and low.value + strict >= bound:
            return op in ("<", "<=", ">", ">=")
    return False
