"""Which loops become two, one for either side of a condition, and what is in them."""

from __future__ import annotations

import pytest

from opgen.ir.program import Axis
from opgen.ir.scalar import BATCH, ZERO, Dim, Index, Lit, Param, Read, Scalar, both, call, mul, where
from opgen.kernel.model import For, If, Join, Node, Role, Store
from opgen.kernel.sides import sides
from opgen.plan.model import Let

ALONG = Axis("c", Dim("C"))
HERE = (BATCH, Index("c"))
X = Read("x", HERE)
KEEP = Read("keep", ())


def over(*body: Node) -> For:
    return For(ALONG, body, Role.TEAM)


def stored(value: Scalar, slot: str = "y") -> Store:
    return Store(slot, HERE, value)


def test_a_local_of_a_row_decides_for_all_of_it() -> None:
    made = sides(over(Let("v", call("exp", X)), stored(where(KEEP, Read("v", ()), ZERO))))
    assert made == If(KEEP, (over(Let("v", call("exp", X)), stored(Read("v", ()))),), (over(stored(ZERO)),))


def test_what_is_asked_along_the_row_as_well_stays_in_its_loop() -> None:
    moving = call("lt", Index("c"), Dim("M"))
    made = sides(over(stored(where(both(KEEP, moving), X, Lit(1)))))
    assert made == If(KEEP, (over(stored(where(moving, X, Lit(1)))),), (over(stored(Lit(1))),))


def test_the_same_condition_is_decided_wherever_it_stands() -> None:
    inner = where(KEEP, X, mul(Lit(2), X))
    made = sides(over(Let("on", KEEP), Let("v", inner), stored(where(Read("on", ()), Read("v", ()), ZERO))))
    assert made is not None
    assert made.body == (over(Let("v", X), stored(Read("v", ()))),)


@pytest.mark.parametrize(
    "loop",
    [
        over(stored(where(call("gt", X, ZERO), X, ZERO))),  # the condition moves
        over(stored(where(KEEP, X, Read("x", (BATCH, Lit(0)))))),  # what is stored otherwise is read
        over(stored(where(KEEP, X, ZERO)), stored(X, "z")),  # one of the stores has no condition
        over(stored(where(KEEP, X, ZERO)), stored(where(call("gt", Param("p"), ZERO), X, ZERO), "z")),  # another one
        over(Let("on", call("lt", Index("c"), Dim("M"))), stored(where(Read("on", ()), X, ZERO))),
        over(Join("s", X), stored(where(KEEP, X, ZERO))),  # something is folded as well
        For(BATCH, (stored(where(KEEP, X, ZERO)),), Role.TEAM),
    ],
)
def test_other_loops_stay_one(loop: For) -> None:
    assert sides(loop) is None
