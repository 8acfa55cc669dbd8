"""Scalars in the kernels of a CPU: those of C++, but for what the runtime computes together."""

from __future__ import annotations

from dataclasses import replace

from opgen.code.printer import NATIVE, NEAR, Printer, Text, near
from opgen.code.scaled import SCALED, parts
from opgen.ir.functions import FUNCTIONS
from opgen.ir.program import Kind
from opgen.ir.scalar import Apply, Scalar

# Those of `opgen_near.h`.
_FUNCTIONS = ("decay", "erfc", "exp", "logsigmoid", "sigmoid", "silu", "softplus", "tanh")


def _exp(p: Printer, args: tuple[Scalar, ...]) -> Text:
    """That of a negative square keeps the digits of the square, and an error function beside it has the same one."""
    match args:
        case (Apply("neg", (Apply("square", (x,)),)),):
            text = p.text(x)
            value = text if text.kind is Kind.FLOAT else NATIVE.as_float(text)
            return Text(f"{NEAR}::gaussian({value.text})", NATIVE.atom)
        case _:
            return p.call(FUNCTIONS["exp"], tuple(map(p.text, args)))


def _parts_of_exp(p: Printer, args: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    match args:
        case (Apply("neg", (Apply("square", of),)),):
            return of
        case _:
            return parts(p, args)


CPU = replace(
    NATIVE,
    special={**NATIVE.special, "exp": _exp},
    spelling=near(_FUNCTIONS),
    parts={**dict.fromkeys(SCALED, parts), "exp": _parts_of_exp},
)
