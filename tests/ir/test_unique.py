"""Equal expressions are one object, for as long as anybody holds them."""

from __future__ import annotations

import copy
import gc
import pickle
from dataclasses import replace
from fractions import Fraction

from opgen.ir import unique
from opgen.ir.scalar import BATCH, Apply, Index, Lit, Param, Read, Scalar, transform


def tree(depth: int) -> Scalar:
    """Doubled at every level: as a tree it has `2**depth` leaves."""
    e: Scalar = Read("x", (BATCH, Index("k")))
    for _ in range(depth):
        e = Apply("add", (e, e))
    return e


def test_what_is_equal_is_the_same() -> None:
    assert tree(40) is tree(40)
    assert Read("x", (BATCH,)) is Read("x", (BATCH,), None)
    assert Param("p") is Param("p", None)
    assert replace(Read("x", (Index("k"),)), tensor="y") is Read("y", (Index("k"),))


def test_literals_of_different_types_are_different() -> None:
    assert len({Lit(1), Lit(True), Lit(Fraction(1))}) == 3


def test_copies_are_the_same() -> None:
    e = tree(3)
    assert pickle.loads(pickle.dumps(e)) is e
    assert copy.deepcopy(e) is e


def test_what_two_parts_share_is_rewritten_once() -> None:
    seen: list[Scalar] = []

    def noted(e: Scalar) -> Scalar:
        seen.append(e)
        return Read("y", (BATCH, Index("k"))) if isinstance(e, Read) else e

    assert isinstance(transform(tree(40), noted), Apply)
    assert len(seen) == 42  # the index, the access, and a sum for each level


def test_what_nobody_holds_is_forgotten() -> None:
    before = len(unique._table)
    for k in range(3):
        made = [Apply("mul", (Lit(i + 10**6 * k), Index("k"))) for i in range(5000)]
        assert len(made) == 5000
        del made
    gc.collect()
    assert len(unique._table) < before + 3 * unique._SWEEP + 5000
