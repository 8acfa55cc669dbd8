"""Values and derivatives of the scalar functions in mpmath: one rule for each, independent of the table of opgen.

At 0 and at infinity what counts is the limit; `truth` asks for it from both sides.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import mpmath
from mpmath import mp

Number = Any  # mpmath has no types


class UndefinedError(ArithmeticError):
    """The formula, or its derivative, has no value here."""


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


def real(x: Number) -> Number:
    if isinstance(x, mpmath.mpc):
        if x.imag != 0:
            raise UndefinedError
        return x.real
    return x


def _power_slopes() -> tuple[Callable[..., Number], ...]:
    def base(x: Number, y: Number) -> Number:
        return mp.mpf(0) if y == 0 else y * _power(x, y - 1)

    def exponent(x: Number, y: Number) -> Number:
        if (x == 0 and y > 0) or (x == mp.inf and y < 0):
            return mp.mpf(0)
        return _power(x, y) * real(mp.log(x))

    return base, exponent


def _power(x: Number, y: Number) -> Number:
    if x == 0 and y < 0:
        return mp.inf
    if abs(y) > 64 and x not in (0, 1, -1):  # mpmath would form the exact integer power
        return mp.exp(y * mp.log(abs(x))) * (-1 if x < 0 and y % 2 else 1)
    return real(x**y)


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
    "lerp": (
        lambda x, y, t: x + t * (y - x) if abs(t) > 1 else (1 - t) * x + t * y,  # exact at both ends
        (lambda x, y, t: 1 - t, lambda x, y, t: t, lambda x, y, t: y - x),
    ),
    "pow": (_power, _power_slopes()),
    "neg": (lambda x: -x, (lambda x: mp.mpf(-1),)),
    "sub": (lambda x, y: x - y, (_ONE, lambda x, y: mp.mpf(-1))),
    "div": (lambda x, y: x / y, (lambda x, y: 1 / y, lambda x, y: -x / y**2)),
    "floordiv": (lambda x, y: mp.floor(x / y), (_ZERO, _ZERO)),
    "mod": (_rest(mp.floor), (_ONE, _between_whole(mp.floor))),
    "detach": (lambda x: x, (_ZERO,)),
}  # fmt: skip
