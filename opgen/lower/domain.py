"""What the domain of an integer param says about its sign, and that of a tensor of integers about how far it goes."""

from __future__ import annotations

from opgen.diagnostics.model import Bag
from opgen.ir.polynomial import Polynomial, atom, number
from opgen.ir.scalar import Dim
from opgen.lang.nodes import Compare, Expr, Name, Number, Sum
from opgen.lang.parser import parse_expression
from opgen.lang.unparse import unparse
from opgen.lang.walk import integer
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


def ends_of(name: str, domain: Formula | None) -> tuple[Polynomial | None, Polynomial | None]:
    """The least and the greatest integer that the domain of an input allows, where these are numbers or sizes."""
    e = None if domain is None else parse_expression(domain, Bag())
    ends: list[Polynomial | None] = [None, None]
    for left, op, right in zip(e.operands, e.ops, e.operands[1:], strict=False) if isinstance(e, Compare) else ():
        if op not in ("<", "<=", ">", ">="):
            continue
        small, large = (left, right) if op[0] == "<" else (right, left)
        strict = len(op) == 1
        if isinstance(large, Name) and large.name == name and (low := _size(small)) is not None:
            ends[0] = low + number(strict)
        elif isinstance(small, Name) and small.name == name and (high := _size(large)) is not None:
            ends[1] = high - number(strict)
    return ends[0], ends[1]


def _size(e: Expr) -> Polynomial | None:
    """A bound that is made of integers and dims."""
    if (value := integer(e)) is not None:
        return number(value)
    match e:
        case Name(name) if name[:1].isupper():
            return atom(Dim(name))
        case Sum(terms):
            parts = [(sign, _size(x)) for sign, x in terms]
            total = number(0)
            for sign, x in parts:
                if x is None:
                    return None
                total = total + x if sign == "+" else total - x
            return total
        case _:
            return None
