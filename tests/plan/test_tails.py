"""Which products are guarded against 0 times infinity in a tail, and which are left as they are."""

from __future__ import annotations

import pytest

from opgen.ir.formula import scalar as formula
from opgen.ir.program import Compute
from opgen.ir.scalar import BATCH, Param, Read, Scalar, substitute
from opgen.ir.text import scalar as text
from opgen.plan.tails import calm

NAMES = ("x", "y", "gate")


def guarded(body: str, op: str | None = None) -> str:
    reads: dict[Scalar, Scalar] = {Param(n): Read(n, (BATCH,)) for n in NAMES}
    gate = Compute("gate", (BATCH,), substitute(formula("sigmoid(2*x)/2", ("x",)), reads))
    made = calm(Compute("f", (BATCH,), substitute(formula(body, NAMES), reads), op), {"gate": gate})
    assert isinstance(made, Compute)
    return text(made.body).replace("[...]", "")


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("x*erfc(-x/3)/2", "where(erfc(-x/3) == 0, 0, erfc(-x/3)*x)/2"),
        ("y*x*tanh(softplus(x))", "where(tanh(softplus(x)) == 0, 0, tanh(softplus(x))*x)*y"),
        ("3*y*x**(y - 1)", "3*where(x**(y - 1) == 0, 0, x**(y - 1)*y)"),
        ("3*y/hypot(x, y)", "3*where(abs(y) == inf, sign(y), y/hypot(x, y))"),
        ("x*gate*y", "where(gate == 0, 0, gate*x)*y"),
        ("3*(x**2 + 1)*exp(-x)", "3*where(exp(-x) == 0, 0, exp(-x)*(x**2 + 1))"),
        (
            "(1 - square(tanh(x)))*silu(x)",
            "where(isnan((1 - square(tanh(x)))*silu(x)) and 1 - square(tanh(x)) == 0, 0, "
            "(1 - square(tanh(x)))*silu(x))",
        ),
    ],
)
def test_guarded(body: str, wanted: str) -> None:
    assert guarded(body) == wanted


@pytest.mark.parametrize(
    "body",
    [
        "y*exp(-x)",  # an infinite y says nothing about x
        "x*exp(-x - y)",
        "log(x)*exp(x)",  # nan where x is negative, however small the exponential is
        "x**y*exp(-x)",
        "x*x**y",  # as large as the power
        "y/hypot(x, 2*y)",
        "sin(x)*exp(-x)",  # never infinite
        "x*tanh(x)",  # tanh is not small in a tail
    ],
)
def test_left_alone(body: str) -> None:
    assert guarded(body) == text(formula(body, NAMES))


def test_reductions_are_left_alone() -> None:
    assert guarded("x*exp(-x)", "sum") == "x*exp(-x)"
