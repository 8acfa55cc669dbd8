"""Arguments beside the body of a reduction, as other libraries take them: an axis, an order, a correction.

In go the parts of such a call, out come the reduction that is meant and what to say; None where nothing is for certain.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

from opgen.diagnostics.model import Span
from opgen.lang.habits import AXES, KEPT, PICKING
from opgen.lang.limits import NOTHING, over_picked
from opgen.lang.nodes import (
    Access,
    Binder,
    Call,
    Compare,
    Dots,
    Expr,
    Name,
    Number,
    Power,
    Product,
    Reduction,
    Sum,
    Unary,
)
from opgen.lang.orders import ascending
from opgen.lang.several import of
from opgen.lang.statistics import TOGETHER, together, weighted
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import integer, nodes

ONE_BODY = "indices stand in the brackets, the expression in the parentheses"
_AXIS = "the index in the brackets says which axis is meant: leave it away"
_KEPT = ("keepdim", "keepdims")
_BY_COUNT = "`var` divides by the count of elements"
_TIMES = "the corrected one is multiplied by"
_DOWN = "an order begins at the least: the greatest come first of what has the other sign"
_ORDER = "`norm` is the Euclidean one; others are sums and extremes of `abs`"
_TWO = "`{0}[…]` takes one expression, and the {1} of two is `{0}(a, b)`"
_SEVERAL = "`{0}[…]` takes one expression, and of these it is `{1}`"
_PICKED = "a condition stands in the body"
_BEGUN = "what a reduction begins with is left away where it changes nothing, and joined to it elsewhere"
_WIDER = "sums of half precision are kept in float32 anyway: leave it away"


@dataclass(frozen=True, slots=True)
class Arguments:
    """What stands in the parentheses of a call; an axis may be a list of numbers."""

    given: tuple[Expr, ...]
    named: Mapping[str, Expr | tuple[Expr, ...]]
    at: Span | None  # the first named one
    end: Span


def meant_by(
    words: Vocabulary, e: Reduction, arguments: Arguments, around: Container[str] = ()
) -> tuple[Expr | None, tuple[str, ...]]:
    """What `name[k](body, …)` with these arguments means, and hints; `around` it, there are these indices."""
    hints: dict[str, None] = {}
    meant: Expr | None = e
    named, left = arguments.named, list(arguments.given)
    if (mean := weighted(e, left, named)) is not None:
        return mean, ("a weighted mean is a quotient of sums",)
    if not words.knows(e.name) and (both := together(e, left, named)) is not None:
        return both, (TOGETHER,)
    order = named.get("p", named.get("ord"))
    if e.name == "norm" and order is None and left and not _is_index(e, left[0]):
        order = left.pop(0)
    if left and not named and (several := _of_single(e, left, around)) is not None:
        return several, (_SEVERAL.format(e.name, unparse(several)),)
    if e.name in ("max", "min") and len(left) == 1 and not named and not _is_axis(e, left[0]):
        again = all(isinstance(b, Binder) and b.name in around for b in e.binders)  # so that nothing is left to reduce
        both = Call(e.name, (e.body, left[0]), e.span, e.name_span) if again else _of_two(e, left[0])
        return both, (_TWO.format(e.name, "larger" if e.name == "max" else "smaller"),)
    for argument in left:
        if not _is_index(e, argument) and integer(argument) is None:
            return None, (ONE_BODY,)
        hints[_AXIS] = None
    for word, value in sorted(named.items(), key=lambda n: n[0] == "initial"):  # which comes to all of the rest
        if word in _KEPT:
            hints[KEPT] = None
        elif word in AXES:
            hints[_AXIS] = None
        elif word == "dtype":
            hints[_WIDER] = None
        elif word in ("descending", "stable") and e.name in ("sort", "argsort"):
            down = ascending((), {word: value})[0]
            hints |= dict.fromkeys((_DOWN,) if down else ())
            turned = replace(e, body=Unary("-", e.body, e.span)) if down else e
            meant = Unary("-", turned, e.span) if down and e.name == "sort" else turned
        elif word in ("unbiased", "correction", "ddof") and e.name in ("var", "std"):
            meant = _corrected(words, e, value)
            hints[_BY_COUNT if meant == e else f"{_BY_COUNT}; {_factor(words, e, value)}"] = None
        elif word in PICKING and meant is not None and not isinstance(value, tuple):
            meant = over_picked(e.name, e.binders, e.body, [value]) if word == "where" else _begun(meant, e.name, value)
            if meant is None:
                return None, (ONE_BODY,)
            hints[_PICKED if word == "where" else _BEGUN] = None
        elif word not in ("p", "ord") or e.name != "norm":
            return None, (ONE_BODY,)
    if order is not None:
        hints[_ORDER] = None
        meant = None if isinstance(order, tuple) else norm_of(e, order)
    return meant, tuple(hints)


def _of_single(e: Reduction, others: Sequence[Expr], around: Container[str]) -> Expr | None:
    """`mean[k](a, b)` of values in which nothing is left to reduce."""
    values = (e.body, *others)
    own = [b.name for b in e.binders if isinstance(b, Binder)]
    read = {n.name for v in values for n in nodes(v) if isinstance(n, Name)}
    again = e.name not in ("max", "min")  # which are functions of two, too
    plain = len(own) == len(e.binders) and all((again and b in around) or b not in read for b in own)
    return of(e.name, values) if plain and not any(isinstance(v, Name | Number | Unary) for v in others) else None


def _begun(meant: Expr, name: str, value: Expr) -> Expr | None:
    """A reduction that begins with a value of its own."""
    at = value.span
    if name in NOTHING and value == NOTHING[name](at):
        return meant
    match name:
        case "sum":
            return Sum((("+", meant), ("+", value)), at)
        case "prod":
            return Product((("*", meant), ("*", value)), at)
        case "max" | "min":
            return Call(name, (meant, value), at, at)
        case _:
            return None


def _is_index(e: Reduction, argument: Expr) -> bool:
    return isinstance(argument, Name) and any(isinstance(b, Binder) and b.name == argument.name for b in e.binders)


def _is_axis(e: Reduction, argument: Expr) -> bool:
    """Whether an argument is the axis of the reduction: its index, or the number of the place that this stands at."""
    axis = integer(argument)
    if axis is None:
        return _is_index(e, argument)
    own = [b.name for b in e.binders if isinstance(b, Binder)]
    places: set[int] = set()
    for a in (n for n in nodes(e.body) if isinstance(n, Access)):
        at = [k for k, item in enumerate(a.items) if isinstance(item, Name) and item.name in own]
        places |= {k - len(a.items) for k in at}
        if isinstance(a.items[0], Dots):  # any number but 0
            places.add(max(axis, 1))
        else:
            places |= {*at}
    return axis in places


def _of_two(e: Reduction, other: Expr) -> Expr:
    """`max[k](a, b)` as the larger of two: outside of the reduction, unless the other one has its index."""
    if any(isinstance(n, Name) and _is_index(e, n) for n in nodes(other)):
        return replace(e, body=Call(e.name, (e.body, other), e.span, e.name_span))
    return Call(e.name, (e, other), e.span, e.name_span)


def norm_of(e: Reduction, order: Expr) -> Expr:
    """The norm of any order: a sum of powers, an extreme, or a count."""
    size = Call("abs", (e.body,), e.span, e.name_span)
    match order:
        case Number(value=2) | Name(name="fro"):
            return e
        case Number(value=1):
            return replace(e, name="sum", body=size)
        case Number(value=0):
            return replace(e, name="count", body=Compare((e.body, Number(0, e.span)), ("!=",), e.span))
        case Name(name="inf"):
            return replace(e, name="max", body=size)
        case Unary(op="-", operand=Name(name="inf")):
            return replace(e, name="min", body=size)
        case _:
            one: Expr = Number(1, e.span)
            inverse = Product((("*", one), ("/", order)), e.span)
            return Power(replace(e, name="sum", body=Power(size, order, e.span)), inverse, e.span)


def _corrected(words: Vocabulary, e: Reduction, value: Expr | tuple[Expr, ...]) -> Expr | None:
    """A variance that divides by the count, or by less than it; the root of that is left to who names it."""
    less = _by(value)
    factor = _factor_of(words, e, less) if less else None
    if less == 0:
        return e
    return None if factor is None or e.name != "var" else replace(factor, factors=(("*", e), *factor.factors))


def _by(value: Expr | tuple[Expr, ...]) -> int | None:
    """By how much less than the count is divided."""
    match value:
        case Name(name="False" | "false"):
            return 0
        case Name(name="True" | "true"):
            return 1
        case Number(value=int(less)):
            return less
        case _:
            return None


def _factor(words: Vocabulary, e: Reduction, value: Expr | tuple[Expr, ...]) -> str:
    """What is said of a variance that divides by less than the count."""
    less = _by(value)
    factor = _factor_of(words, e, less) if less else None
    return "the corrected one divides by less" if factor is None else f"{_TIMES} `{unparse(factor)}`"


def _factor_of(words: Vocabulary, e: Reduction, by: int) -> Product | None:
    size = _size(words, e)
    if size is None:
        return None
    less = Sum((("+", size), ("-", Number(by, e.span))), e.span)
    return Product((("*", size), ("/", less)), e.span)


def _size(words: Vocabulary, e: Reduction) -> Expr | None:
    """How far the one index of a reduction runs."""
    index = e.binders[0] if len(e.binders) == 1 else None
    if not isinstance(index, Binder):
        return None
    if index.extent is not None:
        return index.extent
    for a in (n for n in nodes(e.body) if isinstance(n, Access)):
        for item, size in zip(a.items, words.shapes.get(a.name, ()), strict=False):
            if isinstance(item, Name) and item.name == index.name and size != "...":
                return Name(size, item.span)
    return None
