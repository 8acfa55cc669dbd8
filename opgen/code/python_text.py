"""Formulas of plain numbers, written in Python: domains, initialisers, defaults.

In goes a scalar and the spelling of its params and sizes; out comes Python, or None where the formula calls a function
that has no plain form. Comparisons are chained where they were.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from opgen.code.printer import Infix, Text, join
from opgen.ir.functions_text import PLAIN
from opgen.ir.program import Kind
from opgen.ir.scalar import Apply, Const, Dim, Lit, Param, Scalar

_OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _UNARY, _POWER, _ATOM = range(9)
_INFIX = {
    "or": Infix.of("or", _OR), "and": Infix.of("and", _AND),
    "add": Infix.of("+", _SUM), "sub": Infix.of("-", _SUM),
    "mul": Infix.of("*", _PRODUCT), "div": Infix.of("/", _PRODUCT),
    "floordiv": Infix.of("//", _PRODUCT), "mod": Infix.of("%", _PRODUCT),
}  # fmt: skip
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

Spelling = Callable[[Param | Dim], str]


class NotANumberError(ValueError):
    """The formula has no form in plain Python."""


def python_text(e: Scalar, spelling: Spelling, *, elementwise: bool = False) -> str | None:
    """The formula in Python; `elementwise`: over tensors, where conditions are joined with `&` and `|`."""
    try:
        return _text(e, spelling, elementwise).text
    except NotANumberError:
        return None


def number(value: int | Fraction) -> str:
    """A literal that reads as it would be written."""
    if isinstance(value, int):
        return str(value)
    return repr(float(value)).replace("e-0", "e-")


def _text(e: Scalar, spelling: Spelling, elementwise: bool) -> Text:
    def at(x: Scalar, level: int) -> str:
        return _text(x, spelling, elementwise).at(level)

    match e:
        case Lit(value):
            return Text(number(value), _UNARY if value < 0 else _ATOM)
        case Const(name):
            return Text(f"math.{name}", _ATOM)
        case Param() | Dim():
            return Text(spelling(e), _ATOM)
        case Apply("neg", (a,)):
            return Text(f"-{at(a, _UNARY)}", _UNARY)
        case Apply("not", (a,)):
            return Text(f"~({at(a, _OR)})", _UNARY) if elementwise else Text(f"not {at(a, _NOT)}", _NOT)
        case Apply("pow", (a, b)):
            sign = "**" if isinstance(a, Param | Dim) and not isinstance(b, Apply) else " ** "
            return Text(at(a, _ATOM) + sign + at(b, _UNARY), _POWER)
        case Apply(fn, (a, b)) if fn in _COMPARISONS:
            sign = _COMPARISONS[fn]
            if isinstance(a, Lit):
                a, b, sign = b, a, _FLIPPED.get(sign, sign)
            return Text(f"{at(a, _SUM)} {sign} {at(b, _SUM)}", _COMPARE)
        case Apply("and" | "or" as fn, args) if elementwise:
            return Text({"or": " | ", "and": " & "}[fn].join(f"({at(a, _OR)})" for a in args), _INFIX[fn].level)
        case Apply("and", (Apply(f, (a, b)), Apply(g, (c, d)))) if b == c and {f, g} <= _COMPARISONS.keys():
            chain = f"{at(a, _SUM)} {_COMPARISONS[f]} {at(b, _SUM)} {_COMPARISONS[g]} {at(d, _SUM)}"
            return Text(chain, _COMPARE)
        case Apply(fn, args) if fn in _INFIX:
            return join(_INFIX[fn], tuple(_text(a, spelling, elementwise) for a in args), Kind.FLOAT)
        case Apply(fn, args) if fn in PLAIN:
            return Text(f"{PLAIN[fn]}({', '.join(at(a, _OR) for a in args)})", _ATOM)
        case _:
            raise NotANumberError
