"""What the law of kernels forbids: one broken kernel for each of its lines."""

from __future__ import annotations

import pytest

from opgen.ir.program import Axis
from opgen.ir.scalar import BATCH, ONE, ZERO, Dim, Index, Read, add
from opgen.kernel.model import Acc, Atomic, Body, For, If, Join, Kernel, Role, Slot, Store, Tile
from opgen.kernel.verify import verify
from opgen.plan.model import Let, Storage

N = Axis("n", Dim("N"))
I = Index("n")  # noqa: E741
X = Slot("x", (BATCH, Dim("N")), Storage.SCALAR)
Y = Slot("y", (BATCH, Dim("N")), Storage.SCALAR, written=True)
TOTAL = Slot("total", (BATCH,), Storage.SCALAR, written=True)
READ = Read("x", (BATCH, I))


def kernel(*body: Body) -> Kernel:
    return Kernel("made", (X, Y, TOTAL), tuple(n for b in body for n in b))


def rows(*body: Body, role: Role = Role.PARALLEL) -> Body:
    return (For(BATCH, tuple(n for b in body for n in b), role),)


def test_a_sum_over_rows_is_valid() -> None:
    total = Store("total", (BATCH,), Read("s", ()))
    assert verify(kernel(rows((Acc("s", "sum"), For(N, (Join("s", READ),)), total)))) == []


def test_a_tile_and_a_condition_are_valid() -> None:
    tile = Tile("row", (Dim("N"),))
    fill = For(N, (Store("row", (I,), READ),))
    use = For(N, (If(READ, (Store("y", (BATCH, I), Read("row", (I,))),)),))
    assert verify(kernel(rows((tile, fill, use)))) == []


BROKEN: dict[str, tuple[Body, str]] = {
    "an index twice": (rows((For(N, (For(N, ()),)),)), "n is bound twice"),
    "a local named like a slot": (rows((Let("x", ONE),)), "x is bound twice"),
    "the batch twice": (rows(rows(())), "the batch is bound twice"),
    "an index outside of its loop": (rows((For(N, ()), Let("a", I))), "n is no index here"),
    "a local of another body": (
        rows((For(N, (Let("a", ONE),)), Store("total", (BATCH,), Read("a", ())))),
        "a is neither a slot nor bound here",
    ),
    "too few positions": (rows((Let("a", Read("x", (BATCH,))),)), "x has 2 axes and is accessed at 1"),
    "the batch elsewhere": (
        rows((For(N, (Let("a", Read("x", (I, BATCH))),)),)),
        "x: the batch of an access stands at another axis",
    ),
    "no loop over the batch": (
        (For(N, (Let("a", READ),)),),
        "x is accessed along the batch, which no loop runs over",
    ),
    "a join into nothing": (rows((Join("s", ONE),)), "s is joined and is no accumulator here"),
    "a join into a let": (rows((Let("s", ONE), Join("s", ONE))), "s is joined and is no accumulator here"),
    "an argmax without a place": (
        rows((Acc("s", "argmax"), For(N, (Join("s", READ),)))),
        "s is a argmax: a place is missing",
    ),
    "a sum with a place": (
        rows((Acc("s", "sum"), For(N, (Join("s", READ, I),)))),
        "s is a sum: no place belongs to it",
    ),
    "a join in parallel": (
        rows((Acc("s", "sum"), For(N, (Join("s", READ),), Role.PARALLEL))),
        "s is joined by points that run in parallel",
    ),
    "a store to an input": (rows((For(N, (Store("x", (BATCH, I), ONE),)),)), "x is stored to and is not written"),
    "a store in one place": (
        rows((For(N, (Store("y", (BATCH, ZERO), READ),), Role.PARALLEL),)),
        "y is stored in one place by points of n that run in parallel",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_kernels_are_told(name: str) -> None:
    body, complaint = BROKEN[name]
    assert complaint in verify(kernel(body))


def test_points_may_meet_where_they_add_atomically() -> None:
    meet = For(N, (Atomic("y", (BATCH, ZERO), "sum", READ),), Role.PARALLEL)
    assert verify(kernel(rows((meet,)))) == []


def test_a_place_may_move_with_a_local() -> None:
    move = For(N, (Let("k", add(I, ONE)), Store("y", (BATCH, Read("k", ())), READ)), Role.PARALLEL)
    assert verify(kernel(rows((move,)))) == []
