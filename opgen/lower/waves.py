"""Recurrences along several indices, or that reach back further than by one, as loops over waves.

The points of a wave do not read one another. Along one index a wave is a point of it. Along several it is a diagonal:
`h[i, j]` of what stands at `h[i - 1, j]` and `h[i, j - 1]` is computed for all `j` at once at every `i + j`, in a
tensor of its own with that sum in the place of `i`. What reads a wave further back than the last one reads a copy that
is handed on. In go the steps with their starts; out comes the loop, and behind it the names at their own points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from opgen.diagnostics.model import Span
from opgen.ir.point import positions
from opgen.ir.polynomial import polynomial
from opgen.ir.program import Axis, Compute, Kind, Loop, Recurrence, Statement, statement_reads
from opgen.ir.scalar import (
    ONE,
    ZERO,
    Batch,
    Index,
    Lit,
    Position,
    Read,
    Scalar,
    add,
    both,
    call,
    sub,
    substitute,
    transform,
    walk,
    where,
)


@dataclass(frozen=True, slots=True)
class Slot:
    """An axis along which a recurrence runs: `way` is -1 where it reads what is before, 1 where what is behind.

    It is 0 where it reads both; other axes tell the order then.
    """

    axis: Axis
    way: int

    def shift(self, p: Position) -> int | None:
        """How many places a position is from the index; None where it is no such position."""
        return None if isinstance(p, Batch) else (polynomial(p) - polynomial(Index(self.axis.name))).constant

    def back(self, p: Position) -> int | None:
        """How many places back a position is; None where it is no such position."""
        shift = self.shift(p)
        return None if shift is None else shift * self.way

    def count(self) -> Scalar:
        """How many places the point of its axis is from the first."""
        index = Index(self.axis.name)
        return index if self.way < 0 else sub(sub(self.axis.extent, ONE), index)

    def at(self, count: Scalar) -> Scalar:
        """The position that is so many places from the first."""
        return count if self.way < 0 else sub(sub(self.axis.extent, ONE), count)


def in_waves(
    steps: tuple[Compute, ...], along: Sequence[Slot], fresh: Callable[[str], str], span: Span | None
) -> tuple[Statement, ...] | None:
    """The loop over waves, and the statements behind it; None where no waves follow one another."""
    chosen = _chosen(steps, along)
    if chosen is None:
        return None
    if len(chosen) == 1:
        (slot,) = chosen
        waves = _Waves(steps, chosen, slot.axis, slot.way, {c.target: c.target for c in steps}, fresh)
        return (Recurrence(slot.axis, waves.loop(), slot.way > 0, span),)
    names = {a.name for c in steps for a in c.loops if isinstance(a, Axis)}
    names |= {n.name for c in steps for n in walk(c.body) if isinstance(n, Index)}
    wave = next(n for n in ("wave", *(f"wave_{k}" for k in range(2, len(names) + 3))) if n not in names)
    extent = add(*(slot.axis.extent for slot in chosen))  # one more for each but the first than there are, so never < 0
    axis = Axis(wave, extent)
    waves = _Waves(steps, chosen, axis, -1, {c.target: fresh(f"{c.target}_waves") for c in steps}, fresh)
    return (Recurrence(axis, waves.loop(), span=span), *waves.behind())


def _chosen(steps: Sequence[Compute], along: Sequence[Slot]) -> tuple[Slot, ...] | None:
    """The fewest slots whose sum tells the waves apart."""
    made = {c.target: c for c in steps}
    done = [{c.target for c in steps[:k]} for k in range(len(steps))]
    found = [(r, r.tensor in done[k]) for k, c in enumerate(steps) for r in statement_reads(c) if r.tensor in made]

    def is_before(r: Read, chosen: Sequence[Slot], *, earlier: bool) -> bool:
        back = _back(made[r.tensor], r, chosen)
        return back is not None and (back > 0 or (back == 0 and earlier))

    outer = sorted((slot for slot in along if slot.way), key=lambda slot: _at(steps[-1], slot))
    for size in range(1, len(outer) + 1):
        for chosen in combinations(outer, size):
            own = all(_place(c, slot) is not None for c in steps for slot in chosen)
            if own and all(is_before(r, chosen, earlier=earlier) for r, earlier in found):
                return chosen
    return None


def _back(c: Compute, r: Read, slots: Sequence[Slot]) -> int | None:
    """How many waves back a read of a step is."""
    found = [slot.back(r.at[_at(c, slot)]) for slot in slots]
    return None if None in found else sum(n for n in found if n is not None)


def _place(c: Compute, slot: Slot) -> int | None:
    """The position of a step that runs along a slot."""
    found = [k for k, a in enumerate(c.axes) if isinstance(a, Axis) and a.name == slot.axis.name]
    return found[0] if found else None


def _at(c: Compute, slot: Slot) -> int:
    place = _place(c, slot)
    assert place is not None
    return place


def _nothing(c: Compute) -> Scalar:
    return Lit(False) if c.kind is Kind.BOOL else ZERO


@dataclass(slots=True)
class _Waves:
    """The steps as a loop along `axis`, whose reads go `way`; each writes the tensor of `names`."""

    steps: tuple[Compute, ...]
    slots: tuple[Slot, ...]
    axis: Axis
    way: int
    names: dict[str, str]
    fresh: Callable[[str], str]
    copies: dict[tuple[str, int], Compute] = field(default_factory=dict)  # by step, and how far back it is

    @property
    def first(self) -> Slot:
        """The slot in whose place the waves stand: the outermost, so that the points of a wave lie side by side."""
        return self.slots[0]

    def loop(self) -> tuple[Compute, ...]:
        """The steps of the loop; what hands a wave on stands before them."""
        made = {c.target: c for c in self.steps}
        steps = tuple(self.step(c, made) for c in self.steps)
        return (*self.copies.values(), *steps)

    def step(self, c: Compute, made: Mapping[str, Compute]) -> Compute:
        def read(e: Scalar) -> Scalar:
            return self.read(made[e.tensor], e) if isinstance(e, Read) and e.tensor in made else e

        body = self.moved(transform(c.body, read))
        if len(self.slots) > 1:
            count = self.count()
            inside = both(call("ge", count, ZERO), call("lt", count, self.first.axis.extent))
            body = where(inside, body, _nothing(c))
        return replace(c, target=self.names[c.target], axes=self.axes(c), body=body)

    def axes(self, c: Compute) -> tuple[Loop, ...]:
        place = _at(c, self.first)
        return (*c.axes[:place], self.axis, *c.axes[place + 1 :])

    def count(self) -> Scalar:
        """How many places the point of a wave is from the first along its slot."""
        return sub(Index(self.axis.name), add(ZERO, *(slot.count() for slot in self.slots[1:])))

    def moved(self, e: Scalar) -> Scalar:
        """An expression of the point in terms of its wave."""
        if len(self.slots) == 1:
            return e
        return substitute(e, {Index(self.first.axis.name): self.first.at(self.count())})

    def read(self, c: Compute, e: Read) -> Scalar:
        """A read of a step, in its wave or an earlier one."""
        back = _back(c, e, self.slots)
        assert back is not None
        place, wave = _at(c, self.first), Index(self.axis.name)
        if back == 0:
            return replace(e, tensor=self.names[c.target], at=(*e.at[:place], wave, *e.at[place + 1 :]))
        tensor = self.copy(c, back - 1)
        found = self.before(replace(e, tensor=tensor), place)
        return found if len(self.slots) == 1 else self.or_nothing(c, found)

    def before(self, e: Read, place: int) -> Read:
        """What stands in the wave before."""
        wave = Index(self.axis.name)
        position = sub(wave, ONE) if self.way < 0 else add(wave, ONE)
        return replace(e, at=(*e.at[:place], position, *e.at[place + 1 :]))

    def or_nothing(self, c: Compute, e: Scalar) -> Scalar:
        """What stands in the wave before, if there is one."""
        first = ZERO if self.way < 0 else sub(self.axis.extent, ONE)
        return where(call("eq", Index(self.axis.name), first), _nothing(c), e)

    def copy(self, c: Compute, back: int) -> str:
        """The tensor that holds what a step was so many waves ago."""
        if back == 0:
            return self.names[c.target]
        if (c.target, back) not in self.copies:
            earlier, axes = self.copy(c, back - 1), self.axes(c)
            body = self.or_nothing(c, self.before(Read(earlier, positions(axes)), _at(c, self.first)))
            name = self.fresh(f"{c.target}_before")
            self.copies[c.target, back] = Compute(name, axes, body, kind=c.kind, span=c.span)
        return self.copies[c.target, back].target

    def behind(self) -> Iterator[Compute]:
        """The steps at their own points."""
        wave = add(*(slot.count() for slot in self.slots))
        for c in self.steps:
            place = _at(c, self.first)
            at = positions(c.axes)
            yield Compute(
                c.target, c.axes, Read(self.names[c.target], (*at[:place], wave, *at[place + 1 :])),
                kind=c.kind, span=c.span,
            )  # fmt: skip
