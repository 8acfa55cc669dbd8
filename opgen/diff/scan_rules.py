"""Derivatives of the scans, in both directions: a scan again, or a recurrence.

A running sum backwards is a running sum from the other end. The running product and the running logsumexp obey
`dT[k] = a[k]*dT[k - 1] + b[k]` with factors that need no division and no large exponential, so both ways they are
recurrences, exact through zeros and stable. A scan that stands in a recurrence itself is written out as a sum instead.
"""

from __future__ import annotations

from collections.abc import Callable

from opgen.diff.algebra import product
from opgen.diff.rules import INDEX_RULES as KEPT
from opgen.diff.rules import Change, IndexRules
from opgen.diff.structure import Builder
from opgen.ir.names import Names
from opgen.ir.point import positions, read_of
from opgen.ir.program import Axis, Compute, Recurrence
from opgen.ir.scalar import INF, NEG_INF, ONE, ZERO, Index, Read, Scalar, add, call, sub, substitute, where

# The factor of a step of a scan, by the places before and after it.
Link = Callable[[Scalar, Scalar], Scalar]


def _axis(s: Compute) -> Axis:
    (axis,) = s.over
    assert isinstance(axis, Axis)
    return axis


def _at(e: Scalar, axis: Axis, place: Scalar) -> Scalar:
    return substitute(e, {Index(axis.name): place})


def _next(axis: Axis) -> Scalar:
    return add(Index(axis.name), ONE)


def _before(axis: Axis) -> Scalar:
    return sub(Index(axis.name), ONE)


def _cumsum_back(b: Builder, s: Compute, d: Change) -> Scalar:
    axis = _axis(s)
    flipped = sub(sub(axis.extent, ONE), Index(axis.name))
    found = b.emit(f"cumsum_{d.value.tensor}", s.axes, _at(d.value, axis, flipped), "cumsum", s.over)
    return _at(found, axis, flipped)


def _cumsum_forth(b: Builder, s: Compute, d: Change) -> Scalar:
    return b.emit(f"cumsum_{d.value.tensor}", s.axes, d.value, "cumsum", s.over)


def _scan(b: Builder, base: str, s: Compute, link: Link, added: Scalar, *, reverse: bool) -> Read:
    """`r[k] = link*r[k - 1] + added[k]`, or from the other end with `r[k + 1]`; the first is `added`."""
    if b.looped:
        return _spread(b, base, s, link, added, reverse=reverse)
    axis = _axis(s)
    name = b.names.fresh(base)
    own = Read(name, positions(s.axes))
    here = Index(axis.name)
    if reverse:
        inside = call("lt", _next(axis), axis.extent)
        other, factor = _at(own, axis, _next(axis)), link(here, _next(axis))
    else:
        inside = call("gt", here, ZERO)
        other, factor = _at(own, axis, _before(axis)), link(_before(axis), here)
    body = add(added, where(inside, product(other, factor), ZERO))
    b.statements.append(Recurrence(axis, (Compute(name, s.axes, body),), reverse))
    return own


def _spread(b: Builder, base: str, s: Compute, link: Link, added: Scalar, *, reverse: bool) -> Read:
    """The same within the step of a recurrence, which holds no second one: the sum of what every place sends.

    From one place to another it goes over the links between them, whose running products are a scan again.
    """
    axis = _axis(s)
    other = Axis(
        Names((*b.names.taken, *(a.name for a in s.axes if isinstance(a, Axis)))).fresh(axis.name), axis.extent
    )
    here, there = Index(axis.name), Index(other.name)
    first, last, along = (here, there, other) if reverse else (there, here, axis)
    beyond = where(call("gt", last, first), link(sub(last, ONE), last), ONE)
    way = b.emit(f"way_{s.target}", (*s.axes, other), beyond, "cumprod", (along,))
    sent = where(call("ge", last, first), product(_at(added, axis, there), way), ZERO)
    return b.emit(base, s.axes, sent, "sum", (other,))


def _factor(b: Builder, s: Compute) -> Read:
    """The body of a scan as a tensor, to be read one place on."""
    if isinstance(s.body, Read) and s.body.at == positions(s.axes) and s.body.fill is None:
        return s.body
    return b.emit(f"factor_{s.target}", s.axes, s.body)


def _product_before(s: Compute) -> Scalar:
    axis = _axis(s)
    return where(call("gt", Index(axis.name), ZERO), _at(read_of(s), axis, _before(axis)), ONE)


def _cumprod_back(b: Builder, s: Compute, d: Change) -> Scalar:
    axis = _axis(s)
    factor = _factor(b, s)
    share = _scan(b, f"share_{s.target}", s, lambda _, k: _at(factor, axis, k), d.value, reverse=True)
    return product(share, _product_before(s))


def _cumprod_forth(b: Builder, s: Compute, d: Change) -> Scalar:
    axis = _axis(s)
    factor, added = _factor(b, s), product(d.value, _product_before(s))
    return _scan(b, f"change_{s.target}", s, lambda _, k: _at(factor, axis, k), added, reverse=False)


def _weight(s: Compute, e: Scalar, d: Scalar) -> Scalar:
    """`exp(e - T)*d`, 0 where everything so far is -inf."""
    t = read_of(s)
    return where(call("eq", t, NEG_INF), ZERO, product(d, call("exp", sub(e, t))))


def _decay(s: Compute) -> Link:
    """`exp(T[k - 1] - T[k])` of a step of a running logsumexp; 1 where it has been infinite before."""
    axis, t = _axis(s), read_of(s)

    def link(before: Scalar, after: Scalar) -> Scalar:
        start, end = _at(t, axis, before), _at(t, axis, after)
        return where(call("eq", call("abs", start), INF), ONE, call("exp", sub(start, end)))

    return link


def _logcumsumexp_back(b: Builder, s: Compute, d: Change) -> Scalar:
    return _weight(s, s.body, _scan(b, f"share_{s.target}", s, _decay(s), d.value, reverse=True))


def _logcumsumexp_forth(b: Builder, s: Compute, d: Change) -> Scalar:
    return _scan(b, f"change_{s.target}", s, _decay(s), _weight(s, s.body, d.value), reverse=False)


INDEX_RULES: dict[str, IndexRules] = {
    **KEPT,
    "cumsum": IndexRules(_cumsum_back, _cumsum_forth),
    "cumprod": IndexRules(_cumprod_back, _cumprod_forth),
    "logcumsumexp": IndexRules(_logcumsumexp_back, _logcumsumexp_forth),
}
