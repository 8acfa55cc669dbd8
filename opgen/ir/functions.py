"""The table of scalar functions: one row each, read by parser, differentiator, printers, sampler, docs and tests.

Derivatives are formulas in the spec language over the argument names, one per argument; `None` means zero everywhere
it is defined (conditions, rounding). They are written with primitives that stay finite and accurate in the tails, so
that derivatives of every order do. Kinks follow torch. A row with a `value`, a formula of other rows, is that formula
once nothing is differentiated any more, so that no back end has to know it. Any other is spelt by each back end:
spellings are format strings over the printed arguments, each of which stands alone between commas or parentheses; an
infix row is printed by the printers' own precedence table and has empty spellings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import factorial, prod
from typing import Literal

from opgen.ir import functions_text as spell

Result = Literal["float", "int", "bool", "same"]


@dataclass(frozen=True, slots=True)
class ScalarFunction:
    """One function. `args` names the arguments (trailing ones may be optional: `optional` counts them)."""

    name: str
    args: tuple[str, ...]
    derivatives: tuple[str, ...] | None
    value: str = ""  # a formula of other rows, for a function that no back end has; it then has no spellings
    torch: str = ""  # "torch.sigmoid({0})": every tensor argument a tensor
    torch_number: str = ""  # used when arguments after the first are Python numbers; empty: `torch` takes them
    cpp: str = ""  # "rt::sigmoid({0})": a function of the shipped C++ header, overloaded on float and double
    cuda: str = ""  # "rt::sigmoid({0})": a function of the shipped CUDA header
    python: str = ""  # on Python numbers ("numbers.sqrt({0})"); empty: only torch has it, go through a 0-dim tensor
    python_whole: str = ""  # on whole numbers, where that is another one
    python_constant: str = ""  # on constants it is defined for, where that is another one ("math.sqrt({0})")
    result: Result = "float"  # "same": kind of the arguments, promoted
    optional: int = 0
    orders: int = 0  # leading arguments that are constant whole numbers, such as the order of a derivative
    infix: bool = False
    variadic: bool = False  # add, mul, and, or, min, max
    internal: bool = False  # made by rewrites and derivatives, no name of the spec language
    domain: tuple[float, float] = (-3.0, 3.0)  # where inputs are sampled
    avoid: tuple[float, ...] = ()  # kinks and poles inside the domain, kept away from by finite differences
    tame: bool = False  # value and derivatives are finite wherever the arguments are: no condition needs to guard it
    vanishes: bool = False  # tends to 0 in a tail faster than any power grows
    of_bits: bool = False  # a float made of whole numbers, which are not to become floats before
    doc: str = ""

    @property
    def flat(self) -> bool:
        """Has it no slope: a condition, a rounding, a value that is detached?"""
        return self.derivatives is None and self.name != "magnitude"


def polynomial(variable: str, coefficients: Sequence[str]) -> str:
    """A polynomial by Horner's rule, lowest coefficient first."""
    text = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        text = f"({c} + {variable}*{text})"
    return text


def _sinc_slope() -> str:
    """The derivative of `sin(pi*x)/(pi*x)`: its series near 0, where the quotient cancels."""
    terms = [f"{'-' if k % 2 else ''}{2 * k}/{factorial(2 * k + 1)}" for k in range(1, 9)]
    return f"where(abs(x) < 1/4, square(pi)*x*{polynomial('square(pi*x)', terms)}, (cospi(x) - sinc(x))/x)"


def _erfcx_slope() -> str:
    """The difference cancels for large arguments: there, the asymptotic series of the derivative."""
    terms = [f"{'-' if k % 2 == 0 else ''}{prod(range(1, 2 * k + 2, 2))}" for k in range(9)]
    series = polynomial("square(1/x)/2", terms)
    return f"where(x > 10, square(1/x)/sqrt(pi)*{series}, 2*x*erfcx(x) - 2/sqrt(pi))"


