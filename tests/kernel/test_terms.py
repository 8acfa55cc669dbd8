"""Which products go into a sum one by one."""

from __future__ import annotations

import pytest

from opgen.ir.program import Kind
from opgen.ir.scalar import Apply, Lit, Read, Scalar
from opgen.kernel.model import Acc, Join, Store
from opgen.kernel.terms import apart

A, B, C = (Read(n, ()) for n in "abc")
AB, BC = Apply("mul", (A, B)), Apply("mul", (B, C))
SUM = Acc("s", "sum")


@pytest.mark.parametrize(
    ("value", "terms"),
    [
        (Apply("add", (AB, BC)), (AB, BC)),
        (Apply("sub", (AB, BC)), (AB, Apply("neg", (BC,)))),
        (Apply("sub", (Apply("add", (AB, BC)), AB)), (AB, BC, Apply("neg", (AB,)))),
        (Apply("add", (AB, C)), (Apply("add", (AB, C)),)),  # one addition either way
        (AB, (AB,)),
    ],
)
def test_products_are_apart(value: Scalar, terms: tuple[Scalar, ...]) -> None:
    store = Store("y", (Lit(0),), A)
    assert apart((Join("s", value), store), [SUM]) == (*(Join("s", e) for e in terms), store)


@pytest.mark.parametrize("acc", [Acc("s", "max"), Acc("s", "prod"), Acc("s", "sum", Kind.INT), Acc("t", "sum")])
def test_nothing_else_takes_in_terms(acc: Acc) -> None:
    body = (Join("s", Apply("add", (AB, BC))),)
    assert apart(body, [acc]) == body
