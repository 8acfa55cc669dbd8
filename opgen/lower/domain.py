"""What the domain of an integer param says about its sign, and that of a tensor of integers about how far it goes."""

from __future__ import annotations

from opgen.diagnostics.model import Bag
from opgen.lang.nodes import Compare, Name, Number, Sum
from opgen.lang.parser import parse_expression
from opgen.lang.unparse import unparse
from opgen.schema.formula import Formula
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


def end_of(domain: Formula | None) -> str | None:
    """The end of the domain of an input: `N` of `0 <= ids < N`."""
    e = None if domain is None else parse_expression(domain, Bag())
    if not isinstance(e, Compare) or e.ops[-1] not in ("<", "<=") or not isinstance(e.operands[-2], Name):
        return None
    last = e.operands[-1]
    if e.ops[-1] == "<":
        return unparse(last)
    if isinstance(last, Sum) and last.terms[-1][0] == "-" and last.terms[-1][1] == Number(1, last.span):
        rest = last.terms[:-1]
        return unparse(rest[0][1] if len(rest) == 1 else Sum(rest, last.span))
    return f"{unparse(last)} + 1"
