"""Maps in cases: what an index is compared with is known in each, and where that does not help nothing changes."""

from __future__ import annotations

import pytest

from opgen.ir.program import Axis, Kind
from opgen.ir.scalar import Apply, Batch, Dim, Index, Lit, Read, Scalar, add, call, mul, sub, where
from opgen.kernel.cases import borders, cases, leaves
from opgen.kernel.model import Body, If, Store
from opgen.plan.model import Let

H, D, N = Dim("H"), Dim("D"), Dim("N")
d, n = Index("d"), Index("n")
OUTER = (Axis("n", N), Axis("d", D))
A, B = Read("a", (n, d)), Read("b", (n, d))


def stored(value: Scalar) -> Body:
    return (Store("y", (n, d), value),)


def values(body: Body) -> list[Scalar]:
    return [s.value for leaf in leaves(body) for s in leaf if isinstance(s, Store)]


def test_each_case_computes_what_is_left_of_it() -> None:
    inner = where(call("lt", sub(d, H), H), B, Lit(0))
    found = cases(OUTER, stored(where(call("lt", d, H), A, inner)))
    assert values(found) == [A, B, Lit(0)]
    assert [b.scalar() for b in borders(found)] == [H, mul(Lit(2), H)]


@pytest.mark.parametrize("fn", ["lt", "le", "gt", "ge"])
@pytest.mark.parametrize("turned", [False, True])
def test_every_comparison_is_of_what_is_below_a_border(fn: str, turned: bool) -> None:
    border = H if fn in (("gt", "le") if turned else ("lt", "ge")) else sub(H, Lit(1))
    condition = call(fn, border, d) if turned else call(fn, d, border)
    found = cases(OUTER, stored(where(condition, A, B)))
    below = (fn in ("lt", "le")) != turned
    assert isinstance(found[0], If)
    assert found[0].condition == call("lt", d, H)
    assert values(found) == ([A, B] if below else [B, A])


def test_locals_are_looked_through_and_left_out_where_nothing_needs_them() -> None:
    body = (Let("t", sub(d, H), Kind.INT), *stored(where(call("ge", Read("t", ()), Lit(0)), A, B)))
    found = cases(OUTER, body)
    assert [len(leaf) for leaf in leaves(found)] == [1, 1]
    assert values(found) == [B, A]


@pytest.mark.parametrize(
    "condition",
    [
        call("lt", n, H),  # of another loop
        call("lt", d, n),
        call("eq", d, H),
        call("lt", d, Lit(5)),  # vectors are on both sides
        call("le", d, H),
        call("lt", mul(Lit(2), d), H),
        call("lt", d, Read("limit", ())),
        call("lt", A, B),
    ],
)
def test_other_conditions_stay(condition: Scalar) -> None:
    body = stored(where(condition, A, B))
    assert cases(OUTER, body) == body


def test_too_many_cases_are_none() -> None:
    value: Scalar = A
    for k in range(1, 6):
        value = where(call("lt", d, mul(Lit(k), H)), add(value, B), value)
    body = stored(value)
    assert cases(OUTER, body) == body
    assert isinstance(value, Apply)


def test_a_map_over_the_batch_has_none() -> None:
    body = (Store("y", (d, Batch()), where(call("lt", d, H), A, B)),)
    assert cases((OUTER[1], Batch()), body) == body
