"""Order statistics: a body as a tensor, the order of its elements by `argsort`, and reads through it.

So derivatives go to the elements that are picked, in every order, and what has `argsort` has these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from opgen.diagnostics.model import Span
from opgen.ir import text
from opgen.ir.polynomial import polynomial
from opgen.ir.program import Kind
from opgen.ir.scalar import (
    NAN,
    ONE,
    ZERO,
    Batch,
    Index,
    Lit,
    Param,
    Position,
    Read,
    Scalar,
    add,
    call,
    mul,
    neg,
    sub,
    where,
)
from opgen.lang.nodes import Expr, Name, Reduction, Unary
from opgen.lang.unparse import unparse
from opgen.lower.assigned import assigned_once
from opgen.lower.bounds import with_defaults
from opgen.lower.kinds import numeric
from opgen.lower.lazy import take_out
from opgen.lower.multiples import Known, multiples, plus
from opgen.lower.scope import BAD, Frame, IndexInfo, Pending, Typed
from opgen.lower.whole import integer


@dataclass(frozen=True, slots=True)
class _Row:
    """The elements along one index, and where each stands in their order."""

    outer: list[IndexInfo | Batch]
    along: IndexInfo
    order: Read  # at the index itself
    values: Read  # where the elements are, `element` of them at any position along
    axes: list[IndexInfo | Batch]  # of the values
    sizes: tuple[Scalar, ...]  # of the indices that `along` runs over together
    place: int

    def at(self, position: Scalar) -> Scalar:
        """The element that comes so far in the order."""
        return self.element(replace(self.order, at=(*self.order.at[:-1], position)))

    def element(self, position: Scalar) -> Scalar:
        """The element at a position along all of the indices."""
        places: list[Position] = []
        left = position
        for size in reversed(self.sizes[1:]):
            places.insert(0, call("mod", left, size))
            left = call("floordiv", left, size)
        own = (left, *places)
        before, after = self.values.at[: self.place], self.values.at[self.place + len(own) :]
        return replace(self.values, at=(*before, *own, *after))


def in_order(f: Frame, found: Pending) -> Typed:
    """`sort[k](e)`: the elements in their order."""
    (along,) = found.over
    assert isinstance(along, IndexInfo)
    place = found.axes.index(along)
    values = take_out(f, Pending("", found.axes, found.body, None, [], found.kind, found.span), "values")
    row = _row(f, values, found.axes, (along,), place, found.span)
    return Typed(row.at(Index(along.unique)), found.kind)


def picked(f: Frame, e: Reduction, found: Pending) -> Typed:
    """`median`, `quantile` and `kth`: one element, or what lies between two."""
    own = [i for i in found.over if isinstance(i, IndexInfo)]
    further = Typed(ZERO, Kind.INT)
    if e.further is not None:
        further = numeric(f.lower(e.further))
        further = integer(f, further, e.further, "a place in the order") if e.name == "kth" else further
        if further.kind is None or not _within(f, e, further.scalar):
            return BAD
    axes = [*found.axes, *own]
    values = take_out(f, Pending("", axes, found.body, None, [], found.kind, found.span), "values")
    row = _row(f, values, axes, tuple(own), len(found.axes), found.span)
    count = mul(*(i.axis().extent for i in own))
    last = sub(count, ONE)
    if e.name == "kth":
        return Typed(row.at(sub(further.scalar, ONE)), found.kind)
    if e.name == "median":
        value, kind = row.at(call("floordiv", last, Lit(2))), found.kind
    else:
        rank, stated = mul(further.scalar, last), isinstance(further.scalar, Lit)
        value, kind = _between(row, rank, last, stated=stated), Kind.FLOAT
    if found.kind is Kind.FLOAT:  # nan comes last
        value = where(call("isnan", row.at(last)), NAN, value)
    return Typed(value, kind)


def _within(f: Frame, e: Reduction, further: Scalar) -> bool:
    """Whether a number can be the share of a quantile, or a place among the elements, with the defaults of params and
    by what their domains say; says so where it cannot.
    """
    if e.further is None:
        return True
    once = assigned_once(f.decl)
    number = multiples(e.further, once)
    usual, known = with_defaults(f.decl, number, once), Known(f.decl)
    value = usual.get(None, Fraction(0)) if {*usual} <= {None} else None
    span, shown = e.further.span, unparse(e.further)
    if isinstance(further, Param) and value is not None:
        shown = f"{float(value):g}"
    below = known.shown(plus({}, number, -1), strict=True) or (value is not None and value < 0)
    if e.name == "quantile":
        percent = known.shown(plus(number, {None: Fraction(1)}, -1), strict=True) or (value is not None and value > 1)
        if not below and not percent:
            return True
        hint = "the median is at `0.5`"
        if not below and (value is None or value <= 100):
            hint = _of_percent(further, e.further, value)
        f.error("OPG232", "the share of a quantile lies between 0 and 1", span, hint)
        return False
    if not known.shown(plus({None: Fraction(1)}, number, -1), strict=True) and (value is None or value >= 1):
        return True
    hint = "the least element is at `1`"
    if below and not isinstance(further, Param):
        place = Name(text.scalar(polynomial(neg(further)).scalar()), span)
        falling = replace(e, body=Unary("-", e.body, e.body.span), further=place)
        hint = f"counted from the greatest: `-{unparse(falling)}`"
    f.error("OPG232", f"`kth` counts from 1, so that no element is at {shown}", span, hint)
    return False


def _of_percent(further: Scalar, share: Expr, value: Fraction | None) -> str:
    """How a share is written that is a number of percent."""
    if value is None or not isinstance(further, Lit | Param):
        written = unparse(share)
        return f"for percent write `{written if isinstance(share, Name) else f'({written})'}/100`"
    write = "write `" if isinstance(further, Lit) else f"the default of `{unparse(share)}` is `"
    return f"for {float(value):g} percent {write}{float(value) / 100:g}`"


def _between(row: _Row, rank: Scalar, last: Scalar, *, stated: bool) -> Scalar:
    """What lies at a rank between two elements, in proportion. `stated`: it is known to be in range.

    It starts from the nearer one, as `torch.lerp` does, so that this decides where both are infinite; at an element it
    is that element.
    """
    whole = call("floor", rank)
    below = call("clamp", call("int", whole), ZERO, last) if stated else call("int", whole)
    a, b = row.at(below), row.at(call("min", add(below, ONE), last))
    share, step = sub(rank, whole), sub(b, a)
    upwards, downwards = add(a, mul(share, step)), sub(b, mul(sub(ONE, share), step))
    return where(call("eq", share, ZERO), a, where(call("lt", share, Lit(Fraction(1, 2))), upwards, downwards))


def _row(
    f: Frame, values: Typed, axes: list[IndexInfo | Batch], own: tuple[IndexInfo, ...], place: int, span: Span | None
) -> _Row:
    """Put the elements along some indices, which stand side by side among the axes, in order."""
    assert isinstance(values.scalar, Read)
    sizes = tuple(i.axis().extent for i in own)
    along = own[0]
    if len(own) > 1:
        name = _free_name(f, own)
        along = IndexInfo(name, name, own[0].span, stated=mul(*sizes), extent=mul(*sizes))
    outer = [*axes[:place], *axes[place + len(own) :]]
    row = _Row(outer, along, Read("", ()), values.scalar, axes, sizes, place)
    element = row.element(Index(along.unique))
    order = take_out(f, Pending("", [*outer, along], element, "argsort", [along], Kind.INT, span))
    assert isinstance(order.scalar, Read)
    return replace(row, order=order.scalar)


def _free_name(f: Frame, own: tuple[IndexInfo, ...]) -> str:
    """A name for the index that runs over several together."""
    n = 2
    while (name := f"{own[0].name}{n}") in f.index_names:
        n += 1
    f.index_names.add(name)
    return name
