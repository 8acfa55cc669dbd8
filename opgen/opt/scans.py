"""Index operators that look at one index in order, as recurrences; and the order of elements, as ranks.

A running value goes on from the one before it. The rank of an element is how many come before it when sorted; storing
every index at its rank gives the order. That compares all pairs, and is the same in every kernel.
"""

from __future__ import annotations

from collections.abc import Callable

from opgen.ir.program import Axis, Compute, Kind, Loop, Recurrence, Scatter, Statement
from opgen.ir.scalar import (
    BATCH,
    NEG_INF,
    ONE,
    ZERO,
    Apply,
    Batch,
    Index,
    Position,
    Read,
    Scalar,
    add,
    call,
    mul,
    sub,
    substitute,
    where,
)

Fresh = Callable[[str], str]
SCANS = ("cumsum", "cumprod", "logcumsumexp", "argsort")


def scan(s: Compute, fresh: Fresh) -> list[Statement]:
    """The statements that compute an index operator over one index."""
    (along,) = s.over
    assert isinstance(along, Axis)
    if s.op == "argsort":
        return _argsort(s, along, fresh)
    back = _at(s.axes, {along.name: sub(Index(along.name), ONE)})
    first = call("eq", Index(along.name), ZERO)
    before = Read(s.target, back)
    match s.op:
        case "cumsum":
            body = add(where(first, ZERO, before), s.body)
        case "cumprod":
            body = mul(where(first, ONE, before), s.body)
        case _:
            body = call("logaddexp", where(first, NEG_INF, before), s.body)
    return [Recurrence(along, (Compute(s.target, s.axes, body, kind=s.kind, span=s.span),), span=s.span)]


def _at(axes: tuple[Loop, ...], moved: dict[str, Scalar]) -> tuple[Position, ...]:
    return tuple(BATCH if isinstance(a, Batch) else moved.get(a.name, Index(a.name)) for a in axes)


def _argsort(s: Compute, along: Axis, fresh: Fresh) -> list[Statement]:
    other = Axis(fresh(f"{along.name}_other"), along.extent)
    mine, theirs = Index(along.name), Index(other.name)
    key = fresh(f"{s.target}_key")
    keys = Compute(key, s.axes, s.body, span=s.span)
    a, b = Read(key, _at(s.axes, {})), Read(key, _at(s.axes, {along.name: theirs}))
    # What is no number comes last, in the order in which it stands.
    nan, other_nan = call("isnan", a), call("isnan", b)
    ahead = call("or", call("lt", b, a), call("and", nan, call("not", other_nan)))
    level = call("or", call("eq", a, b), call("and", nan, other_nan))
    before = call("or", ahead, Apply("and", (level, call("lt", theirs, mine))))
    rank = fresh(f"{s.target}_rank")
    counted = Compute(rank, s.axes, where(before, ONE, ZERO), "sum", (other,), Kind.INT, s.span)
    place = _at(s.axes, {along.name: Read(rank, _at(s.axes, {}))})
    stored = Scatter(s.target, s.axes, s.axes, place, mine, "sum", ZERO, kind=Kind.INT, span=s.span)
    return [keys, counted, stored]


def renamed(e: Scalar, names: dict[str, str]) -> Scalar:
    """An expression with other index names."""
    return substitute(e, {Index(a): Index(b) for a, b in names.items() if a != b})
