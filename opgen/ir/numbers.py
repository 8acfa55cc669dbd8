"""Exact constants within bounds: what formulas of literals are worth, without ever forming a very long number."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache, reduce
from operator import mul

from opgen.ir.scalar import Apply, Lit, Scalar

LARGEST = 2**1024  # from here on, float64 rounds to infinity
_BITS = 4096  # of a numerator and a denominator


def is_beyond(value: int | Fraction) -> bool:
    """Is a constant infinite in float64?"""
    return not -LARGEST < value < LARGEST


def nearest(value: int | Fraction) -> float:
    """The float64 next to an exact number."""
    return math.copysign(math.inf, value) if is_beyond(value) else float(value)


@lru_cache(maxsize=1 << 12)
def rational(e: Scalar) -> Fraction | None:
    """The value of a formula of literals; None for other formulas, and where it would take very many digits."""
    match e:
        case Lit(value) if not isinstance(value, bool):
            return _bounded(Fraction(value))
        case Apply("add" | "mul" | "sub" | "div" | "neg" | "pow" | "tofloat" as fn, args):
            parts = [rational(a) for a in args]
            known = [p for p in parts if p is not None]
            return _bounded(_applied(fn, known)) if len(known) == len(parts) else None
        case _:
            return None


def _bounded(value: Fraction | None) -> Fraction | None:
    if value is None or max(value.numerator.bit_length(), value.denominator.bit_length()) > _BITS:
        return None
    return value


def _applied(fn: str, args: list[Fraction]) -> Fraction | None:
    match fn:
        case "add":
            return sum(args, Fraction(0))
        case "mul":
            return reduce(mul, args, Fraction(1))
        case "sub":
            return args[0] - args[1]
        case "div":
            return args[0] / args[1] if args[1] else None
        case "pow":
            return _power(*args)
        case "neg":
            return -args[0]
        case _:
            return args[0]


def is_short_power(base: Fraction, exponent: int) -> bool:
    """Has an exact power few digits?"""
    return abs(exponent) * max(base.numerator.bit_length(), base.denominator.bit_length()) <= _BITS


def _power(base: Fraction, exponent: Fraction) -> Fraction | None:
    if exponent.denominator != 1 or (base == 0 and exponent < 0) or not is_short_power(base, int(exponent)):
        return None
    return base ** int(exponent)


def size_of_power(base: Fraction | None, exponent: Fraction | None) -> float | None:
    """The binary logarithm of the magnitude of a power of constants; None where it is not known or not a number."""
    if base is None or exponent is None or base == 0:
        return None
    logarithm = _log2(abs(base))
    try:
        return logarithm * float(exponent) if logarithm else 0.0
    except OverflowError:
        return math.copysign(math.inf, logarithm) * (1 if exponent > 0 else -1)


def _log2(value: Fraction) -> float:
    """Also of numbers that are a hair's breadth from 1, where the difference of logarithms would be 0."""
    near = abs(value - 1)
    if near < Fraction(1, 2**20):
        return math.log1p(float(value - 1)) / math.log(2)
    return math.log2(value.numerator) - math.log2(value.denominator)
