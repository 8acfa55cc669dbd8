"""Arguments beside the body of a reduction, as other libraries take them: an axis, an order, a correction.

In go the parts of such a call, out come the reduction that is meant and what to say; None where nothing is for certain.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

from opgen.diagnostics.model import Span
from opgen.lang.by_library import CORRECTIONS, TRUTH, corrected, factor_of
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
    Text,
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
    if e.name in ("var", "std") and not {*named} & {*CORRECTIONS} and left and _is_correction(left[0]):
        named = {**named, "correction": left.pop(0)}  # for the axis has its index
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
        elif word in CORRECTIONS and e.name in ("var", "std"):
            meant = corrected(words, e, value)
            factor = None if meant == e else factor_of(words, e, value)
            hints[_BY_COUNT if factor is None else f"{_BY_COUNT}; {_TIMES} `{unparse(factor)}`"] = None
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


def _is_correction(argument: Expr) -> bool:
    less = integer(argument)
    return (less is not None and less >= 0) or (isinstance(argument, Name) and argument.name in TRUTH)


def _of_two(e: Reduction, other: Expr) -> Expr:
    """`max[k](a, b)` as the larger of two: outside of the reduction, unless the other one has its index."""
    if any(isinstance(n, Name) and _is_index(e, n) for n in nodes(other)):
        return replace(e, body=Call(e.name, (e.body, other), e.span, e.name_span))
    return Call(e.name, (e, other), e.span, e.name_span)


def norm_of(e: Reduction, order: Expr) -> Expr:
    """The norm of any order: a sum of powers, an extreme, or a count."""
    size = Call("abs", (e.body,), e.span, e.name_span)
    match order:
        case Number(value=2) | Name(name="fro") | Text(value="fro"):
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
