"""Expressions of a spec over plain numbers, written in Python: domains, initialisers, defaults.

In goes an expression tree and the spelling of its names; out comes Python, or None where the expression holds something
that has no number (a tensor access, a reduction).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from opgen.lang.initialiser import CONSTANTS, NUMBER_FUNCTIONS
from opgen.lang.nodes import Call, Compare, Expr, Logic, Name, Number, Power, Product, Sum, Unary

_OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _UNARY, _POWER, _ATOM = range(9)
_BUILTIN = ("abs", "min", "max", "int")

Spelling = Callable[[str], str]


class NotANumberError(ValueError):
    """The expression does not stand for a number."""


def python_text(e: Expr, spelling: Spelling, *, elementwise: bool = False) -> str | None:
    """The expression in Python; `elementwise`: over tensors, where conditions are joined with `&` and `|`."""
    try:
        return _text(e, spelling, elementwise)[0]
    except NotANumberError:
        return None


def number(value: int | Fraction) -> str:
    """A literal that reads as it would be written."""
    if isinstance(value, int):
        return str(value)
    return repr(float(value)).replace("e-0", "e-")


def _text(e: Expr, spelling: Spelling, elementwise: bool) -> tuple[str, int]:
    def at(x: Expr, level: int) -> str:
        text, own = _text(x, spelling, elementwise)
        return text if own >= level else f"({text})"

    match e:
        case Number(value=value):
            return number(value), _ATOM
        case Name(name=name):
            return (f"math.{name}" if name in CONSTANTS else spelling(name)), _ATOM
        case Unary(op="-", operand=operand):
            return f"-{at(operand, _UNARY)}", _UNARY
        case Unary(operand=operand):
            return (f"~({at(operand, _OR)})", _UNARY) if elementwise else (f"not {at(operand, _NOT)}", _NOT)
        case Sum(terms=terms):
            rest = "".join(f" {sign} {at(t, _PRODUCT)}" for sign, t in terms[1:])
            return at(terms[0][1], _PRODUCT) + rest, _SUM
        case Product(factors=factors):
            rest = "".join(f" {op} {at(f, _UNARY)}" for op, f in factors[1:])
            return at(factors[0][1], _PRODUCT) + rest, _PRODUCT
        case Power(base=base, exponent=exponent):
            sign = "**" if isinstance(base, Name) and isinstance(exponent, Name | Number) else " ** "
            return at(base, _ATOM) + sign + at(exponent, _UNARY), _POWER
        case Compare(operands=operands, ops=ops):
            texts = [at(o, _SUM) for o in operands]
            pairs = [_pair(operands[i], texts[i], op, texts[i + 1]) for i, op in enumerate(ops)]
            if elementwise and len(pairs) > 1:
                return " & ".join(f"({p})" for p in pairs), _AND
            if len(pairs) == 1:
                return pairs[0], _COMPARE
            return texts[0] + "".join(f" {op} {t}" for op, t in zip(ops, texts[1:], strict=True)), _COMPARE
        case Logic(op=op, operands=operands):
            level = _OR if op == "or" else _AND
            if elementwise:
                return {"or": " | ", "and": " & "}[op].join(f"({at(o, _OR)})" for o in operands), level
            return f" {op} ".join(at(o, level + 1) for o in operands), level
        case Call(name=name, args=args) if name in NUMBER_FUNCTIONS:
            called = name if name in _BUILTIN else f"math.{name}"
            return f"{called}({', '.join(at(a, _OR) for a in args)})", _ATOM
        case _:
            raise NotANumberError


_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _pair(first: Expr, a: str, op: str, b: str) -> str:
    """One comparison, a literal on the right."""
    return f"{b} {_FLIPPED.get(op, op)} {a}" if isinstance(first, Number) else f"{a} {op} {b}"
