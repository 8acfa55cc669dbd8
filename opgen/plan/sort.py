"""Sorting in a plan: a statement that puts the elements of a tensor in order is a step, which the host hands on.

Its meaning in loops is the rank of every element, how many come before it: what has a rank stands at that place.
"""

from __future__ import annotations

from opgen.ir.names import Names
from opgen.ir.point import positions
from opgen.ir.program import Axis, Compute, Kind
from opgen.ir.scalar import BATCH, ONE, ZERO, Apply, Batch, Index, Position, Read, call, where
from opgen.plan.model import Fold, Nest, Pass, Schedule, Sort, Store


def sort(s: Compute, names: Names) -> Sort:
    """The step of `s`, the `argsort` of a tensor that it reads as it lies there."""
    (along,) = s.over
    assert isinstance(along, Axis)
    assert isinstance(s.body, Read)
    keys = s.body.tensor
    at = s.axes.index(along)
    axis = at - len(s.axes) if BATCH in s.shape[:at] else at
    other = Axis(names.fresh(f"{along.name}_other"), along.extent)
    mine, theirs = Index(along.name), Index(other.name)
    rank = Fold(names.fresh(f"{s.target}_rank"), "sum", _before(s, keys, mine, theirs), Kind.INT)
    place = Store(s.target, _at(s, along, Read(rank.name, ())), mine)
    passes = Pass((other,), folds=(rank,)), Pass((), stores=(place,))
    reason = "a sort: every element is put where it belongs"
    return Sort(s.target, Nest(s.target, s.axes, passes, Schedule.ROW, (), reason), keys, axis, (), reason)


def _before(s: Compute, keys: str, mine: Index, theirs: Index) -> Apply:
    """1 for an element that comes before the own one; what is no number comes last, in the order in which it stands."""
    (along,) = (a for a in s.over if isinstance(a, Axis))
    a, b = Read(keys, positions(s.axes)), Read(keys, _at(s, along, theirs))
    nan, other_nan = call("isnan", a), call("isnan", b)
    ahead = call("or", call("lt", b, a), call("and", nan, call("not", other_nan)))
    level = call("or", call("eq", a, b), call("and", nan, other_nan))
    found = where(call("or", ahead, call("and", level, call("lt", theirs, mine))), ONE, ZERO)
    assert isinstance(found, Apply)
    return found


def _at(s: Compute, along: Axis, place: Position) -> tuple[Position, ...]:
    return tuple(BATCH if isinstance(a, Batch) else place if a == along else Index(a.name) for a in s.axes)
