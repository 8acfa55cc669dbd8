"""Which short loops are written out, and what becomes of what they join and store."""

from __future__ import annotations

from opgen.ir.program import Axis
from opgen.ir.scalar import BATCH, Dim, Index, Lit, Read, Scalar, add, call, mul, where
from opgen.kernel.model import Acc, Atomic, Body, For, Join, Kernel, Role, Slot, Store
from opgen.kernel.unroll import unrolled
from opgen.plan.model import Let, Storage

AT = Index("i")
X = Read("x", (BATCH, AT))
S = Read("s", ())
SLOTS = (Slot("x", (BATCH, Lit(3)), Storage.SCALAR), Slot("y", (BATCH, Lit(3)), Storage.SCALAR, written=True))


def over(*body: object, size: Scalar | int = 3) -> For:
    return For(Axis("i", size if isinstance(size, Scalar) else Lit(size)), body)  # type: ignore[arg-type]


def made(*body: object) -> Body:
    (outer,) = unrolled(Kernel("k", SLOTS, (For(BATCH, body, Role.PARALLEL),))).body  # type: ignore[arg-type]
    assert isinstance(outer, For)
    return outer.body


def x(at: int) -> Read:
    return Read("x", (BATCH, Lit(at)))


def test_what_is_joined_is_one_local_after_the_other() -> None:
    body = made(Acc("s", "max"), over(Join("s", X), size=2), Store("y", (BATCH, Lit(0)), S))
    assert body == (Let("s_2", x(0)), Let("s", call("max", Read("s_2", ()), x(1))), Store("y", (BATCH, Lit(0)), S))


def test_two_loops_join_into_one() -> None:
    *lets, store = made(
        Acc("s", "sum"), over(Join("s", X), size=2), over(Join("s", X), size=1), Store("y", (BATCH,), S)
    )
    assert [n.name for n in lets if isinstance(n, Let)] == ["s_2", "s_3", "s"]
    assert lets[-1] == Let("s", call("add", Read("s_3", ()), x(0)))
    assert store == Store("y", (BATCH,), S)


def test_everything_is_read_before_anything_is_stored() -> None:
    body = made(Let("f", Lit(2)), over(Store("y", (BATCH, AT), mul(X, Read("f", ()))), size=2))
    assert [type(n) for n in body] == [Let, Let, Let, Store, Store]
    assert body[-1] == Store("y", (BATCH, Lit(1)), Read("y_3", ()))


def test_whole_numbers_are_known() -> None:
    corner = Read("x", (BATCH, call("mod", add(AT, Lit(2)), Lit(3))))
    value = where(call("lt", AT, Lit(1)), corner, X)
    body = made(Acc("s", "sum"), over(Join("s", value), size=2), Store("y", (BATCH,), S))
    assert body[:2] == (Let("s_2", x(2)), Let("s", call("add", Read("s_2", ()), x(1))))


def unchanged(*body: object) -> bool:
    return made(*body) == body


def test_what_stays_a_loop() -> None:
    store = Store("y", (BATCH,), S)
    assert unchanged(Acc("s", "sum"), over(Join("s", X), size=5), store)
    assert unchanged(Acc("s", "sum"), over(Join("s", X), size=Dim("N")), store)
    assert unchanged(Acc("s", "argmax"), over(Join("s", X, AT)), store)
    assert unchanged(Let("f", Lit(2)), over(Atomic("y", (BATCH, AT), "sum", X)))
    assert unchanged(over(Store("y", (BATCH, AT), X)))  # all that a point does: lanes along memory
    previous = Read("y", (BATCH, call("sub", AT, Lit(1))))
    assert unchanged(Let("f", Lit(2)), over(Store("y", (BATCH, AT), previous)))  # each goes on from the last


def test_an_accumulator_that_a_long_loop_joins_into_stays() -> None:
    body = (Acc("s", "sum"), over(Join("s", X)), over(Join("s", X), size=Dim("N")), Store("y", (BATCH,), S))
    assert unchanged(*body)


def test_a_kernel_that_would_become_too_long_stays() -> None:
    long = add(*(call("sin", mul(Lit(n), X)) for n in range(2, 1000)))
    assert unchanged(Acc("s", "sum"), over(Join("s", long)), Store("y", (BATCH,), S))
