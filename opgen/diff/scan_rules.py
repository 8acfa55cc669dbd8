"""Derivatives of the scans, in both directions: a scan again, or a recurrence.

A running sum backwards is a running sum from the other end. The running product and the running logsumexp obey
`dT[k] = a[k]*dT[k - 1] + b[k]` with factors that need no division and no large exponential, so both ways they are
recurrences, exact through zeros and stable.
"""

from __future__ import annotations

from opgen.diff.algebra import product
from opgen.diff.rules import INDEX_RULES as KEPT
from opgen.diff.rules import Change, IndexRules
from opgen.diff.structure import Builder
from opgen.ir.point import positions, read_of
from opgen.ir.program import Axis, Compute, Recurrence
from opgen.ir.scalar import INF, NEG_INF, ONE, ZERO, Index, Read, Scalar, add, call, sub, substitute, where


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


def _scan(b: Builder, base: str, s: Compute, factor: Scalar, added: Scalar, *, reverse: bool) -> Read:
    """`r[k] = factor[k]*r[k - 1] + added[k]`, or from the other end with `r[k + 1]`; the first is `added`."""
    axis = _axis(s)
    name = b.names.fresh(base)
    own = Read(name, positions(s.axes))
    if reverse:
        inside = call("lt", _next(axis), axis.extent)
        other = _at(own, axis, _next(axis))
    else:
        inside = call("gt", Index(axis.name), ZERO)
        other = _at(own, axis, _before(axis))
    body = add(added, where(inside, product(other, factor), ZERO))
    b.statements.append(Recurrence(axis, (Compute(name, s.axes, body),), reverse))
    return own


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
    factor = _at(_factor(b, s), axis, _next(axis))
    share = _scan(b, f"share_{s.target}", s, factor, d.value, reverse=True)
    return product(share, _product_before(s))


def _cumprod_forth(b: Builder, s: Compute, d: Change) -> Scalar:
    return _scan(b, f"change_{s.target}", s, _factor(b, s), product(d.value, _product_before(s)), reverse=False)


def _weight(s: Compute, e: Scalar, d: Scalar) -> Scalar:
    """`exp(e - T)*d`, 0 where everything so far is -inf."""
    t = read_of(s)
    return where(call("eq", t, NEG_INF), ZERO, product(d, call("exp", sub(e, t))))


def _decay(before: Scalar, after: Scalar) -> Scalar:
    """`exp(before - after)` of one step of a running logsumexp; 1 where it has been infinite before."""
    return where(call("eq", call("abs", before), INF), ONE, call("exp", sub(before, after)))


def _logcumsumexp_back(b: Builder, s: Compute, d: Change) -> Scalar:
    axis = _axis(s)
    decay = _decay(read_of(s), _at(read_of(s), axis, _next(axis)))
    share = _scan(b, f"share_{s.target}", s, decay, d.value, reverse=True)
    return _weight(s, s.body, share)


def _logcumsumexp_forth(b: Builder, s: Compute, d: Change) -> Scalar:
    axis = _axis(s)
    decay = _decay(_at(read_of(s), axis, _before(axis)), read_of(s))
    return _scan(b, f"change_{s.target}", s, decay, _weight(s, s.body, d.value), reverse=False)


INDEX_RULES: dict[str, IndexRules] = {
    **KEPT,
    "cumsum": IndexRules(_cumsum_back, _cumsum_forth),
    "cumprod": IndexRules(_cumprod_back, _cumprod_forth),
    "logcumsumexp": IndexRules(_logcumsumexp_back, _logcumsumexp_forth),
}
