"""Products that vanish in a tail, in the form that torch code has: with the factor that grows kept finite.

In goes a Program, out comes an equal one: `x*sigmoid(x)`, which would be nan at -inf, is `max(x, -1e38)*sigmoid(x)`.
That is one cheap pass over a tensor, where a comparison and a choice are two that cost more. What grows is limited only
towards the side on which the other factors are 0; where it goes the same way in both tails, or numbers that only the
caller knows decide, it is a choice after all.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from opgen.ir.interp_functions import SCALARS
from opgen.ir.program import Compute, Program
from opgen.ir.scalar import ZERO, Apply, Const, Lit, Read, Scalar, call, mul, where
from opgen.plan.tails import Vanishing, calm

_LARGE = Fraction(10**38)  # a number in float32 as well, and 0 times it is 0
_FAR = 1e30  # an argument deep in a tail, whose powers are still numbers
_ENDLESS = 1e15  # what grows has outgrown this by then


def calmed(p: Program) -> Program:
    """The program with such products in statements that map numbers to numbers."""
    maps = {s.target: s for s in p.statements if isinstance(s, Compute) and s.op is None}
    return replace(p, statements=tuple(calm(s, maps, _limited) for s in p.statements))


def _limited(v: Vanishing) -> Scalar:
    """The product with its large factors limited towards the sides where the small ones are 0."""
    small, large = v.written
    tails = [(_at(small, v.source, x), _at(large, v.source, x)) for x in (_FAR, -_FAR)]
    gone = {math.copysign(1, b) for a, b in tails if a == 0 and abs(b) > _ENDLESS}
    kept = {math.copysign(1, b) for a, b in tails if a != 0 and abs(b) > _ENDLESS}
    if gone & kept or any(math.isnan(x) for pair in tails for x in pair):
        return where(call("eq", v.small, ZERO), ZERO, mul(v.small, v.large))
    match 1 in gone, -1 in gone:
        case True, True:
            return mul(v.small, call("clamp", v.large, Lit(-_LARGE), Lit(_LARGE)))
        case True, False:
            return mul(v.small, call("min", v.large, Lit(_LARGE)))
        case False, True:
            return mul(v.small, call("max", v.large, Lit(-_LARGE)))
        case _:
            return mul(v.small, v.large)


def _at(e: Scalar, source: Read, x: float) -> float:
    """The value of an expression of one access; nan where it depends on anything else."""
    match e:
        case Lit(value):
            return float(value)
        case Const(name):
            return {"pi": math.pi, "inf": math.inf, "nan": math.nan}[name]
        case Read() if e == source:
            return x
        case Apply(fn, args) if fn in SCALARS:
            try:
                return float(SCALARS[fn](*(_at(a, source, x) for a in args)))
            except (ValueError, ArithmeticError):
                return math.nan
        case _:
            return math.nan
