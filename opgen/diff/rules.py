"""How a change of a reduction's body changes its result: one row per reduction, used in both directions.

For `T = op[over](f)` the derivative is `dT = sum[over](W*df)` with a weight `W` over all loops; backwards `df = W*dT`.
A row returns the function `d -> W*d`, with the choice of branch outermost, and emits the statements the weight needs
(the mean for `var`, the number of ties for `max`). An index operator has its own pair of rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from opgen.diff.algebra import product
from opgen.diff.contribution import Selection
from opgen.diff.structure import Builder, count
from opgen.ir.point import read_of
from opgen.ir.program import Axis, Compute, Kind, Loop
from opgen.ir.scalar import (
    INF,
    NEG_INF,
    ONE,
    TWO,
    ZERO,
    Apply,
    Batch,
    Index,
    Read,
    Scalar,
    call,
    div,
    mentions,
    reads,
    sub,
    substitute,
    walk,
    where,
)

Weight = Callable[[Scalar], Scalar]

# Functions that are rounded once, or not at all.
_SAME_EVERYWHERE = (
    "abs", "add", "and", "ceil", "clamp", "copysign", "detach", "div", "eq", "floor", "floordiv", "ge", "gt", "int",
    "isfinite", "isnan", "le", "lt", "max", "min", "mod", "mul", "ne", "neg", "not", "or", "relu", "round", "sign",
    "sqrt", "square", "sub", "tofloat", "trunc", "where",
)  # fmt: skip


def _sum(b: Builder, s: Compute) -> Weight:
    return lambda d: d


def _mean(b: Builder, s: Compute) -> Weight:
    return lambda d: product(d, div(ONE, count(s.over)))


def _logsumexp(b: Builder, s: Compute) -> Weight:
    # Where everything is -inf the difference is nan; the weight there is 0.
    t = read_of(s)
    return lambda d: where(call("eq", t, NEG_INF), ZERO, product(d, call("exp", sub(s.body, t))))


def _norm(b: Builder, s: Compute) -> Weight:
    t = read_of(s)
    return lambda d: where(call("eq", t, ZERO), ZERO, product(d, div(s.body, t)))


def _var(b: Builder, s: Compute) -> Weight:
    mean = b.emit(f"mean_{s.target}", s.axes, s.body, "mean", s.over)
    return lambda d: product(TWO, d, sub(s.body, mean), div(ONE, count(s.over)))


def _extreme(b: Builder, s: Compute) -> Weight:
    hit: Scalar = call("eq", s.body, read_of(s))
    if (b.states_hits or not _is_same_everywhere(s.body)) and not b.looped and is_windowed(s):
        hit = b.emit(f"hit_{s.target}", _windows_ahead(s), hit, kind=Kind.BOOL)
    ties = b.emit(f"ties_{s.target}", s.axes, hit, "count", s.over, Kind.INT)

    def weight(d: Scalar) -> Scalar:
        share = product(d, div(ONE, ties))
        names, batch = mentions(d)
        if is_windowed(s) and not any(batch if isinstance(a, Batch) else a.name in names for a in s.over):
            share = b.emit(f"share_{s.target}", s.axes, share)  # divided once, and not for all windows that meet
        return where(hit, share, ZERO)

    return weight


def is_windowed(s: Compute) -> bool:
    """Whether an extreme is taken over windows: elements are then looked at more often than there are any."""
    plain = all(isinstance(p, Index | Batch) for r in reads(s.body) for p in r.at)
    return s.op in ("max", "min") and not plain


def _is_same_everywhere(body: Scalar) -> bool:
    """Does a body come out the same to the last bit wherever an element stands among others?

    Functions that torch computes for several elements at once come out otherwise for those that are left over.
    """
    made = (n for n in walk(body) if isinstance(n, Apply))
    return all(n.fn in _SAME_EVERYWHERE or (n.fn == "pow" and n.args[1] == TWO) for n in made)


def _windows_ahead(s: Compute) -> tuple[Loop, ...]:
    """The loops of an extreme over windows, what these run over ahead of the axes that they move along.

    So neighbouring windows are neighbours in what is kept of them.
    """
    moving = {n for r in reads(s.body) for p in r.at if not isinstance(p, Index | Batch) for n in mentions(p)[0]}
    at = next((k for k, a in enumerate(s.axes) if isinstance(a, Axis) and a.name in moving), len(s.axes))
    return (*s.axes[:at], *s.over, *s.axes[at:])


def _prod(b: Builder, s: Compute) -> Weight:
    """The product of the others, without dividing by zero, and right when it is differentiated once more.

    With two zeros that product is 0, but its derivative with respect to the other zero is not: it is carried by the sum
    of the zeros, whose value is 0.
    """
    f = s.body
    is_zero = call("eq", f, ZERO)
    zeros = b.emit(f"zeros_{s.target}", s.axes, is_zero, "count", s.over, Kind.INT)
    rest = b.emit(f"nonzero_{s.target}", s.axes, where(is_zero, ONE, f), "prod", s.over)
    shift = b.emit(f"zero_sum_{s.target}", s.axes, where(is_zero, f, ZERO), "sum", s.over)
    two = call("eq", zeros, TWO)
    # Infinite or overflowed factors times a zero are nan, and no quotient of that is the product of the others.
    overflows = call("and", call("gt", zeros, ZERO), call("eq", call("abs", rest), INF))
    whole = where(overflows, ZERO, read_of(s))

    def weight(d: Scalar) -> Scalar:
        at_zero = where(call("eq", zeros, ONE), product(d, rest), where(two, product(d, rest, sub(shift, f)), ZERO))
        return where(is_zero, at_zero, product(d, div(whole, f)))

    return weight


WEIGHTS: dict[str, Callable[[Builder, Compute], Weight]] = {
    "sum": _sum,
    "mean": _mean,
    "logsumexp": _logsumexp,
    "norm": _norm,
    "var": _var,
    "max": _extreme,
    "min": _extreme,
    "prod": _prod,
}


@dataclass(frozen=True, slots=True)
class Change:
    """The cotangent of a result, or the tangent of a body, over all axes; perhaps zero but for one position."""

    value: Read
    selection: Selection | None = None


IndexRule = Callable[[Builder, Compute, Change], Scalar]


@dataclass(frozen=True, slots=True)
class IndexRules:
    """`back`: the cotangent of the body from that of the result; `forth`: the tangent of the result from the body's."""

    back: IndexRule
    forth: IndexRule


