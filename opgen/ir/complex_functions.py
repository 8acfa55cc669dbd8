"""Functions of complex numbers as formulas of real and imaginary parts: one rule per function.

In goes a pair of real scalars for each argument, out comes the pair of the result. Formulas avoid overflow and
cancellation where the plain ones have them, and their real derivatives are those of the function, so that nothing after
this knows of complex numbers. `let` names a part that is used several times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from opgen.ir.scalar import ONE, PI, TWO, ZERO, Apply, Lit, Scalar, add, both, call, div, mul, neg, power, sub, where

Pair = tuple[Scalar, Scalar]
Let = Callable[[str, Scalar], Scalar]
Rule = Callable[[Let, Scalar, Scalar], Pair]
Result = Literal["complex", "float", "bool"]

_HALF = div(ONE, TWO)

# What the language has for complex numbers only; of a float, `real` and `conj` are the number itself.
PARTS = ("real", "imag", "conj", "angle", "complex")

# Functions that are put together from others.
FORMULAS = {
    "exp2": "exp(z*log(2))",
    "log2": "log(z)/log(2)",
    "log10": "log(z)/log(10)",
    "rsqrt": "reciprocal(sqrt(z))",
    "sigmoid": "(1 + tanh(z/2))/2",
    "silu": "z*sigmoid(z)",
    "atanh": "(log1p(z) - log1p(-z))/2",
    "asinh": """where(real(z) < 0, -log1p(square(z)/(1 + sqrt(1 + square(z))) - z),
        log1p(square(z)/(1 + sqrt(1 + square(z))) + z))""",
    "acos": "pi/2 - asin(z)",
    "acosh": "log(z + sqrt(z + 1)*sqrt(z - 1))",
    "lerp": "x + t*(y - x)",
}
ARGUMENTS = {"lerp": ("x", "y", "t")}  # of formulas with other arguments than `z`

# f(z) = -i*g(i*z)
ROTATED = {"tan": "tanh", "atan": "atanh", "asin": "asinh"}


def is_zero(a: Scalar, b: Scalar) -> Scalar:
    """The condition that a number is 0."""
    return both(call("eq", a, ZERO), call("eq", b, ZERO))


def modulus(a: Scalar, b: Scalar) -> Scalar:
    """The absolute value, with derivative 0 at 0."""
    return call("modulus", a, b)


def product(a: Scalar, b: Scalar, c: Scalar, d: Scalar) -> Pair:
    """(a + ib)(c + id)."""
    return _plus(mul(a, c), neg(mul(b, d))), _plus(mul(a, d), mul(b, c))


def _plus(a: Scalar, b: Scalar) -> Scalar:
    """A sum, written as a difference where one term has a sign."""
    if isinstance(b, Apply) and b.fn == "neg":
        return sub(a, b.args[0])
    return sub(b, a.args[0]) if isinstance(a, Apply) and a.fn == "neg" else add(a, b)


def quotient(let: Let, a: Scalar, b: Scalar, c: Scalar, d: Scalar) -> Pair:
    """(a + ib)/(c + id), with the divisor scaled to about 1 first, so that no square overflows.

    The quotient does not depend on that scale, so it is a constant for derivatives.
    """
    size = let("size", call("magnitude", c, d))
    c, d = let("scaled", div(c, size)), let("scaled", div(d, size))
    square = let("square", mul(add(mul(c, c), mul(d, d)), size))
    return div(_plus(mul(a, c), mul(b, d)), square), div(_plus(mul(b, c), neg(mul(a, d))), square)


def polar(let: Let, a: Scalar, b: Scalar, exponent: Scalar) -> Pair:
    """A real power, by absolute value and angle."""
    size = let("power", power(let("modulus", modulus(a, b)), exponent))
    angle = let("angle", mul(exponent, call("atan2", b, a)))
    return mul(size, call("cos", angle)), mul(size, call("sin", angle))


def _exp(let: Let, a: Scalar, b: Scalar) -> Pair:
    size = ONE if a == ZERO else let("exp", call("exp", a))
    return mul(size, call("cos", b)), mul(size, call("sin", b))


def _expm1(let: Let, a: Scalar, b: Scalar) -> Pair:
    half = let("sin", call("sin", mul(_HALF, b)))
    real = sub(mul(call("expm1", a), call("cos", b)), mul(TWO, half, half))
    return real, mul(call("exp", a), call("sin", b))


def _log(_: Let, a: Scalar, b: Scalar) -> Pair:
    return call("log", call("hypot", a, b)), call("atan2", b, a)


def _log1p(let: Let, a: Scalar, b: Scalar) -> Pair:
    """Near 0 by log1p of |1 + z|**2 - 1, which does not cancel there."""
    moved = let("moved", add(a, ONE))
    near = call("lt", call("max", call("abs", a), call("abs", b)), _HALF)
    small = mul(_HALF, call("log1p", add(mul(a, add(a, TWO)), mul(b, b))))
    return where(near, small, call("log", call("hypot", moved, b))), call("atan2", b, moved)


def _sqrt(let: Let, a: Scalar, b: Scalar) -> Pair:
    """The larger part by a root without cancellation, the other one by division; the side is that of the cut."""
    right = call("ge", a, ZERO)
    size = let("modulus", call("hypot", a, b))
    root = let("root", call("sqrt", add(mul(_HALF, where(right, a, neg(a))), mul(_HALF, size))))
    side = call("copysign", ONE, b)
    other = div(b, mul(TWO, root))
    zero = is_zero(a, b)
    real = where(right, root, mul(side, other))
    return real, where(zero, b, where(right, other, mul(side, root)))


def _square(_: Let, a: Scalar, b: Scalar) -> Pair:
    return mul(sub(a, b), add(a, b)), mul(TWO, a, b)


def _reciprocal(let: Let, a: Scalar, b: Scalar) -> Pair:
    return quotient(let, ONE, ZERO, a, b)


def _sin(_: Let, a: Scalar, b: Scalar) -> Pair:
    return mul(call("sin", a), call("cosh", b)), mul(call("cos", a), call("sinh", b))


def _cos(_: Let, a: Scalar, b: Scalar) -> Pair:
    return mul(call("cos", a), call("cosh", b)), neg(mul(call("sin", a), call("sinh", b)))


def _sinh(_: Let, a: Scalar, b: Scalar) -> Pair:
    return mul(call("sinh", a), call("cos", b)), mul(call("cosh", a), call("sin", b))


def _cosh(_: Let, a: Scalar, b: Scalar) -> Pair:
    return mul(call("cosh", a), call("cos", b)), mul(call("sinh", a), call("sin", b))


def _tanh(let: Let, a: Scalar, b: Scalar) -> Pair:
    """Near the imaginary axis by sinh, which is exact at 0; further out by exp(-2|a|), which does not overflow."""
    near = call("lt", call("abs", a), ONE)
    inner = let("inner", where(near, a, ZERO))
    sinh, cos, sin = let("sinh", call("sinh", inner)), let("cos", call("cos", b)), let("sin", call("sin", b))
    below = let("below", add(mul(sinh, sinh), mul(cos, cos)))
    decay = let("decay", call("exp", mul(Lit(-2), call("abs", where(near, ONE, a)))))
    outer = let("outer", add(ONE, mul(decay, decay), mul(TWO, decay, call("cos", mul(TWO, b)))))
    far = mul(call("sign", a), div(sub(ONE, mul(decay, decay)), outer))
    real = where(near, div(mul(sinh, call("cosh", inner)), below), far)
    return real, where(near, div(mul(sin, cos), below), div(mul(TWO, decay, call("sin", mul(TWO, b))), outer))


def _sign(let: Let, a: Scalar, b: Scalar) -> Pair:
    size = let("modulus", modulus(a, b))
    zero = is_zero(a, b)
    return where(zero, ZERO, div(a, size)), where(zero, ZERO, div(b, size))


def _detach(_: Let, a: Scalar, b: Scalar) -> Pair:
    return call("detach", a), call("detach", b)


RULES: dict[str, Rule] = {
    "exp": _exp,
    "expm1": _expm1,
    "log": _log,
    "log1p": _log1p,
    "sqrt": _sqrt,
    "square": _square,
    "reciprocal": _reciprocal,
    "sin": _sin,
    "cos": _cos,
    "sinh": _sinh,
    "cosh": _cosh,
    "tanh": _tanh,
    "sign": _sign,
    "detach": _detach,
}

# Functions of complex numbers that give something else; `pow` and the comparisons are arithmetic.
RESULTS: dict[str, Result] = {"abs": "float", "isnan": "bool", "isfinite": "bool"}

COMPLEX: dict[str, Result] = {
    **dict.fromkeys(RULES, "complex"),
    **dict.fromkeys(FORMULAS, "complex"),
    **dict.fromkeys(ROTATED, "complex"),
    "pow": "complex",
    **RESULTS,
}


def angle_of_float(a: Scalar) -> Scalar:
    """0 or pi."""
    return where(call("lt", a, ZERO), PI, ZERO)
