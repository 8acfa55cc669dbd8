"""Normal forms of numbers that are taken apart by a divisor, and put together again."""

from __future__ import annotations

import pytest

from opgen.ir.polynomial import polynomial
from opgen.ir.scalar import ONE, Dim, Index, Lit, Scalar, add, call, mul, neg, sub

C, S, G = Index("c"), Dim("S"), Dim("G")
PART, REST = call("floordiv", C, S), call("mod", C, S)


@pytest.mark.parametrize(
    ("e", "found"),
    [
        pytest.param(add(mul(PART, S), REST), C, id="a number"),
        pytest.param(add(mul(Lit(2), PART, S), ONE, mul(Lit(2), REST)), add(mul(Lit(2), C), ONE), id="twice"),
        pytest.param(sub(neg(REST), mul(S, PART)), neg(C), id="negative"),
        pytest.param(add(mul(PART, G), REST), add(mul(PART, G), REST), id="another divisor"),
        pytest.param(add(PART, REST), add(PART, REST), id="none"),
        pytest.param(add(mul(Lit(2), PART, S), REST), add(mul(Lit(2), PART, S), REST), id="another factor"),
    ],
)
def test_a_quotient_and_its_remainder(e: Scalar, found: Scalar) -> None:
    assert polynomial(e).same(polynomial(found))
    assert polynomial(polynomial(e).scalar()).same(polynomial(e))


def test_nothing_is_left_of_them() -> None:
    assert polynomial(add(mul(PART, S), REST)).scalar() == C
