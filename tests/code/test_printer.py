"""Scalar expressions as C++ and as Python over numbers: no parenthesis too many, none too few."""

from __future__ import annotations

from fractions import Fraction

import pytest

from opgen.code.cpp_dialect import CPU
from opgen.code.printer import NATIVE, Leaf, Printer, Text
from opgen.ir.program import Kind
from opgen.ir.scalar import NEG_INF, ONE, PI, TWO, ZERO, Lit, Param, Read, Scalar, add, call, div, mul, neg, power, sub
from opgen.torch.dialect import Casts, dialect

X, Y, P = Read("x", ()), Read("y", ()), Param("p")
HALF, THIRD = Lit(Fraction(1, 2)), Lit(Fraction(1, 3))


def _leaf(e: Leaf) -> Text:
    return Text(e.name, 13, number=True) if isinstance(e, Param) else Text(getattr(e, "tensor", "i"), 13)


NATIVE_PRINTER = Printer(NATIVE, _leaf)
TORCH_PRINTER = Printer(dialect(Casts(lambda: "x.dtype", lambda number, _: f"x.new_full((), {number})")), _leaf)

CASES: list[tuple[Scalar, str, str]] = [
    (sub(X, sub(Y, add(X, Lit(-2)))), "x - (y - (x - 2))", "x - (y - (x - 2))"),
    (mul(THIRD, X), "opmath_t(1.0 / 3.0) * x", "1 / 3 * x"),
    (mul(X, add(Y, HALF)), "x * (y + opmath_t(0.5))", "x * (y + 0.5)"),
    (neg(power(X, TWO)), "-(x * x)", "-(x**2)"),
    (power(neg(X), TWO), "rt::powi<2>(-x)", "(-x) ** 2"),
    (power(add(X, ONE), Lit(3)), "rt::powi<3>(x + 1)", "(x + 1) ** 3"),
    (div(ONE, TWO), "opmath_t(1) / opmath_t(2)", "1 / 2"),
    (call("sqrt", div(TWO, PI)), "rt::sqrt(2 / opmath_t(3.14159265358979323846))", "math.sqrt(2 / math.pi)"),
    (call("max", X, P), "rt::max(x, p)", "torch.clamp(x, min=p)"),
    (call("max", P, X), "rt::max(p, x)", "torch.clamp(x, min=p)"),
    (call("where", call("lt", X, ONE), X, ZERO), "x < 1 ? x : opmath_t(0)", "torch.where(x < 1, x, 0)"),
    (call("where", call("lt", P, ONE), X, Y), "p < 1 ? x : y", "x if p < 1 else y"),
    (call("not", call("and", call("lt", X, Y), call("gt", X, ZERO))), "!(x < y && x > 0)", "~((x < y) & (x > 0))"),
    (mul(Lit(10**30), X), "opmath_t(1e30) * x", "1e30 * x"),
    (NEG_INF, "-rt::inf<opmath_t>()", "-math.inf"),
    (mul(TWO, call("where", call("gt", X, ZERO), ONE, ZERO)), "2 * (x > 0 ? 1 : 0)", "2 * (x > 0).long()"),
]


@pytest.mark.parametrize(("e", "native", "torch"), CASES, ids=[c[2] for c in CASES])
def test_printed(e: Scalar, native: str, torch: str) -> None:
    assert NATIVE_PRINTER(e) == native
    assert TORCH_PRINTER(e) == torch


def test_the_cpu_has_a_function_for_the_exponential_of_a_negative_square() -> None:
    printer = Printer(CPU, _leaf)
    assert printer(call("exp", neg(call("square", mul(P, X))))) == "near::gaussian(p * x)"
    assert printer(call("exp", call("square", X))) == "near::exp(rt::square(x))"
    assert printer(call("exp", neg(mul(X, Y)))) == "near::exp(-(x * y))"


def test_kinds() -> None:
    assert TORCH_PRINTER.text(call("lt", X, Y)).kind is Kind.BOOL
    assert TORCH_PRINTER.text(add(ONE, TWO)).kind is Kind.INT
    assert TORCH_PRINTER.text(div(ONE, TWO)).kind is Kind.FLOAT
