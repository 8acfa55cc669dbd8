"""The true value and the true derivatives of a scalar formula, by mpmath at a precision at which nothing cancels.

In goes a `Scalar` over reads and a point, out come numbers. Derivatives are carried along by the chain rule with
the table of `rules`, independent of the function table of opgen. At 0 and at infinity what counts is the limit: where
the limits from the sides differ there is no true derivative, and None comes out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mpmath import mp

from opgen.ir.scalar import Apply, Cast, Const, Lit, Param, Read, Scalar
from tests.accuracy.rules import RULES, Number, UndefinedError, real

Point = Mapping[str, float]
_FAR = (2000, 2400)  # binary exponents that stand for the limits at 0 and at infinity
_EXACT = 400  # bits at which formulas that do not cancel are evaluated


@dataclass(frozen=True, slots=True)
class Dual:
    """A value and its derivatives with respect to the inputs, in order; None: it has none here."""

    value: Number
    slopes: tuple[Number | None, ...]


@dataclass(frozen=True, slots=True)
class Truth:
    """What should come out at a point, rounded to float64; None: there is no true value."""

    value: float | None
    slopes: tuple[float | None, ...]


_COMPARED: dict[str, Callable[[Number, Number], bool]] = {
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
}  # fmt: skip


class Formula:
    """A scalar over 0-dim or batch reads of the named inputs, ready to be evaluated."""

    def __init__(self, body: Scalar, inputs: Sequence[str], params: Mapping[str, float], bits: int = 256) -> None:
        self.body, self.inputs, self.params, self.bits = body, tuple(inputs), params, bits

    @classmethod
    def holds(cls, condition: Scalar, params: Mapping[str, float]) -> bool:
        """Whether a condition on numbers is true."""
        return cls(condition, (), params)._holds(condition, {"": Dual(mp.mpf(0), ())})

    def at(self, point: Point) -> Truth:
        """The true value and derivatives at a point whose numbers may be 0 or infinite, but not nan."""
        with mp.workprec(self.bits):
            return self._at(point)

    def _at(self, point: Point) -> Truth:
        special = [n for n in self.inputs if point[n] == 0 or math.isinf(point[n])]
        if not special:
            d = self._dual({n: mp.mpf(point[n]) for n in self.inputs})
            return Truth(_rounded(d.value), tuple(map(_rounded, d.slopes)))
        own = {n: math.copysign(1.0, point[n]) for n in self.inputs}
        zeros = [n for n in special if point[n] == 0]
        sides = {
            signs: [
                self._limit(point, {**own, **dict(zip(zeros, signs, strict=True))}, pace)
                for pace in range(len(special) + (len(special) > 1))
            ]
            for signs in itertools.product((1.0, -1.0), repeat=len(zeros))
        }
        slopes = (_common([s.slopes[k] for side in sides.values() for s in side]) for k in range(len(self.inputs)))
        value = self._direct(point)
        if value is None:
            value = _common([s.value for s in sides[tuple(own[n] for n in zeros)]])
        return Truth(value, tuple(slopes))

    def _direct(self, point: Point) -> float | None:
        try:
            found = self._value(self.body, {n: Dual(mp.mpf(point[n]), ()) for n in self.inputs}).value
        except (ValueError, ArithmeticError, TypeError):
            found = None
        return _rounded(found)

    def _limit(self, point: Point, signs: Mapping[str, float], pace: int) -> Truth:
        """What the formula tends to; a zero is approached from the side that its sign says.

        Of several inputs that tend to a limit, one goes ahead of the others; `pace` says which, or that none does.
        """
        moving = [n for n in self.inputs if point[n] == 0 or math.isinf(point[n])]
        found: list[Dual] = []
        # Closer to 0 than the precision allows, a formula that cancels is all cancellation.
        close = _FAR if self.bits <= _EXACT else (self.bits // 8, self.bits // 6)
        for far, near in zip(_FAR, close, strict=True):
            at = {n: mp.mpf(x) for n, x in point.items()}
            for k, n in enumerate(moving):
                step = 2 if k == pace and len(moving) > 1 else 1
                at[n] = mp.ldexp(signs[n], far * step if math.isinf(point[n]) else -near * step)
            found.append(self._dual(at))
        first, second = found
        return Truth(
            _converged(first.value, second.value),
            tuple(_converged(a, b) for a, b in zip(first.slopes, second.slopes, strict=True)),
        )

    def _dual(self, at: Mapping[str, Number]) -> Dual:
        n = len(self.inputs)
        leaves = {name: Dual(at[name], tuple(mp.mpf(j == k) for j in range(n))) for k, name in enumerate(self.inputs)}
        try:
            return self._value(self.body, leaves)
        except (ValueError, ArithmeticError, TypeError):
            return Dual(None, (None,) * n)

    def _value(self, e: Scalar, leaves: Mapping[str, Dual]) -> Dual:
        n = len(next(iter(leaves.values())).slopes)
        match e:
            case Lit(value):
                return Dual(mp.mpf(value.numerator) / value.denominator, (mp.mpf(0),) * n)
            case Const(name):
                return Dual({"pi": mp.pi, "inf": mp.inf, "nan": mp.nan}[name] * mp.mpf(1), (mp.mpf(0),) * n)
            case Param(name):
                return Dual(mp.mpf(self.params[name]), (mp.mpf(0),) * n)
            case Read(tensor):
                return leaves[tensor]
            case Cast(arg):
                return self._value(arg, leaves)
            case Apply("where", (condition, a, b)):
                return self._value(a if self._holds(condition, leaves) else b, leaves)
            case Apply("add" | "mul" | "max" | "min" as fn, args) if len(args) != 2 or fn in ("add", "mul"):
                parts = [self._value(a, leaves) for a in args]
                total = parts[0]
                for part in parts[1:]:
                    total = _chain(fn, (total, part))
                return total
            case Apply(fn, args):
                return _chain(fn, tuple(self._value(a, leaves) for a in args))
        raise AssertionError(f"no number: {e}")

    def _holds(self, e: Scalar, leaves: Mapping[str, Dual]) -> bool:
        match e:
            case Lit(value):
                return bool(value)
            case Apply("and", args):
                return all(self._holds(a, leaves) for a in args)
            case Apply("or", args):
                return any(self._holds(a, leaves) for a in args)
            case Apply("not", (a,)):
                return not self._holds(a, leaves)
            case Apply(fn, (a, b)) if fn in _COMPARED:
                return _COMPARED[fn](self._value(a, leaves).value, self._value(b, leaves).value)
        return self._value(e, leaves).value != 0


def _chain(fn: str, args: tuple[Dual, ...]) -> Dual:
    values = [a.value for a in args]
    if any(mp.isnan(v) for v in values):
        raise UndefinedError
    if fn in ("add", "mul"):
        (x, y), (a, b) = values, args
        if fn == "add":
            return Dual(x + y, tuple(map(_plus, a.slopes, b.slopes)))
        slopes = (_plus(_times(y, p), _times(x, q)) for p, q in zip(a.slopes, b.slopes, strict=True))
        return Dual(x * y, tuple(slopes))
    f, partials = RULES[fn]
    slopes = [mp.mpf(0)] * len(args[0].slopes)
    for k, a in enumerate(args):
        if any(s is None or s != 0 for s in a.slopes):
            d = _partial(partials[k], values)
            slopes = [_plus(total, _times(d, s)) for total, s in zip(slopes, a.slopes, strict=True)]
    return Dual(real(f(*values)), tuple(slopes))


def _partial(rule: Callable[..., Number], values: Sequence[Number]) -> Number | None:
    try:
        return real(rule(*values))
    except (ValueError, ArithmeticError, TypeError):
        return None


def _times(a: Number | None, b: Number | None) -> Number | None:
    if (b is not None and b == 0) or (a is not None and a == 0):
        return mp.mpf(0)
    return None if a is None or b is None else a * b


def _plus(a: Number | None, b: Number | None) -> Number | None:
    return None if a is None or b is None else a + b


def _rounded(x: Number | None) -> float | None:
    if x is None or mp.isnan(x):
        return None
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def _converged(a: Number | None, b: Number | None) -> float | None:
    """The limit that two approximations show: a number, an infinity, or none."""
    if a is None or b is None or mp.isnan(a) or mp.isnan(b):
        return None
    if abs(b) < mp.ldexp(1, -60) and abs(b) <= 0.9 * abs(a):
        return 0.0
    if abs(a - b) <= mp.ldexp(abs(b), -60):
        return _rounded(b)
    if abs(b) > abs(a) * 1.1 and a * b > 0 and abs(b) > 50:
        return math.inf if b > 0 else -math.inf
    return None


def _common(values: Sequence[float | None]) -> float | None:
    """The value that all sides have."""
    first = values[0]
    return first if all(v is not None and v == first for v in values) else None
