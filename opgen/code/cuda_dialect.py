"""Scalars in CUDA: those of C++, but quotients and a few functions as accurate as what is stored needs them."""

from __future__ import annotations

from dataclasses import replace

from opgen.code.printer import LARGEST_POWER, NATIVE, NEAR, Printer, Special, Text, near, whole
from opgen.code.scaled import SCALED, factored, parts
from opgen.ir.functions import FUNCTIONS
from opgen.ir.program import Kind
from opgen.ir.scalar import Apply, Lit, Scalar

_FUNCTIONS = ("exp", "sigmoid", "silu", "tanh", "erfc", "softplus", "logsigmoid", "sqrt", "reciprocal")


def _quotient(p: Printer, args: tuple[Scalar, ...]) -> Text:
    texts = [p.text(a) for a in args]
    if len(args) != 2 or _is_exact(args[1]) or all(t.number for t in texts):
        return NATIVE.special["div"](p, args)
    values = ", ".join((t if t.kind is Kind.FLOAT and not t.number else NATIVE.as_float(t)).text for t in texts)
    return Text(f"{NEAR}::div({values})", NATIVE.atom)


def _is_exact(e: Scalar) -> bool:
    """Whether a quotient by this number is a product with its inverse."""
    return isinstance(e, Lit) and isinstance(e.value, int) and e.value > 0 and e.value & (e.value - 1) == 0


def _scaled(fn: str) -> Special:
    """A function that takes in what is a constant factor of its argument."""

    def printed(p: Printer, args: tuple[Scalar, ...]) -> Text:
        x, scale = factored(args[0], p.held)
        value = p.text(x)
        if abs(scale) == 1 or value.number or value.kind is not Kind.FLOAT:
            return p.call(FUNCTIONS[fn], tuple(map(p.text, args)))
        return Text(f"{NEAR}::{fn}({value.text}, {p.text(Lit(scale)).text})", NATIVE.atom)

    return printed


def _tanh(p: Printer, args: tuple[Scalar, ...]) -> Text:
    """A tangent of a logarithm is a quotient."""
    match args:
        case (Apply("softplus", (x,)),):
            text = p.text(x)
            value = text if text.kind is Kind.FLOAT else NATIVE.as_float(text)
            return Text(f"{NEAR}::tanh_of_softplus({value.text})", NATIVE.atom)
        case _:
            return p.call(FUNCTIONS["tanh"], tuple(map(p.text, args)))


def _parts_of_tanh(_: Printer, args: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    match args:
        case (Apply("softplus", operands),):
            return operands
        case _:
            return args


def _pow(p: Printer, args: tuple[Scalar, ...]) -> Text:
    """A power whose exponent is no small whole number; of two whole numbers it is exact."""
    exponent = whole(args[1])
    texts = [p.text(a) for a in args]
    if (exponent is not None and abs(exponent) <= LARGEST_POWER) or all(t.kind is not Kind.FLOAT for t in texts):
        return NATIVE.special["pow"](p, args)
    values = ", ".join((t if t.kind is Kind.FLOAT else NATIVE.as_float(t)).text for t in texts)
    return Text(f"{NEAR}::pow({values})", NATIVE.atom)


def _where(p: Printer, args: tuple[Scalar, ...]) -> Text:
    """A product that is 0 where a factor is: that factor then, so that one instruction has a condition."""
    match args:
        case (Apply("eq", (x, Lit(0))), Lit(0), Apply("mul", factors)) if x in factors and p.text(x).kind is Kind.FLOAT:
            return NATIVE.special["where"](p, (args[0], x, args[2]))
        case _:
            return NATIVE.special["where"](p, args)


_OWN = {"div": _quotient, "pow": _pow, "tanh": _tanh, "where": _where, **{fn: _scaled(fn) for fn in SCALED}}
_PARTS = {**dict.fromkeys(SCALED, parts), "tanh": _parts_of_tanh}
CUDA = replace(NATIVE, special={**NATIVE.special, **_OWN}, spelling=near(_FUNCTIONS), parts=_PARTS)
