"""Ranges that begin below 0, `sum[-m <= k <= m](x[t + k])` and `k = -m:m`: an index runs from 0, and is moved.

Items of brackets in, the index with its extent and what moves it out; None where a range begins somewhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opgen.lang.lexer import T, Token
from opgen.lang.nodes import Binder, Compare, Dots, Expr, Logic, Name, Number, Product, Reduction, Sum, Unary
from opgen.lang.slices import total
from opgen.lang.spread import at
from opgen.lang.walk import names_read

FROM_0 = "an index runs from 0: what begins below it is moved"
_FROM_BELOW = {"<": 1, "<=": 0}  # by how much the first one is more than the limit
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Range:
    """An index from `first` on, with as many places as `size` says."""

    index: Name
    first: Expr
    size: Expr

    @property
    def binder(self) -> Binder:
        return Binder(self.index.name, self.size, self.index.span)

    def moved(self, e: Expr) -> Expr:
        """An expression that is read over the range, with the index counted from 0."""
        return at(e, self.index.name, total([(1, self.index), (1, self.first)], self.index.span))


def range_of(items: Sequence[Expr | Dots]) -> tuple[Range, tuple[Expr | Dots, ...]] | None:
    """The one range below 0 among items, in one condition or in two, and the items beside it."""
    limits, others = list[Expr](), list[Expr | Dots]()
    for item in items:
        parts = item.operands if isinstance(item, Logic) and item.op == "and" else (item,)
        limits += [p for p in parts if isinstance(p, Compare)]
        others += [p for p in parts if not isinstance(p, Compare)]
    lower, upper = list[tuple[Name, Expr, int]](), list[tuple[Name, Expr, int]]()
    for limit in limits:
        for least, sign, most in _pairs(limit):
            if sign not in _FROM_BELOW:
                return None
            if isinstance(most, Name) and is_below_0(least):
                lower.append((most, least, _FROM_BELOW[sign]))
            elif isinstance(least, Name):
                upper.append((least, most, 1 - _FROM_BELOW[sign]))
    if len(lower) != 1 or len(upper) != 1 or lower[0][0] != upper[0][0]:
        return None
    if sum(len(_pairs(limit)) for limit in limits if isinstance(limit, Compare)) != len(("lower", "upper")):
        return None
    index, first, last = lower[0][0], lower[0][1], upper[0][1]
    if index.name in {*names_read(first), *names_read(last)}:
        return None
    span = index.span
    start = total([(1, first), (1, Number(lower[0][2], span))], span)
    size = total([(1, last), (1, Number(upper[0][2], span)), (-1, start)], span)
    return Range(index, start, size), tuple(others)


def _pairs(e: Expr) -> list[tuple[Expr, str, Expr]]:
    """The comparisons of a chain, the lesser one first."""
    if not isinstance(e, Compare):
        return []
    found = list[tuple[Expr, str, Expr]]()
    for a, sign, b in zip(e.operands, e.ops, e.operands[1:], strict=False):
        found.append((b, _TURNED[sign], a) if sign.startswith(">") else (a, sign, b))
    return found


def is_below_0(e: Expr) -> bool:
    """Whether a start is below 0 by how it is written: `-m`, `-(K//2)`, `1 - m`."""
    match e:
        case Unary(op="-"):
            return True
        case Product(factors=((_, first), *_)):
            return is_below_0(first)
        case Sum(terms=terms):
            others = [(sign, t) for sign, t in terms if not isinstance(t, Number)]
            return all(sign == "-" or is_below_0(t) for sign, t in others) and any(
                sign == "-" or is_below_0(t) for sign, t in (others or terms)
            )
        case _:
            return False


def reduced(name: str, items: Sequence[Expr | Dots], body: Expr, at: Expr) -> tuple[Range, Reduction] | None:
    """The reduction over a range below 0 and plain indices beside it; None where there is no such range."""
    found = range_of(items)
    if found is None or not all(isinstance(i, Name | Dots) for i in found[1]):
        return None
    run, others = found
    over = tuple(
        Binder(i.name, None, i.span) if isinstance(i, Name) else i for i in others if isinstance(i, Name | Dots)
    )
    return run, Reduction(name, (run.binder, *over), run.moved(body), at.span, at.span)


def begins_below_0(tokens: Sequence[Token], place: int) -> bool:
    """Whether `= -m:m`, `= -m, m` or `in -m:m` stands there, or `in range(-m, m)`."""
    depth = 0
    within = tokens[place].is_word("in") and tokens[place + 1].is_word("range")
    first = tokens[place + 3 if within else place + 1]
    if not (first.is_op("-", "(") or (first.kind is T.NUMBER and tokens[place + (4 if within else 2)].is_op("-"))):
        return False
    for token in tokens[place + 1 :]:
        depth += token.is_op("(", "[") - token.is_op(")", "]")
        if depth < 0 or token.kind in (T.NEWLINE, T.END):
            return within
        if depth == 0 and token.is_op(":", ",") and not within:
            return token.is_op(":") or tokens[place].is_op("=")
    return False
