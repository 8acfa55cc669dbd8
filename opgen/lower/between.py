"""The numbers that values lie between, whatever is passed: `sigmoid(x)` between 0 and 1, `sigmoid(x) - 1` below 0.

In: expressions as they are written. Only ends that every dtype holds exactly count, others become the next of these:
what rounds to the nearest number does not leave them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import floor, isfinite

from opgen.ir.interp_functions import SCALARS
from opgen.lang.nodes import (
    Access,
    Assign,
    Call,
    Compare,
    Expr,
    Logic,
    Name,
    Number,
    Power,
    Product,
    Reduction,
    Sum,
    Unary,
)
from opgen.lang.walk import integer, literal
from opgen.lower.assigned import written_out
from opgen.lower.declare import Declarations
from opgen.lower.multiples import NEVER_NEGATIVE, Known

_FUNCTIONS: Mapping[str, tuple[int | None, int | None]] = {
    **dict.fromkeys(NEVER_NEGATIVE, (0, None)),
    **dict.fromkeys(("sigmoid", "uniform"), (0, 1)),
    **dict.fromkeys(("tanh", "erf", "sin", "cos"), (-1, 1)),
    "erfc": (0, 2),
    "cosh": (1, None),
}
_OF_NUMBERS = (  # which are numbers, of a number
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "sigmoid", "softplus", "erf", "erfc", "abs", "square",
)  # fmt: skip
_FEW, _PARTS = 256, 8  # whole numbers and fractions that a dtype of 16 bits has
_ROUGH = 64  # of so many parts of a number, one is more than it is rounded by there


@dataclass(frozen=True, slots=True)
class Ends:
    """Between which numbers something lies; None where nothing is known."""

    low: Fraction | None = None
    high: Fraction | None = None

    def turned(self) -> Ends:
        """Those of what is subtracted."""
        return Ends(None if self.high is None else -self.high, None if self.low is None else -self.low)

    def is_signed(self, sign: int) -> bool:
        """Whether a number times 1, or -1, is never below 0."""
        end = self.low if sign > 0 else self.high
        return end is not None and end * sign >= 0


def _ends(low: Fraction | int | None, high: Fraction | int | None) -> Ends:
    """Ends that are exact in all dtypes, as close around others as there are."""
    return Ends(None if low is None else _below(Fraction(low)), None if high is None else _above(Fraction(high)))


def _around(x: float) -> Ends:
    """Ends around a number that is rounded, in dtypes of 16 bits, too."""
    far = abs(Fraction(x)) / _ROUGH if isfinite(x) else Fraction(0)
    return _ends(Fraction(x) - far, Fraction(x) + far) if isfinite(x) else Ends()


def _below(x: Fraction) -> Fraction | None:
    """The greatest exact number that is not above another one."""
    parts = min(floor(x * _PARTS), _FEW)
    return None if parts < -_FEW else Fraction(parts, _PARTS)


def _above(x: Fraction) -> Fraction | None:
    """The least exact number that is not below another one."""
    below = _below(-x)
    return None if below is None else -below


@dataclass(frozen=True, slots=True)
class Between:
    """Between which numbers expressions lie, as far as that is plain to see, perhaps if inputs are `within` domains."""

    d: Declarations
    once: Mapping[str, Assign]
    known: Known
    within: bool = False
    found: dict[Expr, Ends] = field(default_factory=dict)

    def ends(self, e: Expr) -> Ends:
        """The least and the greatest number that an expression may be, each looked at once."""
        if e not in self.found:
            self.found[e] = self.looked_up(e)
        return self.found[e]

    def looked_up(self, e: Expr) -> Ends:
        """The same of an expression that has not been met."""
        e = written_out(e, self.once)
        match e:
            case Number(value=value):
                return _ends(value, value)
            case Unary(op="-", operand=a):
                return self.ends(a).turned()
            case Sum(terms=terms):
                return self.of_sum(terms)
            case Product(factors=((_, a), *rest)):
                return self.of_product(self.ends(a), rest)
            case Power(base=base, exponent=exponent) if (n := integer(exponent) or 1) > 0 and n % 2 == 0:
                return self.of_power(self.ends(base), n)
            case Compare() | Logic() | Unary(op="not") | Reduction(name="softmax" | "any" | "all"):
                return _ends(0, 1)
            case Call(name=name) if name in self.d.functions:
                return Ends()
            case Call(name="cast" | "detach", args=(a, *_)):
                return self.ends(a)
            case Call(name="where" | "clamp", args=(_, a, b)):
                return self.either(self.ends(a), self.ends(b))
            case Call(name=name, args=(a,)) if name in _OF_NUMBERS and (number := literal(a)) is not None:
                return _around(SCALARS[name](float(number)))
            case Call(name=name) if name in _FUNCTIONS:
                return _ends(*_FUNCTIONS[name])
            case Call(name="max" | "min" as name, args=(a, b)):
                return self.extreme(self.ends(a), self.ends(b), name)
            case Reduction(name="max", body=body):  # of nothing it is -inf
                return Ends(high=self.ends(body).high)
            case Reduction(name="min", body=body):
                return Ends(low=self.ends(body).low)
            case Name() | Access():
                return self.declared(e)
            case _:
                return Ends()

    def either(self, a: Ends, b: Ends) -> Ends:
        """Those of one or the other."""
        low = None if a.low is None or b.low is None else min(a.low, b.low)
        return Ends(low, None if a.high is None or b.high is None else max(a.high, b.high))

    def extreme(self, a: Ends, b: Ends, name: str) -> Ends:
        """Those of the greater of two, or the less."""
        if name == "min":
            return self.extreme(a.turned(), b.turned(), "max").turned()
        low = max((x for x in (a.low, b.low) if x is not None), default=None)
        return Ends(low, None if a.high is None or b.high is None else max(a.high, b.high))

    def of_sum(self, terms: tuple[tuple[str, Expr], ...]) -> Ends:
        """Those of a sum, from its first term on."""
        total = _ends(0, 0)
        for op, t in terms:
            more = self.ends(t) if op == "+" else self.ends(t).turned()
            low = None if total.low is None or more.low is None else total.low + more.low
            total = _ends(low, None if total.high is None or more.high is None else total.high + more.high)
        return total

    def of_product(self, first: Ends, rest: list[tuple[str, Expr]]) -> Ends:
        """Those of a product, or a quotient by a number, of what has both ends."""
        for op, f in rest:
            number = literal(f) if op == "/" else None
            if op != "*" and not number:
                return Ends()
            corners = [*self.corners(first, Ends(*[1 / Fraction(number)] * 2) if number else self.ends(f))]
            first = _ends(min(corners), max(corners)) if corners else Ends()
        return first

    def corners(self, a: Ends, b: Ends) -> Iterator[Fraction]:
        """The products of ends, if there are all of them."""
        if a.low is not None and a.high is not None and b.low is not None and b.high is not None:
            yield from (x * y for x, y in product((a.low, a.high), (b.low, b.high)))

    def of_power(self, base: Ends, n: int) -> Ends:
        """Those of a power that is never below 0."""
        far = None if base.low is None or base.high is None else max(-base.low, base.high)
        return _ends(0, None if far is None else far**n)

    def declared(self, e: Name | Access) -> Ends:
        """What the domain of a param says, or that an input is a condition; other inputs may be asked beyond theirs."""
        if e.name in self.d.inputs and self.d.inputs[e.name].kind == "bool":
            return _ends(0, 1)
        if e.name in self.d.inputs and not self.within:
            return Ends()
        bounds = [f.sum for f in self.known.facts(e) if {*f.sum} <= {e, None}]
        found = [(s[e] > 0, -s.get(None, Fraction(0)) / s[e]) for s in bounds]
        low, high = (x for is_low, x in found if is_low), (x for is_low, x in found if not is_low)
        return _ends(max(low, default=None), min(high, default=None))