def _i1e_slope() -> str:
    """`i1e(x)/x` by its series near 0."""
    terms = [f"{2 * k + 1}/{2 * factorial(k) * factorial(k + 1)}" for k in range(8)]
    near = f"exp(-abs(x))*{polynomial('square(x/2)', terms)} - sign(x)*i1e(x)"
    return f"where(abs(x) < 1/2, {near}, i0e(x) - i1e(x)*(sign(x) + 1/x))"


def _row(
    name: str,
    args: str,
    derivatives: tuple[str, ...] | None,
    doc: str,
    domain: tuple[float, float] = (-3.0, 3.0),
    avoid: tuple[float, ...] = (),
    result: Result = "float",
    value: str = "",
) -> ScalarFunction:
    """A row for a called function; the spellings come from their own table, where it is not a formula."""
    names = tuple(args.split())
    if value:
        return ScalarFunction(name, names, derivatives, value, result=result, domain=domain, avoid=avoid, doc=doc)
    slots = ", ".join(f"{{{i}}}" for i in range(len(names)))
    native = spell.NATIVE.get(name, f"rt::{name}({slots})")
    return ScalarFunction(
        name,
        names,
        derivatives,
        torch=spell.TORCH.get(name, f"torch.{name}({slots})"),
        torch_number=spell.TORCH_NUMBER.get(name, ""),
        cpp=native,
        cuda=native,
        python=spell.PYTHON.get(name, ""),
        python_whole=spell.PYTHON_WHOLE.get(name, ""),
        python_constant=spell.PYTHON_CONSTANT.get(name, ""),
        result=result,
        domain=domain,
        avoid=avoid,
        doc=doc,
    )


def _infix(
    name: str,
    args: str,
    derivatives: tuple[str, ...] | None,
    result: Result,
    doc: str,
    domain: tuple[float, float] = (-3.0, 3.0),
    variadic: bool = False,
) -> ScalarFunction:
    return ScalarFunction(
        name, tuple(args.split()), derivatives, result=result, infix=True, variadic=variadic, domain=domain, doc=doc
    )


_ARITHMETIC = (
    _infix("add", "x y", ("1", "1"), "same", "sum", variadic=True),
    _infix("sub", "x y", ("1", "-1"), "same", "difference"),
    _infix("mul", "x y", ("y", "x"), "same", "product", variadic=True),
    _infix("div", "x y", ("1/y", "-x/y**2"), "float", "quotient; of integers a float", (0.5, 3.0)),
    _infix("floordiv", "x y", None, "same", "quotient rounded down", (0.5, 3.0)),
    _infix("mod", "x y", ("1", "-(x//y)"), "same", "rest with the divisor's sign", (0.5, 3.0)),
    _infix(
        "pow",
        "x y",
        (
            "where(y == 0, 0, y*x**(y - 1))",
            "where(x == 0 and y >= 0 or x == inf and y < 0, 0, x**y*log(x))",
        ),
        "same",
        "power",
        (0.2, 3.0),
    ),
    _infix("neg", "x", ("-1",), "same", "sign change"),
    _infix("lt", "x y", None, "bool", "less"),
    _infix("le", "x y", None, "bool", "less or equal"),
    _infix("gt", "x y", None, "bool", "greater"),
    _infix("ge", "x y", None, "bool", "greater or equal"),
    _infix("eq", "x y", None, "bool", "equal"),
    _infix("ne", "x y", None, "bool", "not equal"),
    _infix("and", "x y", None, "bool", "both", variadic=True),
    _infix("or", "x y", None, "bool", "either", variadic=True),
    _infix("not", "x", None, "bool", "negation"),
    _infix("where", "c x y", ("0", "where(c, 1, 0)", "where(c, 0, 1)"), "same", "x where c holds, else y; lazy"),
)

