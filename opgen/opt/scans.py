"""Index operators that look at one index in order, as recurrences; and the order of elements, of a tensor in memory.

A running value goes on from the one before it. What is put in order is computed before that, each element once.
"""

from __future__ import annotations

from collections.abc import Callable

from opgen.ir.kinds import kind_of
from opgen.ir.point import positions
from opgen.ir.program import Axis, Compute, Kind, Loop, Program, Recurrence, Statement
from opgen.ir.scalar import (
    BATCH,
    NEG_INF,
    ONE,
    ZERO,
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


def scan(s: Compute, fresh: Fresh, p: Program) -> list[Statement]:
    """The statements that compute an index operator over one index, in a program `p`."""
    (along,) = s.over
    assert isinstance(along, Axis)
    if s.op == "argsort":
        return _argsort(s, fresh, p)
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


def _argsort(s: Compute, fresh: Fresh, p: Program) -> list[Statement]:
    elements = positions(s.axes)
    match s.body:
        case Read(tensor, at, None) if at == elements and p.shape_of(tensor) == s.shape:
            return [s]
    kind = Kind.INT if kind_of(p.kind_of, p.params, s.body) is Kind.INT else Kind.FLOAT
    keys = Compute(fresh(f"{s.target}_key"), s.axes, s.body, kind=kind, span=s.span)
    return [keys, Compute(s.target, s.axes, Read(keys.target, elements), s.op, s.over, s.kind, s.span)]


def renamed(e: Scalar, names: dict[str, str]) -> Scalar:
    """An expression with other index names."""
    return substitute(e, {Index(a): Index(b) for a, b in names.items() if a != b})
