"""The true value and the true derivatives of a scalar formula, by mpmath at a precision at which nothing cancels.

In goes a `Scalar` over reads and a point, out come numbers. Derivatives are carried along by the chain rule with a
table of our own, independent of the function table of opgen. At 0 and at infinity what counts is the limit: where the
limits from the sides differ there is no true derivative, and None comes out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
from mpmath import mp

from opgen.ir.scalar import Apply, Cast, Const, Lit, Param, Read, Scalar

Number = Any  # mpmath has no types
Point = Mapping[str, float]
_FAR = (2000, 2400)  # binary exponents that stand for the limits at 0 and at infinity
_EXACT = 400  # bits at which formulas that do not cancel are evaluated


class UndefinedError(ArithmeticError):
    """The formula, or its derivative, has no value here."""


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


def _erfcx(x: Number) -> Number:
    if x < 100:
        return mp.exp(x * x) * mp.erfc(x)
    return _asymptotic(lambda k, t: -t * (2 * k - 1) / (2 * x * x)) / (x * mp.sqrt(mp.pi))


def _asymptotic(step: Callable[[int, Number], Number]) -> Number:
    """The sum of an asymptotic series that starts with 1, up to its smallest term or the precision."""
    total = term = mp.mpf(1)
    for k in range(1, 400):
        following = step(k, term)
        if abs(following) >= abs(term) or abs(following) < mp.eps * abs(total):
            break
        term = following
        total += term
    return total


def _scaled_bessel(order: int) -> Callable[[Number], Number]:
    def f(x: Number) -> Number:
        a = abs(x)
        if a < 300:
            y = mp.besseli(order, a) * mp.exp(-a)
        else:
            mu = 4 * order * order
            y = _asymptotic(lambda k, t: -t * (mu - (2 * k - 1) ** 2) / (k * 8 * a)) / mp.sqrt(2 * mp.pi * a)
        return -y if order == 1 and x < 0 else y

    return f


_I0E, _I1E = _scaled_bessel(0), _scaled_bessel(1)


def _polygamma(n: int, x: Number) -> Number:
    """By reflection for negative numbers, where mpmath adds term by term."""
    if x > 0:
        return mp.digamma(x) if n == 0 else mp.polygamma(n, x)
    if mp.isint(x):
        raise UndefinedError
    powers = [0, 1]  # of the cotangent: its n-th derivative by pi x
    for _ in range(n):
        slope = [k * c for k, c in enumerate(powers)][1:]
        powers = [-a - b for a, b in itertools.zip_longest(slope, [0, 0, *slope], fillvalue=0)]
    cot = mp.cot(mp.pi * (x - mp.nint(x)))
    reflected = mp.pi ** (n + 1) * mp.polyval(powers[::-1], cot)
    return (-1) ** n * _polygamma(n, 1 - x) - reflected


def _lgamma(x: Number) -> Number:
    return mp.inf if x <= 0 and mp.isint(x) else mp.re(mp.loggamma(x))


def _softplus(x: Number) -> Number:
    return x + mp.log1p(mp.exp(-x)) if x > 0 else mp.log1p(mp.exp(x))


def _sigmoid(x: Number) -> Number:
    return 1 / (1 + mp.exp(-x)) if x > 0 else mp.exp(x) / (1 + mp.exp(x))


def _sech2(x: Number) -> Number:
    e = mp.exp(-2 * abs(x))
    return 4 * e / (1 + e) ** 2


def _sinc_slope(x: Number) -> Number:
    a = mp.pi * x
    return mp.mpf(0) if a == 0 else mp.pi * (mp.cos(a) * a - mp.sin(a)) / (a * a)


def _kink(a: Number, b: Number, first: Number, second: Number) -> Number:
    """One slope where `a > b`, another where `a < b`."""
    if a == b:
        raise UndefinedError
    return first if a > b else second


def _real(x: Number) -> Number:
    if isinstance(x, mpmath.mpc):
        if x.imag != 0:
            raise UndefinedError
        return x.real
    return x


def _power_slopes() -> tuple[Callable[..., Number], ...]:
    def base(x: Number, y: Number) -> Number:
        return mp.mpf(0) if y == 0 else y * _power(x, y - 1)

    def exponent(x: Number, y: Number) -> Number:
        if x == 0 and y > 0:
            return mp.mpf(0)
        return _power(x, y) * _real(mp.log(x))

    return base, exponent


def _power(x: Number, y: Number) -> Number:
    if x == 0 and y < 0:
        return mp.inf
    if abs(y) > 64 and x not in (0, 1, -1):  # mpmath would form the exact integer power
        return mp.exp(y * mp.log(abs(x))) * (-1 if x < 0 and y % 2 else 1)
    return _real(x**y)


def _rest(f: Callable[[Number], Number]) -> Callable[..., Number]:
    """The rest of a division, whose quotient is made whole by `f`; it has no limits at 0 and at infinity."""

    def g(x: Number, y: Number = 1) -> Number:
        if not mp.ldexp(1, -600) < abs(y) < mp.ldexp(1, 600) or abs(x) > mp.ldexp(1, 600):
            raise UndefinedError
        with mp.workprec(1300):
            return x - y * f(x / y)

    return g


def _toward_zero(x: Number) -> Number:
    return mp.floor(x) if x >= 0 else mp.ceil(x)


def _between_whole(f: Callable[[Number], Number]) -> Callable[[Number, Number], Number]:
    """Minus the whole part of a quotient, where that does not jump."""

    def g(x: Number, y: Number) -> Number:
        q = x / y
        if mp.isint(q) and q != 0:
            raise UndefinedError
        return -f(q)

    return g


def _half_even(x: Number) -> Number:
    low = mp.floor(x)
    rest = x - low
    up = rest > 0.5 or (rest == 0.5 and mp.fmod(low, 2) != 0)
    return low + 1 if up else low


_ZERO = lambda *_: mp.mpf(0)  # noqa: E731
_ONE = lambda *_: mp.mpf(1)  # noqa: E731

Rule = tuple[Callable[..., Number], tuple[Callable[..., Number], ...]]
RULES: dict[str, Rule] = {
    "exp": (mp.exp, (mp.exp,)),
    "exp2": (lambda x: mp.exp(x * mp.log(2)), (lambda x: mp.log(2) * mp.exp(x * mp.log(2)),)),
    "expm1": (mp.expm1, (mp.exp,)),
    "log": (mp.log, (lambda x: 1 / x if x >= 0 else mp.nan,)),
    "log2": (lambda x: mp.log(x) / mp.log(2), (lambda x: 1 / (x * mp.log(2)) if x >= 0 else mp.nan,)),
    "log10": (lambda x: mp.log(x) / mp.log(10), (lambda x: 1 / (x * mp.log(10)) if x >= 0 else mp.nan,)),
    "log1p": (mp.log1p, (lambda x: 1 / (1 + x) if x >= -1 else mp.nan,)),
    "sqrt": (mp.sqrt, (lambda x: 1 / (2 * mp.sqrt(x)),)),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), (lambda x: -1 / (2 * x * mp.sqrt(x)),)),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), (lambda x: 1 / (3 * mp.cbrt(abs(x)) ** 2),)),
    "square": (lambda x: x * x, (lambda x: 2 * x,)),
    "reciprocal": (lambda x: 1 / x, (lambda x: -1 / x**2,)),
    "abs": (abs, (lambda x: _kink(x, 0, mp.mpf(1), mp.mpf(-1)),)),
    "hypot": (
        lambda x, y: mp.sqrt(x * x + y * y),
        (lambda x, y: x / mp.sqrt(x * x + y * y), lambda x, y: y / mp.sqrt(x * x + y * y)),
    ),
    "logaddexp": (
        lambda x, y: max(x, y) + mp.log1p(mp.exp(-abs(x - y))),
        (lambda x, y: _sigmoid(x - y), lambda x, y: _sigmoid(y - x)),
    ),
    "xlogy": (
        lambda x, y: mp.mpf(0) if x == 0 else x * mp.log(y),
        (lambda x, y: mp.log(y), lambda x, y: x / y if y >= 0 else mp.nan),
    ),
    "sin": (mp.sin, (mp.cos,)),
    "cos": (mp.cos, (lambda x: -mp.sin(x),)),
    "tan": (mp.tan, (lambda x: 1 / mp.cos(x) ** 2,)),
    "asin": (mp.asin, (lambda x: 1 / mp.sqrt((1 - x) * (1 + x)),)),
    "acos": (mp.acos, (lambda x: -1 / mp.sqrt((1 - x) * (1 + x)),)),
    "atan": (mp.atan, (lambda x: 1 / (1 + x * x),)),
    "atan2": (
        mp.atan2,
        (lambda y, x: x / (x * x + y * y), lambda y, x: -y / (x * x + y * y)),
    ),
    "sinh": (mp.sinh, (mp.cosh,)),
    "cosh": (mp.cosh, (mp.sinh,)),
    "tanh": (mp.tanh, (_sech2,)),
    "asinh": (lambda x: mp.sign(x) * mp.asinh(abs(x)), (lambda x: 1 / mp.sqrt(1 + x * x),)),
    "acosh": (mp.acosh, (lambda x: 1 / mp.sqrt((x - 1) * (x + 1)) if x >= 1 else mp.nan,)),
    "atanh": (mp.atanh, (lambda x: 1 / ((1 - x) * (1 + x)) if abs(x) <= 1 else mp.nan,)),
    "sinc": (lambda x: mp.mpf(1) if x == 0 else mp.sin(mp.pi * x) / (mp.pi * x), (_sinc_slope,)),
    "sigmoid": (_sigmoid, (lambda x: _sigmoid(x) * _sigmoid(-x),)),
    "logsigmoid": (lambda x: -_softplus(-x), (lambda x: _sigmoid(-x),)),
    "softplus": (_softplus, (_sigmoid,)),
    "relu": (lambda x: max(x, mp.mpf(0)), (lambda x: _kink(x, 0, mp.mpf(1), mp.mpf(0)),)),
    "silu": (lambda x: x * _sigmoid(x), (lambda x: _sigmoid(x) * (1 + x * _sigmoid(-x)),)),
    "erf": (mp.erf, (lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x),)),
    "erfc": (mp.erfc, (lambda x: -2 / mp.sqrt(mp.pi) * mp.exp(-x * x),)),
    "erfinv": (mp.erfinv, (lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(mp.erfinv(x) ** 2),)),
    "erfcx": (_erfcx, (lambda x: 2 * x * _erfcx(x) - 2 / mp.sqrt(mp.pi),)),
    "lgamma": (_lgamma, (lambda x: _polygamma(0, x),)),
    "digamma": (lambda x: _polygamma(0, x), (lambda x: _polygamma(1, x),)),
    "polygamma": (lambda n, x: _polygamma(int(n), x), (_ZERO, lambda n, x: _polygamma(int(n) + 1, x))),
    "i0e": (_I0E, (lambda x: _I1E(x) - mp.sign(x) * _I0E(x) if x else _kink(x, 0, x, x),)),
    "i1e": (_I1E, (lambda x: mp.mpf(0.5) if x == 0 else _I0E(x) - _I1E(x) * (mp.sign(x) + 1 / x),)),
    "sign": (mp.sign, (_ZERO,)),
    "copysign": (
        lambda x, y: _kink(y, 0, abs(x), -abs(x)),
        (lambda x, y: _kink(x, 0, mp.mpf(1), mp.mpf(-1)) * (1 if y >= 0 else -1), _ZERO),
    ),
    "floor": (mp.floor, (_ZERO,)),
    "ceil": (mp.ceil, (_ZERO,)),
    "round": (_half_even, (_ZERO,)),
    "trunc": (_toward_zero, (_ZERO,)),
    "frac": (_rest(_toward_zero), (_ONE,)),
    "heaviside": (lambda x, y: y if x == 0 else mp.mpf(x > 0), (_ZERO, _ZERO)),
    "fmod": (_rest(_toward_zero), (_ONE, _between_whole(_toward_zero))),
    "remainder": (_rest(mp.floor), (_ONE, _between_whole(mp.floor))),
    "max": (max, tuple(lambda x, y, k=k: _kink(x, y, mp.mpf(1 - k), mp.mpf(k)) for k in (0, 1))),
    "min": (min, tuple(lambda x, y, k=k: _kink(x, y, mp.mpf(k), mp.mpf(1 - k)) for k in (0, 1))),
    "clamp": (
        lambda x, low, high: min(max(x, low), high),
        (lambda x, low, high: mp.mpf(low <= x <= high), lambda x, low, high: mp.mpf(low < high and x < low),
         lambda x, low, high: mp.mpf(x > high or high < low)),
    ),
    "lerp": (lambda x, y, t: x + t * (y - x), (lambda x, y, t: 1 - t, lambda x, y, t: t, lambda x, y, t: y - x)),
    "pow": (_power, _power_slopes()),
    "neg": (lambda x: -x, (lambda x: mp.mpf(-1),)),
    "sub": (lambda x, y: x - y, (_ONE, lambda x, y: mp.mpf(-1))),
    "div": (lambda x, y: x / y, (lambda x, y: 1 / y, lambda x, y: -x / y**2)),
    "floordiv": (lambda x, y: mp.floor(x / y), (_ZERO, _ZERO)),
    "mod": (_rest(mp.floor), (_ONE, _between_whole(mp.floor))),
    "detach": (lambda x: x, (_ZERO,)),
}  # fmt: skip

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
        sides = [
            self._limit(point, {**own, **dict(zip(zeros, signs, strict=True))}, pace)
            for zeros in [[n for n in special if point[n] == 0]]
            for signs in itertools.product((1.0, -1.0), repeat=len(zeros))
            for pace in range(len(special))
        ]
        slopes = (_common([s.slopes[k] for s in sides]) for k in range(len(self.inputs)))
        return Truth(self._value_at(point, own), tuple(slopes))

    def _value_at(self, point: Point, own: Mapping[str, float]) -> float | None:
        try:
            found = self._value(self.body, {n: Dual(mp.mpf(point[n]), ()) for n in self.inputs}).value
        except (ValueError, ArithmeticError, TypeError):
            found = None
        direct = _rounded(found)
        return self._limit(point, own, 0).value if direct is None else direct

    def _limit(self, point: Point, signs: Mapping[str, float], pace: int) -> Truth:
        """What the formula tends to; a zero is approached from the side that its sign says.

        Of several inputs that tend to a limit, one goes ahead of the others; `pace` says which.
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
    return Dual(_real(f(*values)), tuple(slopes))


def _partial(rule: Callable[..., Number], values: Sequence[Number]) -> Number | None:
    try:
        return _real(rule(*values))
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