_POWERS = (
    _row("exp", "x", ("exp(x)",), "e to the x"),
    _row("exp2", "x", ("log(2)*exp2(x)",), "2 to the x"),
    _row("expm1", "x", ("exp(x)",), "exp(x) - 1 without cancellation"),
    _row("log", "x", ("1/x",), "natural logarithm", (0.1, 3.0)),
    _row("log2", "x", ("1/(log(2)*x)",), "logarithm to base 2", (0.1, 3.0)),
    _row("log10", "x", ("1/(log(10)*x)",), "logarithm to base 10", (0.1, 3.0)),
    _row("log1p", "x", ("1/(1 + x)",), "log(1 + x) without cancellation", (-0.9, 3.0)),
    _row("sqrt", "x", ("1/(2*sqrt(x))",), "square root", (0.1, 3.0)),
    _row("rsqrt", "x", ("-rsqrt(x)**3/2",), "1/sqrt(x)", (0.1, 3.0)),
    _row("cbrt", "x", ("1/(3*square(cbrt(x)))",), "cube root, of either sign", avoid=(0.0,)),
    _row("square", "x", ("2*x",), "x times x", result="same"),
    _row("reciprocal", "x", ("-square(reciprocal(x))",), "1/x", (0.2, 3.0)),
    _row("abs", "x", ("sign(x)",), "absolute value; derivative 0 at 0", avoid=(0.0,), result="same"),
    _row("hypot", "x y", ("x/hypot(x, y)", "y/hypot(x, y)"), "sqrt(x**2 + y**2) without overflow", (0.1, 3.0)),
    replace(
        _row(
            "modulus",
            "x y",
            (
                "where(x == 0 and y == 0, 0, x/modulus(x, y))",
                "where(x == 0 and y == 0, 0, y/modulus(x, y))",
            ),
            "hypot(x, y) with derivative 0 at 0: the absolute value of a complex number",
            (0.1, 3.0),
        ),
        internal=True,
    ),
    replace(
        _row("magnitude", "x y", None, "max(abs(x), abs(y)) as a scale that cancels: derivatives take it for constant"),
        internal=True,
    ),
    _row(
        "logaddexp",
        "x y",
        (
            "where(x == -inf and y == -inf, 0, sigmoid(x - y))",
            "where(x == -inf and y == -inf, 0, sigmoid(y - x))",
        ),
        "log(exp(x) + exp(y)) without overflow; its derivative is 0 where both are -inf",
    ),
    _row(
        "xlogy",
        "x y",
        ("where(x == 0 and y <= 0, 0, log(y))", "x/y"),
        "x*log(y), 0 where x is 0",
        (0.1, 3.0),
    ),
)

_TRIGONOMETRY = (
    _row("sin", "x", ("cos(x)",), "sine"),
    _row("cos", "x", ("-sin(x)",), "cosine"),
    _row("tan", "x", ("1 + square(tan(x))",), "tangent", (-1.4, 1.4)),
    _row("asin", "x", ("rsqrt((1 - x)*(1 + x))",), "inverse sine", (-0.9, 0.9)),
    _row("acos", "x", ("-rsqrt((1 - x)*(1 + x))",), "inverse cosine", (-0.9, 0.9)),
    _row("atan", "x", ("1/(1 + square(x))",), "inverse tangent"),
    _row(
        "atan2",
        "y x",
        (
            # One quotient after the other: the square of the radius underflows and overflows long before it does. The
            # first is within its bounds anyway, they only keep the two apart.
            "where(hypot(x, y) == 0 or hypot(x, y) == inf, 0, clamp(x/hypot(x, y), -1, 1)/hypot(x, y))",
            "where(hypot(x, y) == 0 or hypot(x, y) == inf, 0, clamp(-y/hypot(x, y), -1, 1)/hypot(x, y))",
        ),
        "angle of the point (x, y)",
        (0.2, 3.0),
    ),
    _row("sinh", "x", ("cosh(x)",), "hyperbolic sine"),
    _row("cosh", "x", ("sinh(x)",), "hyperbolic cosine"),
    _row("tanh", "x", ("1 - square(tanh(x))",), "hyperbolic tangent"),
    _row("asinh", "x", ("rsqrt(1 + square(x))",), "inverse hyperbolic sine"),
    _row("acosh", "x", ("rsqrt((x - 1)*(x + 1))",), "inverse hyperbolic cosine", (1.1, 3.0)),
    _row("atanh", "x", ("1/((1 - x)*(1 + x))",), "inverse hyperbolic tangent", (-0.9, 0.9)),
    _row("sinc", "x", (_sinc_slope(),), "sin(pi*x)/(pi*x), 1 at 0"),
    replace(_row("sinpi", "x", ("pi*cospi(x)",), "sin(pi*x), exact at its zeros"), internal=True),
    replace(_row("cospi", "x", ("-pi*sinpi(x)",), "cos(pi*x), exact at its zeros"), internal=True),
)