def _summed(b: Builder, base: str, s: Compute, d: Change, weight: Scalar) -> Read:
    """The sum of `weight*d` over the operator's indices; of a selection, only its one term."""
    outside = tuple(a for a in s.axes if a not in s.over)
    chosen = d.selection
    if chosen is None or chosen.axis not in s.over:
        return b.emit(base, outside, product(d.value, weight), "sum", s.over)
    there: dict[Scalar, Scalar] = {Index(chosen.axis.name): chosen.position}
    body = product(chosen.value, substitute(weight, there))
    rest = tuple(a for a in s.over if a != chosen.axis)
    return b.emit(base, outside, body, "sum" if rest else None, rest)


def _softmax_either_way(b: Builder, s: Compute, d: Change) -> Scalar:
    y = read_of(s)
    return product(y, sub(d.value, _summed(b, f"dot_{s.target}", s, d, y)))


def _log_softmax_back(b: Builder, s: Compute, d: Change) -> Scalar:
    together = _summed(b, f"sum_{d.value.tensor}", s, d, ONE)
    return sub(d.value, product(call("exp", read_of(s)), together))


def _log_softmax_forth(b: Builder, s: Compute, d: Change) -> Scalar:
    return sub(d.value, _summed(b, f"mean_{d.value.tensor}", s, d, call("exp", read_of(s))))


INDEX_RULES: dict[str, IndexRules] = {
    "softmax": IndexRules(_softmax_either_way, _softmax_either_way),
    "log_softmax": IndexRules(_log_softmax_back, _log_softmax_forth),
}
