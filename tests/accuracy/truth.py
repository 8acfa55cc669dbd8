"""The true value and the true derivatives of a scalar formula, by mpmath at a precision at which nothing cancels.

In goes a `Scalar` over reads and a point, out come numbers. Derivatives are carried along by the chain rule with
the table of `rules`, independent of the function table of opgen.

What counts at infinity is what arithmetic with infinities gives: `2*inf`, `x**-inf`. Where that gives nothing, as for
`0*inf`, and at 0 for derivatives, it is the limit. There is none, and None comes out, where it depends on the way
there: on the side, on which of several inputs goes ahead of the others, or on whether an input that is an ordinary
number may be off by a trifle. `x*log(y)` is 0 for ever larger x where y is exactly 1, and infinite for any y beside it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mpmath import mp

from opgen.ir.scalar import Apply, Cast, Const, Lit, Param, Read, Scalar, call, mul
from tests.accuracy.rules import RULES, Number, UndefinedError, real

Point = Mapping[str, float]
_FAR = (2000, 2400)  # binary exponents that stand for the limits at 0 and at infinity
_EXACT = 400  # bits at which formulas that do not cancel are evaluated
_TRIFLE = -200  # the binary exponent of what ordinary numbers are moved by, relative to them
_ALIKE = 2.0**-40  # the relative difference up to which two limits are the same


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


_NONE = 0  # the slope of what does not depend on an input: an int, which no computed slope is

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
                self._limit(point, {**own, **dict(zip(zeros, signs, strict=True))}, pace) for pace in _paces(special)
            ]
            for signs in itertools.product((1.0, -1.0), repeat=len(zeros))
        }
        slopes = (_common([s.slopes[k] for side in sides.values() for s in side]) for k in range(len(self.inputs)))
        limit = Truth(_common([s.value for s in sides[tuple(own[n] for n in zeros)]]), tuple(slopes))
        if len(self.inputs) > 1:
            limit = _confirmed(limit, self._other_ways(point, own, special))
        return self._direct(point, limit)

    def _direct(self, point: Point, otherwise: Truth) -> Truth:
        """What arithmetic with infinities gives; no derivatives where a 0 has sides."""
        try:
            value = self._value(self.body, {n: Dual(mp.mpf(point[n]), ()) for n in self.inputs}).value
        except (ValueError, ArithmeticError, TypeError):
            value = None
        d = Dual(None, (None,) * len(self.inputs))
        if len(self.inputs) > 1 and all(point[n] != 0 for n in self.inputs):
            d = self._dual({n: mp.mpf(point[n]) for n in self.inputs})
        pairs = zip((value, *d.slopes), (otherwise.value, *otherwise.slopes), strict=True)
        first, *rest = (_rounded(found) if _is_known(found) else limit for found, limit in pairs)
        return Truth(first, tuple(rest))

    def _other_ways(self, point: Point, own: Mapping[str, float], special: Sequence[str]) -> Iterator[Truth]:
        """Limits along other ways: an input is at its limit before the others are; one beside an ordinary number."""
        if len(special) > 1:
            for n in special:
                yield self._limit(point, own, len(special), {n: mp.mpf(point[n])}, coarse=True)
        beside = [
            {n: point[n] * (1 + sign * mp.ldexp(1, _TRIFLE))}
            for n in self.inputs
            if n not in special
            for sign in (1, -1)
        ]
        for moved, pace in itertools.product(beside, _paces(special)):
            yield self._limit(point, own, pace, moved)

    def _limit(
        self,
        point: Point,
        signs: Mapping[str, float],
        pace: int,
        fixed: Mapping[str, Number] | None = None,
        *,
        coarse: bool = False,
    ) -> Truth:
        """What the formula tends to; a zero is approached from the side that its sign says, and `fixed` stays.

        Of several inputs that tend to a limit, one goes ahead of the others; `pace` says which, or that none does.
        `coarse`: not closer to 0 than the precision allows a formula that cancels; other inputs may be as small.
        """
        fixed = dict(fixed or {})
        moving = [n for n in self.inputs if n not in fixed and (point[n] == 0 or math.isinf(point[n]))]
        found: list[Dual] = []
        coarse = (coarse or len(self.inputs) == 1) and self.bits > _EXACT
        close = (self.bits // 8, self.bits // 6) if coarse else _FAR
        for far, near in zip(_FAR, close, strict=True):
            at = {n: mp.mpf(x) for n, x in point.items()} | fixed
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
        slopes = [tuple(mp.mpf(1) if j == k else _NONE for j in range(n)) for k in range(n)]
        leaves = {name: Dual(at[name], own) for name, own in zip(self.inputs, slopes, strict=True)}
        try:
            return self._value(self.body, leaves)
        except (ValueError, ArithmeticError, TypeError):
            return Dual(None, (None,) * n)

    def _value(self, e: Scalar, leaves: Mapping[str, Dual]) -> Dual:
        n = len(next(iter(leaves.values())).slopes)
        match e:
            case Lit(value):
                return Dual(mp.mpf(value.numerator) / value.denominator, (_NONE,) * n)
            case Const(name):
                return Dual({"pi": mp.pi, "inf": mp.inf, "nan": mp.nan}[name] * mp.mpf(1), (_NONE,) * n)
            case Param(name):
                return Dual(mp.mpf(self.params[name]), (_NONE,) * n)
            case Read(tensor):
                return leaves[tensor]
            case Cast(arg):
                return self._value(arg, leaves)
            case Apply("add", (Lit(1), Apply("tanh", (a,))) | (Apply("tanh", (a,)), Lit(1))):
                # No precision keeps what is left of -1.
                return self._value(mul(Lit(2), call("sigmoid", mul(Lit(2), a))), leaves)
            case Apply("sub", (Lit(1), Apply("sigmoid", (a,)))):
                return self._value(call("sigmoid", call("neg", a)), leaves)
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


def _paces(moving: Sequence[str]) -> range:
    """Which of several inputs goes ahead: each of them, and none."""
    return range(len(moving) + (len(moving) > 1))


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
    slopes: list[Number | None] = [_NONE] * len(args[0].slopes)
    for k, a in enumerate(args):
        if any(s is not _NONE for s in a.slopes):
            d = _partial(partials[k], values)
            slopes = [_plus(total, _times(d, s)) for total, s in zip(slopes, a.slopes, strict=True)]
    return Dual(real(f(*values)), tuple(slopes))


def _partial(rule: Callable[..., Number], values: Sequence[Number]) -> Number | None:
    try:
        return real(rule(*values))
    except (ValueError, ArithmeticError, TypeError):
        return None


def _times(factor: Number | None, slope: Number | None) -> Number | None:
    if slope is _NONE:
        return _NONE
    if factor is None or slope is None:
        return None
    return None if mp.isnan(product := factor * slope) else product


def _plus(a: Number | None, b: Number | None) -> Number | None:
    return None if a is None or b is None else a + b


def _is_known(x: Number | None) -> bool:
    return x is not None and not mp.isnan(x)


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
    if a == b:
        return _rounded(b)
    if abs(b) < mp.ldexp(1, -60) and abs(b) <= 0.9 * abs(a):
        return 0.0
    if abs(a - b) <= mp.ldexp(abs(b), -60):
        return _rounded(b)
    if abs(b) > abs(a) * 1.1 and a * b > 0 and abs(b) > 50:
        return math.inf if b > 0 else -math.inf
    return None


def _confirmed(limit: Truth, others: Iterable[Truth]) -> Truth:
    """The limit, as far as none that is known along another way is another one."""
    found = [limit.value, *limit.slopes]
    for other in others:
        for k, x in enumerate((other.value, *other.slopes)):
            mine = found[k]
            if mine is not None and x is not None and not math.isclose(mine, x, rel_tol=_ALIKE, abs_tol=_ALIKE):
                found[k] = None
    return Truth(found[0], tuple(found[1:]))


def _common(values: Sequence[float | None]) -> float | None:
    """The value that all sides have."""
    first = values[0]
    return first if all(v is not None and v == first for v in values) else None
