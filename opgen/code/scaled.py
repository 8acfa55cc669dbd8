"""Constant factors of an argument, which functions with a scale of their own take in."""

from __future__ import annotations

from fractions import Fraction

from opgen.ir.scalar import Apply, Lit, Scalar

SCALED = ("exp", "erfc")  # `rt::Near` has a scale for them
_MOST = 16  # factors that neither overflow nor vanish where they come behind a square or in powers


def factored(e: Scalar) -> tuple[Scalar, Fraction]:
    """A value and a constant whose product is this: `-square(3*x)` is -9 times `square(x)`."""
    inner, scale = _factored(e)
    return (inner, scale) if Fraction(1, _MOST) <= abs(scale) <= _MOST else (e, Fraction(1))


def _factored(e: Scalar) -> tuple[Scalar, Fraction]:
    match e:
        case Apply("neg", (x,)):
            inner, scale = _factored(x)
            return inner, -scale
        case Apply("square", (x,)):
            inner, scale = _factored(x)
            return Apply("square", (inner,)), scale * scale
        case Apply("mul", (Lit(c), x)) | Apply("mul", (x, Lit(c))) if not isinstance(c, bool):
            inner, scale = _factored(x)
            return inner, c * scale
        case _:
            return e, Fraction(1)
