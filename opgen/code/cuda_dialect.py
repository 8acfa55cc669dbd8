"""Scalars in CUDA: those of C++, but quotients and a few functions as accurate as what is stored needs them."""

from __future__ import annotations

from dataclasses import replace

from opgen.code.printer import NATIVE, Printer, Text
from opgen.ir.functions import ScalarFunction
from opgen.ir.program import Kind
from opgen.ir.scalar import Lit, Scalar

NEAR = "near"  # what a kernel calls the functions of its type, `rt::Near<scalar_t>`
_FUNCTIONS = ("exp", "sigmoid", "silu", "tanh")


def _spelling(row: ScalarFunction, _: tuple[Text, ...]) -> str:
    return row.cpp.replace("rt::", f"{NEAR}::", 1) if row.name in _FUNCTIONS else row.cpp


def _quotient(p: Printer, args: tuple[Scalar, ...]) -> Text:
    texts = [p.text(a) for a in args]
    if len(args) != 2 or isinstance(args[1], Lit) or all(t.number for t in texts):
        return NATIVE.special["div"](p, args)
    values = ", ".join((t if t.kind is Kind.FLOAT else NATIVE.as_float(t)).text for t in texts)
    return Text(f"{NEAR}::div({values})", NATIVE.atom)


CUDA = replace(NATIVE, special={**NATIVE.special, "div": _quotient}, spelling=_spelling)
