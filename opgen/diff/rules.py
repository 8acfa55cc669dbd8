"""How a change of a reduction's body changes its result: one row per reduction, used in both directions.

For `T = op[over](f)` the derivative is `dT = sum[over](W*df)` with a weight `W` over all loops; backwards `df = W*dT`.
A row returns the function `d -> W*d`, with the choice of branch outermost, and emits the statements the weight needs
(the mean for `var`, the number of ties for `max`). An index operator has its own pair of rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from opgen.diff.algebra import product, total
from opgen.diff.structure import Builder, count, positions
from opgen.ir.program import Compute, Kind, Loop
from opgen.ir.scalar import NEG_INF, ONE, TWO, ZERO, Lit, Read, Scalar, call, div, sub, where

Weight = Callable[[Scalar], Scalar]


def result(s: Compute) -> Read:
    """The access of a statement's own result at its axes."""
    return Read(s.target, positions(s.axes))


def _sum(b: Builder, s: Compute) -> Weight:
    return lambda d: d


def _mean(b: Builder, s: Compute) -> Weight:
    return lambda d: product(d, div(ONE, count(s.over)))


def _logsumexp(b: Builder, s: Compute) -> Weight:
    # Where everything is -inf the difference is nan; the weight there is 0.
    t = result(s)
    return lambda d: where(call("eq", t, NEG_INF), ZERO, product(d, call("exp", sub(s.body, t))))


def _norm(b: Builder, s: Compute) -> Weight:
    t = result(s)
    return lambda d: where(call("eq", t, ZERO), ZERO, product(d, div(s.body, t)))


def _var(b: Builder, s: Compute) -> Weight:
    mean = b.emit(f"mean_{s.target}", s.axes, s.body, "mean", s.over)
    return lambda d: product(TWO, d, sub(s.body, mean), div(ONE, count(s.over)))


def _extreme(b: Builder, s: Compute) -> Weight:
    hit = call("eq", s.body, result(s))
    ties = b.emit(f"ties_{s.target}", s.axes, hit, "count", s.over, Kind.INT)
    return lambda d: where(hit, product(d, div(ONE, ties)), ZERO)


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

    def weight(d: Scalar) -> Scalar:
        at_zero = where(
            call("eq", zeros, ONE), product(d, rest), where(two, product(d, rest, sub(shift, f)), ZERO)
        )
        return where(is_zero, at_zero, product(d, div(result(s), f)))

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
class IndexRule:
    """`back`: the cotangent of the body from that of the result; `forth`: the tangent of the result from the body's."""

    back: Callable[[Builder, Compute, Read], Scalar]
    forth: Callable[[Builder, Compute, Read], Scalar]


def _outside(s: Compute) -> tuple[Loop, ...]:
    return tuple(a for a in s.axes if a not in s.over)


def _softmax_either_way(b: Builder, s: Compute, d: Read) -> Scalar:
    y = result(s)
    dot = b.emit(f"dot_{s.target}", _outside(s), product(d, y), "sum", s.over)
    return product(y, sub(d, dot))


def _log_softmax_back(b: Builder, s: Compute, d: Read) -> Scalar:
    together = b.emit(f"sum_{d.tensor}", _outside(s), d, "sum", s.over)
    return total([d, product(Lit(-1), call("exp", result(s)), together)])


def _log_softmax_forth(b: Builder, s: Compute, d: Read) -> Scalar:
    mean = b.emit(f"mean_{d.tensor}", _outside(s), product(call("exp", result(s)), d), "sum", s.over)
    return sub(d, mean)


INDEX_RULES: dict[str, IndexRule] = {
    "softmax": IndexRule(_softmax_either_way, _softmax_either_way),
    "log_softmax": IndexRule(_log_softmax_back, _log_softmax_forth),
}
