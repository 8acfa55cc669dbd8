"""Which maxima and sums of exponentials are computed together."""

from __future__ import annotations

import pytest

from opgen.ir.program import Axis
from opgen.ir.scalar import BATCH, ZERO, Dim, Index, Lit, Read, Scalar, call, sub
from opgen.kernel.model import Acc, For, Join, Node, Role, Store
from opgen.kernel.powers import Powers, powers
from opgen.plan.model import Let

M, SHIFT = Read("m", ()), Read("shift", ())
MOST, TOTAL = Acc("m", "max"), Acc("s", "sum")
FINITE = Let("shift", call("where", call("isfinite", M), M, ZERO))


def x(index: str) -> Read:
    return Read("x", (BATCH, Index(index)))


def over(acc: str, value: Scalar, index: str = "c", extent: str = "C") -> For:
    return For(Axis(index, Dim(extent)), (Join(acc, value),), Role.TEAM)


def power(by: Scalar = M, index: str = "c") -> Scalar:
    return call("exp", sub(x(index), by))


FIRST = (MOST, over("m", x("c")))
KEPT = Store("most", (BATCH,), M)
BEHIND = Store("y", (BATCH,), Read("s", ()))


def test_a_sum_relative_to_a_maximum_is_computed_with_it() -> None:
    made = powers((*FIRST, KEPT, TOTAL, over("s", power()), BEHIND))
    assert made == (Powers(MOST, TOTAL, FIRST[1], x("c")), KEPT, BEHIND)


def test_the_loops_may_name_their_indices_as_they_like() -> None:
    made = powers((*FIRST, TOTAL, over("s", power(index="k"), "k")))
    assert made == (Powers(MOST, TOTAL, FIRST[1], x("c")),)


def test_a_sum_may_be_relative_to_maxima_that_are_finite() -> None:
    made = powers((*FIRST, FINITE, TOTAL, over("s", power(SHIFT))))
    assert made == (Powers(MOST, TOTAL, FIRST[1], x("c"), finite=True), FINITE)


def test_a_maximum_has_one_such_sum() -> None:
    other = (Acc("t", "sum"), over("t", power()))
    made = powers((*FIRST, TOTAL, over("s", power()), *other))
    assert made == (Powers(MOST, TOTAL, FIRST[1], x("c")), *other)


@pytest.mark.parametrize(
    "body",
    [
        (*FIRST, TOTAL, over("s", power(), extent="D")),  # another extent
        (*FIRST, TOTAL, over("s", call("exp", sub(x("d"), M)))),  # other values
        (*FIRST, TOTAL, over("s", power(SHIFT))),  # relative to something else
        (*FIRST, Let("shift", call("where", call("isfinite", M), M, Lit(1))), TOTAL, over("s", power(SHIFT))),
        (Acc("m", "min"), FIRST[1], TOTAL, over("s", power())),
        (*FIRST, Acc("s", "prod"), over("s", power())),
        (*FIRST, Store("x", (BATCH, ZERO), M), TOTAL, over("s", power())),  # what is read again is another value then
        (*FIRST, TOTAL, For(Axis("c", Dim("C")), (Join("s", power()), Store("y", (BATCH, Index("c")), power())))),
    ],
)
def test_others_stay_apart(body: tuple[Node, ...]) -> None:
    assert powers(body) == body
