"""Quotients with a removable singularity at 0, as rewrite rules: a polynomial near 0, the quotient elsewhere.

Out come pattern and result of each, in the language of specs. The polynomial is differentiated like anything else, so
every derivative is right at 0 as well. In the other branch the quotient is spelled so that the pattern does not match
it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import takewhile
from math import factorial

from opgen.ir.functions import polynomial


def _near_zero(bound: str, variable: str, coefficients: Sequence[Fraction], elsewhere: str) -> str:
    terms = [f"{c.numerator}/{c.denominator}" for c in takewhile(lambda c: c.denominator < 1 << 62, coefficients)]
    return f"where(abs(x) < {bound}, {polynomial(variable, terms)}, {elsewhere})"


def _inverse(c: Sequence[Fraction]) -> list[Fraction]:
    """The coefficients of one over a power series that starts with 1."""
    found = [Fraction(1)]
    for n in range(1, len(c)):
        found.append(-sum((c[k] * found[n - k] for k in range(1, n + 1)), Fraction(0)))
    return found


def _times(a: Sequence[Fraction], b: Sequence[Fraction]) -> list[Fraction]:
    return [sum((a[k] * b[n - k] for k in range(n + 1)), Fraction(0)) for n in range(len(a))]


# In powers of x: expm1(x)/x and log1p(x)/x. In powers of its square: sin(x)/x, sinh(x)/x, cosh(x), tanh(x)/x.
_EXPM1 = [Fraction(1, factorial(k + 1)) for k in range(15)]
_LOG1P = [Fraction((-1) ** k, k + 1) for k in range(18)]
_SINH = [Fraction(1, factorial(2 * k + 1)) for k in range(10)]
_COSH = [Fraction(1, factorial(2 * k)) for k in range(10)]
_SIN = [Fraction((-1) ** k, factorial(2 * k + 1)) for k in range(10)]

QUOTIENTS: tuple[tuple[str, str], ...] = (
    ("(x - sin(x))/x**3", _near_zero("1", "square(x)", [-c for c in _SIN[1:]], "(1 - sinc(x/pi))/square(x)")),
    (
        "(1 - sinc(x))/x**2",
        f"square(pi)*{_near_zero('1/4', 'square(pi*x)', [-c for c in _SIN[1:]], '(1 - sinc(x))/square(pi*x)')}",
    ),
    ("expm1(x)/x", _near_zero("1/2", "x", _EXPM1, "expm1(x)*reciprocal(x)")),
    (
        "x/expm1(x)",
        _near_zero(
            "1/2", "x", _inverse(_EXPM1), "where(x > 0, -x*exp(-x)*reciprocal(expm1(-x)), x*reciprocal(expm1(x)))"
        ),
    ),
    ("log1p(x)/x", _near_zero("1/8", "x", _LOG1P, "log1p(x)*reciprocal(x)")),
    ("sinh(x)/x", _near_zero("1", "square(x)", _SINH, "sinh(x)*reciprocal(x)")),
    ("tanh(x)/x", _near_zero("1/4", "square(x)", _times(_SINH, _inverse(_COSH)), "tanh(x)*reciprocal(x)")),
)
