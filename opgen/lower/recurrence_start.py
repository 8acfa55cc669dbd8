"""Reads of what stands outside of a recurrence: its starts.

In goes an access one or more places back, within the recurrence or in a statement after it; out comes a choice between
it and the starts, by where it stands. What no start says is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from opgen.ir import text
from opgen.ir.point import in_bounds
from opgen.ir.polynomial import number, polynomial
from opgen.ir.program import Axis, Kind, Shape
from opgen.ir.scalar import ZERO, Batch, Index, Lit, Read, Scalar, add, call, reads, sub, substitute, where
from opgen.lang.circles import shift_of
from opgen.lang.nodes import Access
from opgen.lower.kinds import numeric
from opgen.lower.scope import Begun, Known, Outside, Typed


@dataclass(frozen=True, slots=True)
class Unclear:
    """Starts meet where an access may stand, and none of them says what holds there."""

    message: str
    hint: str


class _MeetError(Exception):
    """Starts meet so far out, by position."""

    def __init__(self, at: Mapping[int, int]) -> None:
        super().__init__(at)
        self.at = dict(at)


@dataclass(frozen=True, slots=True)
class _Choice:
    """An access, how far it may stand outside at which positions, and what it is where it stands inside.

    `away` is negative where it may stand below the first element.
    """

    outside: Outside
    read: Read
    away: Mapping[int, int]
    shape: Shape
    kind: Kind

    def over(self, left: tuple[int, ...], at: Mapping[int, int]) -> Scalar:
        """The value where `at` says how far outside it stands, and of the positions `left` nothing is known yet."""
        if not left:
            return self.value(at) if at else self.read
        place, rest = left[0], left[1:]
        inside = self.over(rest, at)
        furthest = abs(self.away[place])
        way = self.away[place] // furthest
        found = [self.over(rest, {**at, place: way * far}) for far in range(1, furthest + 1)]
        if len(found) > 1 and all(e == found[0] for e in found):
            return where(self.beyond(place), found[0], inside)
        for far, value in enumerate(found, 1):
            inside = where(self.here(place, far), value, inside)
        return inside

    def here(self, place: int, far: int) -> Scalar:
        """Whether the access stands so far outside at a position."""
        index, back = self.base(place), abs(self.away[place]) - far
        return call("eq", index, Lit(back) if self.away[place] < 0 else sub(self.size(place), Lit(1 + back)))

    def beyond(self, place: int) -> Scalar:
        """Whether the access stands outside at a position at all."""
        index, back = self.base(place), Lit(abs(self.away[place]))
        return call("lt", index, back) if self.away[place] < 0 else call("ge", index, sub(self.size(place), back))

    def base(self, place: int) -> Scalar:
        """The position that the access is so many places back from."""
        position = self.read.at[place]
        assert not isinstance(position, Batch)
        return (polynomial(position) - number(self.away[place])).scalar()

    def size(self, place: int) -> Scalar:
        extent = self.shape[place]
        assert not isinstance(extent, Batch)
        return extent

    def outer(self, place: int, far: int) -> Scalar:
        """The position so far outside."""
        return Lit(far) if far < 0 else add(self.size(place), Lit(far - 1))

    def value(self, at: Mapping[int, int]) -> Scalar:
        """What stands outside: the start with the same positions, else the nearest that holds there too."""
        own = [s for s in self.outside.starts if set(s.at) <= set(at.items())]
        own = [s for s in own if not self.ends(s, at)]
        most = max((len(s.at) for s in own), default=0)
        values = list(dict.fromkeys(self.of_start(s, at) for s in own if len(s.at) == most))
        if len(values) > 1:
            raise _MeetError(at)
        fill = self.read.fill
        if not values and fill is not None and len(self.outside.along) > 1:
            return fill
        value = values[0] if values else Lit(False) if self.kind is Kind.BOOL else ZERO
        if isinstance(value, Read) or fill is None or fill == value:
            return value
        rest = [k for k in range(len(self.shape)) if k not in at]
        inner = Read(self.read.tensor, tuple(self.read.at[k] for k in rest))
        return where(in_bounds(inner, tuple(self.shape[k] for k in rest)), value, fill)

    def ends(self, start: Begun, at: Mapping[int, int]) -> bool:
        """Whether a start with an element for each point ends where there is no other start, so that 0 holds there."""
        beside = set(at) - {k for k, _ in start.at}
        begun = start.value
        each = begun.op is not None or any(reads(begun.body))
        return bool(beside) and each and not any(k in beside for s in self.outside.starts for k, _ in s.at)

    def of_start(self, start: Begun, at: Mapping[int, int]) -> Scalar:
        """A start at the other positions of the access, of the kind of the recurrence."""
        begun, own = start.value, dict(start.at)
        there = [self.outer(k, at[k]) if k in at else p for k, p in enumerate(self.read.at)]
        rest = tuple(p for k, p in enumerate(there) if k not in own)
        if begun.op is None and not reads(begun.body):
            names: dict[Scalar, Scalar] = {
                Index(a.name): p
                for a, p in zip(begun.axes, rest, strict=True)
                if isinstance(a, Axis) and not isinstance(p, Batch)
            }
            value = substitute(begun.body, names)
        elif len(own) < len(at):
            raise _MeetError(at)
        else:
            value = Read(begun.target, rest, self.read.fill)
        return value if self.kind is Kind.BOOL else numeric(Typed(value, begun.kind)).scalar


def or_start(outside: Outside, read: Read, away: Mapping[int, int], shape: Shape, kind: Kind) -> Scalar | Unclear:
    """An access, or a start where it stands outside; `away` is how far it is from its point, by position."""
    left = tuple(dict.fromkeys(place for place, _ in outside.along if place in away))
    try:
        return _Choice(outside, read, away, shape, kind).over(left, {})
    except _MeetError as met:
        items = [text.position(p) for p in read.at]
        for place, far in met.at.items():
            extent = text.position(shape[place])
            items[place] = str(far) if far < 0 else extent if far == 1 else f"{extent} + {far - 1}"
        return Unclear(
            f"starts of `{read.tensor}` meet, and none says what holds there",
            f"say it: `{read.tensor}[{', '.join(items)}] = …`",
        )


def steps_back(e: Access, known: Known) -> dict[int, int]:
    """How far an access of a recurrence that is done steps, maybe out of it to its start, by position."""
    if known.outside is None:
        return {}
    furthest = max((abs(far) for s in known.outside.starts for _, far in s.at), default=1)
    steps = ((place, way, shift_of(e.items[place])) for place, way in known.outside.along)
    return {
        place: step.offset
        for place, way, step in steps
        if step is not None and step.offset * way > 0 and abs(step.offset) <= furthest
    }
