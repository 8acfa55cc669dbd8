"""Walks of expressions, whose parts may stand at many places, and conditions that hold together."""

from __future__ import annotations

from functools import reduce

from opgen.ir.order import occurrences
from opgen.ir.scalar import ONE, ZERO, Apply, Index, Scalar, add, both, call, walk


def test_a_shared_part_is_met_once_and_counted_as_often_as_it_stands() -> None:
    leaf: Scalar = Index("n")
    e = leaf
    for _ in range(40):  # written out, a tree of 2**40 leaves
        e = call("max", e, e)
    assert len(list(walk(e))) == 41
    found = occurrences(e)
    assert found[leaf] == 2**40
    assert found[e] == 1


def test_an_operand_that_stands_twice_is_counted_with_what_is_in_it() -> None:
    inner = call("exp", Index("n"))
    assert occurrences(call("max", inner, call("tanh", inner)))[Index("n")] == 2


def conditions(count: int) -> list[Scalar]:
    return [call("lt", Index("n"), add(*([ONE] * k), Index("k"))) for k in range(1, count + 1)]


def test_a_long_condition_says_nothing_twice() -> None:
    whole = reduce(both, conditions(9))
    assert both(whole, whole) == whole
    assert occurrences(both(whole, conditions(10)[-1]))[conditions(1)[0]] == 1
    e = whole
    for _ in range(30):  # joined with itself at every step, it would be as long as 2**30
        e = both(e, call("and", e, e))
    assert e == whole


def test_what_is_known_is_not_asked() -> None:
    asked = conditions(1)[0]
    assert both(ONE, asked) == asked
    assert both(asked, ONE) == asked
    assert both(ZERO, asked) == ZERO
    assert isinstance(both(asked, conditions(2)[1]), Apply)
