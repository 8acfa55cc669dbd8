"""Conversions between conditions and numbers, `.float()` and `.bool()`: what they give that no dtype says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from opgen.lang.nodes import Call, Compare, Expr, Logic, Number, Unary
from opgen.lang.walk import transform
from opgen.schema.dtypes import WHOLE

_CUT_OFF = ("int", "long", "short", "byte")
_BITS = re.compile(r"(?P<unsigned>u)?int(?P<count>[1-9]|[1-5]\d|6[0-4])")


def as_number(e: Expr) -> Expr:
    """What is converted to a float: a condition becomes a number, a number stays."""
    if not isinstance(e, Compare | Logic) and not (isinstance(e, Unary) and e.op == "not"):
        return e
    one, zero = (Number(Fraction(k), e.span) for k in (1, 0))
    return Call("where", (e, one, zero), e.span, e.span)


def as_condition(e: Expr) -> Expr:
    """What is converted to a condition."""
    match e:
        case Compare() | Logic():
            return e
        case Call("where", (condition, Number(value=1), Number(value=0))):
            return condition
        case _:
            return Compare((e, Number(0, e.span)), ("!=",), e.span)


def as_mask(e: Expr) -> Expr:
    """What chooses: the condition of which a number was made."""
    return as_condition(e) if isinstance(e, Call) and e.name == "where" else e


def chosen_by(e: Expr) -> Expr:
    """An expression in which conditions choose where numbers made of them stood: `where(tril(a), …)`."""

    def step(node: Expr) -> Expr | None:
        match node:
            case Call("where", (Call("where") as mask, *others)):
                return replace(node, args=(as_mask(mask), *map(chosen_by, others)))
            case _:
                return None

    return transform(e, step)


def logical(name: str, args: Sequence[Expr]) -> Expr | None:
    """`logical_and(a, b)`, `AND(a, b)`: conditions joined; None where it is another function, or joins numbers."""
    word = name.removeprefix("logical_")
    if len(args) != (1 if word == "not" else 2) or not all(map(is_condition, args)):
        return None
    span = args[0].span.to(args[-1].span)
    match word:
        case "not":
            return Unary("not", args[0], span)
        case "and" | "or":
            return Logic(word, tuple(args), span)
        case "xor":
            return Compare(tuple(args), ("!=",), span)
        case _:
            return None


def is_condition(e: Expr) -> bool:
    """Whether an expression is written as a condition."""
    return isinstance(e, Compare | Logic) or (isinstance(e, Unary) and e.op == "not")


def as_integer(e: Expr, dtype: str) -> Expr | None:
    """A value rounded to the integers of so many bits, or cut off; None of other dtypes, and of those `cast` knows."""
    bits = _BITS.fullmatch(dtype)
    if bits is None or dtype in WHOLE:
        return Call("int", (e,), e.span, e.span) if dtype in _CUT_OFF else None
    count = 2 ** int(bits["count"])
    least, most = (0, count - 1) if bits["unsigned"] else (-count // 2, count // 2 - 1)
    low: Expr = Unary("-", Number(-least, e.span), e.span) if least else Number(0, e.span)
    return Call("clamp", (Call("round", (e,), e.span, e.span), low, Number(most, e.span)), e.span, e.span)
