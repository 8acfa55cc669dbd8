"""Constant factors of an argument, which functions with a scale of their own take in.

What has a local is a value of its own: no factor is taken out of it.
"""

from __future__ import annotations

from collections.abc import Container
from fractions import Fraction

from opgen.code.printer import Printer
from opgen.ir.scalar import Apply, Lit, Scalar

SCALED = ("exp", "erfc")  # `rt::Near` has a scale for them
_MOST = 16  # factors that neither overflow nor vanish where they come behind a square or in powers


def factored(e: Scalar, held: Container[Scalar]) -> tuple[Scalar, Fraction]:
    """A value and a constant whose product is this: `-square(3*x)` is -9 times `square(x)`."""
    inner, scale = _factored(e, held)
    return (inner, scale) if Fraction(1, _MOST) <= abs(scale) <= _MOST else (e, Fraction(1))


def parts(p: Printer, args: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    """What the text of a function with a scale reads, its constant factor and the square below it aside."""
    inner, _ = factored(args[0], p.held)
    return inner.args if isinstance(inner, Apply) and inner.fn == "square" and inner not in p.held else (inner,)


def _factored(e: Scalar, held: Container[Scalar]) -> tuple[Scalar, Fraction]:
    if e in held:
        return e, Fraction(1)
    match e:
        case Apply("neg", (x,)):
            inner, scale = _factored(x, held)
            return inner, -scale
        case Apply("square", (x,)):
            inner, scale = _factored(x, held)
            return Apply("square", (inner,)), scale * scale
        case Apply("mul", (Lit(c), x)) | Apply("mul", (x, Lit(c))) if not isinstance(c, bool):
            inner, scale = _factored(x, held)
            return inner, c * scale
        case _:
            return e, Fraction(1)