_ACTIVATIONS = (
    _row("sigmoid", "x", ("sigmoid(x)*sigmoid(-x)",), "1/(1 + exp(-x)) without overflow"),
    _row("logsigmoid", "x", ("sigmoid(-x)",), "log(sigmoid(x)) without overflow"),
    _row("softplus", "x", ("sigmoid(x)",), "log(1 + exp(x)) without overflow"),
    _row("relu", "x", ("where(x > 0, 1, 0)",), "max(x, 0); derivative 0 at 0", avoid=(0.0,), result="same"),
    _row("silu", "x", ("sigmoid(x)*(1 - silu(-x))",), "x*sigmoid(x)"),
    replace(
        _row("log1mexp", "x", ("-exp(-x)/expm1(-x)",), "log(1 - exp(-x)) for x > 0 without cancellation", (0.1, 3.0)),
        internal=True,
    ),
    replace(_row("decay", "x", ("-decay(x)",), "exp(-x) for x >= 0, made by kernels", (0.1, 3.0)), internal=True),
)

_SPECIAL = (
    _row("erf", "x", ("2/sqrt(pi)*exp(-square(x))",), "error function"),
    _row("erfc", "x", ("-2/sqrt(pi)*exp(-square(x))",), "1 - erf(x) without cancellation"),
    _row("erfinv", "x", ("sqrt(pi)/2*exp(square(erfinv(x)))",), "inverse error function", (-0.9, 0.9)),
    _row("erfcx", "x", (_erfcx_slope(),), "exp(x**2)*erfc(x) without overflow"),
    _row("lgamma", "x", ("digamma(x)",), "log of the absolute value of the gamma function", (0.2, 3.0)),
    _row("digamma", "x", ("polygamma(1, x)",), "derivative of lgamma", (0.2, 3.0)),
    replace(
        _row("polygamma", "n x", ("0", "polygamma(n + 1, x)"), "n-th derivative of digamma, n a constant", (0.3, 3.0)),
        orders=1,
    ),
    _row("i0e", "x", ("i1e(x) - sign(x)*i0e(x)",), "exp(-abs(x))*I0(x), Bessel", avoid=(0.0,)),
    _row(
        "i1e",
        "x",
        (_i1e_slope(),),
        "exp(-abs(x))*I1(x), Bessel",
        avoid=(0.0,),
    ),
)

_ROUNDING = (
    _row("sign", "x", None, "-1, 0 or 1", avoid=(0.0,), result="same"),
    _row("copysign", "x y", ("sign(x)*copysign(1, y)", "0"), "abs(x) with the sign of y", avoid=(0.0,)),
    _row("floor", "x", None, "rounded down", avoid=tuple(map(float, range(-3, 4))), result="same"),
    _row("ceil", "x", None, "rounded up", avoid=tuple(map(float, range(-3, 4))), result="same"),
    _row("round", "x", None, "rounded, halves to even", avoid=tuple(k + 0.5 for k in range(-3, 3)), result="same"),
    _row("trunc", "x", None, "rounded towards 0", avoid=tuple(map(float, range(-3, 4))), result="same"),
    _row("frac", "x", ("1",), "x - trunc(x)", avoid=tuple(map(float, range(-3, 4)))),
    _row("int", "x", None, "rounded towards 0, as an integer; no derivative", result="int"),
    replace(_row("to_float8_e4m3fn", "x", None, "rounded to 4 exponent bits and 3 digits, at most 448"), internal=True),
    replace(_row("to_float8_e5m2", "x", None, "rounded to 5 exponent bits and 2 digits, at most 57344"), internal=True),
    replace(_row("tofloat", "x", ("1",), "an integer as a float"), internal=True),
    _row("heaviside", "x y", None, "0 below 0, 1 above, y at 0", avoid=(0.0,)),
    _row("fmod", "x y", ("1", "-trunc(x/y)"), "rest with the sign of x", (0.5, 3.0), result="same"),
    _row("remainder", "x y", ("1", "-(x//y)"), "rest with the sign of y", (0.5, 3.0), result="same"),
)

