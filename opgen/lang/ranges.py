"""Ranges that begin below 0, `sum[-m <= k <= m](x[t + k])` and `k = -m:m`: an index runs from 0, and is moved.

Items of brackets in, the index with its extent and what moves it out; None where a range begins somewhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from opgen.diagnostics.model import Span
from opgen.lang.lexer import T, Token
from opgen.lang.nodes import (
    Access,
    Binder,
    Call,
    Compare,
    Dots,
    Expr,
    Logic,
    Name,
    Number,
    Product,
    Reduction,
    Sum,
    Unary,
)
from opgen.lang.slices import total
from opgen.lang.spread import at, size_at
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import names_read, nodes, rebuild

FROM_0 = "an index runs from 0: what begins below it is moved"
ITERATOR = "{"  # the name of a call that stands for one of Mathematica, `{k, 0, K - 1}`
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


def ranges_of(items: Sequence[Expr | Dots]) -> tuple[list[Range], tuple[Expr | Dots, ...]] | None:
    """The ranges below 0 among items, each in one condition or in two, and the items beside them."""
    others = list[Expr | Dots]()
    lower, upper = dict[str, tuple[Name, Expr, int]](), dict[str, tuple[Expr, int]]()
    for item in items:
        parts = item.operands if isinstance(item, Logic) and item.op == "and" else (item,)
        others += [p for p in parts if not isinstance(p, Compare)]
        for least, sign, most in (pair for p in parts if isinstance(p, Compare) for pair in _pairs(p)):
            if sign not in _FROM_BELOW:
                return None
            if isinstance(most, Name) and is_below_0(least) and most.name not in lower:
                lower[most.name] = most, least, _FROM_BELOW[sign]
            elif isinstance(least, Name) and least.name not in upper:
                upper[least.name] = most, 1 - _FROM_BELOW[sign]
            else:
                return None
    read = [n for _, first, _ in lower.values() for n in names_read(first)]
    read += [n for last, _ in upper.values() for n in names_read(last)]
    if not lower or lower.keys() != upper.keys() or any(n in lower for n in read):
        return None
    found = list[Range]()
    for name, (index, first, more) in lower.items():
        start = total([(1, first), (1, Number(more, index.span))], index.span)
        last, behind = upper[name]
        size = total([(1, last), (1, Number(behind, index.span)), (-1, start)], index.span)
        found.append(Range(index, start, size))
    return found, tuple(others)


def _pairs(e: Expr) -> list[tuple[Expr, str, Expr]]:
    """The comparisons of a chain, the lesser one first."""
    if not isinstance(e, Compare):
        return []
    found = list[tuple[Expr, str, Expr]]()
    for a, sign, b in zip(e.operands, e.ops, e.operands[1:], strict=False):
        if (both := _around_0(a, sign, b)) is not None:
            return both if len(e.ops) == 1 else []
        found.append((b, _TURNED[sign], a) if sign.startswith(">") else (a, sign, b))
    return found


def _around_0(a: Expr, sign: str, b: Expr) -> list[tuple[Expr, str, Expr]] | None:
    """The comparisons of `abs(m) <= n`; None of another one."""
    if sign.startswith(">"):
        a, sign, b = b, _TURNED[sign], a
    if not isinstance(a, Call) or a.name != "abs" or len(a.args) != 1 or not isinstance(a.args[0], Name):
        return None
    return [(Unary("-", b, b.span), sign, a.args[0]), (a.args[0], sign, b)]


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


def reduced(name: str, items: Sequence[Expr | Dots], body: Expr) -> tuple[list[Range], Reduction] | None:
    """The reduction over ranges below 0 and plain indices beside them; None where there is no such range."""
    found = ranges_of(items)
    if found is None or not all(isinstance(i, Name | Dots) for i in found[1]):
        return None
    runs, others = found
    over = tuple(
        Binder(i.name, None, i.span) if isinstance(i, Name) else i for i in others if isinstance(i, Name | Dots)
    )
    for run in runs:
        body = run.moved(body)
    return runs, Reduction(name, (*(run.binder for run in runs), *over), body, body.span, body.span)


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


# --- iterators of Mathematica ----------------------------------------------------------------------------------------


def iterated(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The indices of the iterators in brackets that have just been opened."""
    found, depth = list[str](), 0
    for token, following in pairwise(tokens):
        depth += token.is_op("(", "[") - token.is_op(")", "]")
        if depth < 0 or token.kind in (T.NEWLINE, T.END):
            break
        if depth == 0 and token.is_op("{") and following.kind is T.NAME:
            found.append(following.text)
    return (*found,)


def over_iterators(words: Vocabulary, name: str, items: Sequence[Expr], span: Span) -> Reduction | None:
    """`Sum[body, {k, first, last}]` as a reduction; one up to a dim counts its elements from 1 if it begins there."""
    body, binders = items[0], list[Binder]()
    for item in items[1:]:
        match item:
            case Call(name="{", args=(Name() as index, last)):
                first: Expr = Number(1, span)
            case Call(name="{", args=(Name() as index, first, last)):
                pass
            case _:
                return None
        run = Range(index, first, total([(1, last), (1, Number(1, span)), (-1, first)], span))
        from_1 = first == Number(1, span) and _ends_with_its_axis(words, body, index.name, last)
        body = run.moved(body)
        body = _one_less(body, index.name) if from_1 else body
        binders.append(Binder(index.name, None if size_at(words, body, index.name) == run.size else run.size, span))
    reduction = {"sum": "sum", "product": "prod", "prod": "prod"}[name.lower()]
    return Reduction(reduction, tuple(binders), body, span, span)


def _ends_with_its_axis(words: Vocabulary, body: Expr, index: str, last: Expr) -> bool:
    """Whether the last element that is read along an axis is its last one, counted from 1."""
    for a in (n for n in nodes(body) if isinstance(n, Access)):
        for item, size in zip(a.items, words.shapes.get(a.name, ()), strict=False):
            if _is_moved(item, index) and not isinstance(item, Dots) and size[:1].isupper():
                read = at(item, index, last)
                if total([(1, read), (-1, Name(size, a.span))], a.span) == Number(0, a.span):
                    return True
    return False


def _is_moved(item: Expr | Dots, index: str) -> bool:
    """Whether a position is an index, or that and a number."""
    if not isinstance(item, Sum):
        return isinstance(item, Name) and item.name == index
    return all(isinstance(t, Number) or (sign == "+" and t == Name(index, t.span)) for sign, t in item.terms)


def _one_less(e: Expr, index: str) -> Expr:
    """An expression with each position that is an index and a number one less."""
    made = rebuild(e, lambda part: _one_less(part, index))
    if not isinstance(made, Access):
        return made

    def item(i: Expr | Dots) -> Expr | Dots:
        return total([(1, i), (-1, Number(1, i.span))], i.span) if isinstance(i, Sum) and _is_moved(i, index) else i

    return replace(made, items=tuple(map(item, made.items)))