_CHOICES = (
    replace(
        _row(
            "max",
            "x y",
            ("where(x == y, 1/2, where(x > y, 1, 0))", "where(x == y, 1/2, where(x > y, 0, 1))"),
            "largest; a tie shares the derivative",
            result="same",
        ),
        variadic=True,
    ),
    replace(
        _row(
            "min",
            "x y",
            ("where(x == y, 1/2, where(x < y, 1, 0))", "where(x == y, 1/2, where(x < y, 0, 1))"),
            "smallest; a tie shares the derivative",
            result="same",
        ),
        variadic=True,
    ),
    _row(
        "clamp",
        "x low high",
        (
            "where(x >= low and x <= high, 1, 0)",
            "where(low < high and x < low, 1, 0)",
            "where(x > high or high < low, 1, 0)",
        ),
        "x kept between low and high; derivative 1 at both",
        result="same",
    ),
    _row("lerp", "x y t", ("1 - t", "t", "y - x"), "x + t*(y - x)"),
    _row("isnan", "x", None, "not a number", result="bool"),
    _row("isfinite", "x", None, "neither infinite nor nan", result="bool"),
    _row("bitand", "x y", None, "bitwise and of integers", result="int"),
    _row("bitor", "x y", None, "bitwise or of integers", result="int"),
    _row("bitxor", "x y", None, "bitwise exclusive or of integers", result="int"),
    _row("detach", "x", None, "x, a constant for every derivative", result="same"),
)

# What random numbers are made of (`opgen.ir.philox`): made by the lowering, constants for every derivative.
_RANDOM = tuple(
    replace(row, internal=True, tame=True, of_bits=row.result == "float")
    for row in (
        _row(
            "philox",
            "seed call place",
            None,
            "63 bits of a seed, the call in the spec and the place",
            result="int",
        ),
        _row("uniform_of", "bits", None, "random bits as a number in [0, 1), the same in every dtype"),
        _row("normal_of", "bits", None, "random bits as a number of the normal distribution (Box-Muller)"),
    )
)

_TAME = (
    *("add", "sub", "mul", "neg", "where", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "abs", "sign"),
    *("sin", "cos", "tanh", "sigmoid", "logsigmoid", "softplus", "silu", "relu", "erf", "erfc", "atan", "asinh"),
    *("floor", "ceil", "round", "trunc", "min", "max", "clamp", "square", "detach", "logaddexp"),
)
_VANISHING = ("exp", "exp2", "sigmoid", "erfc", "softplus")

FUNCTIONS: dict[str, ScalarFunction] = {
    row.name: replace(row, tame=row.tame or row.name in _TAME, vanishes=row.name in _VANISHING)
    for rows in (_ARITHMETIC, _POWERS, _TRIGONOMETRY, _ACTIVATIONS, _SPECIAL, _ROUNDING, _CHOICES, _RANDOM)
    for row in rows
}

_OF_A_SPEC = ScalarFunction("", (), None, doc="a function of a spec, whose value is a float")


def row(name: str) -> ScalarFunction:
    """The row of a function; functions of a spec have none of their own and share one."""
    return FUNCTIONS.get(name, _OF_A_SPEC)
