"""The ways in which a CPU kernel reads and writes its buffers, as far as its `Loops` move along them.

A position that is a sum of multiples of indices moves evenly with each of them: an access at such positions has strides
of its own, and runs of several loops may be one stretch of memory. It must be in range wherever the loops are, which a
host compares ahead of the call (`opgen.kernel.reach`), and read at every lane: what is read under a condition may leave
its buffer where nobody wants it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from opgen.ir.polynomial import polynomial
from opgen.ir.program import Loop
from opgen.ir.scalar import ZERO, Batch, Index, Lit, Position, Read, Scalar, is_placed, mentions, reads
from opgen.kernel.formal import Formal
from opgen.kernel.model import Body
from opgen.kernel.walk import straight, values
from opgen.kernel.wanted import always


@dataclass(frozen=True, slots=True)
class Even:
    """A position that moves evenly: where it starts, and how far it moves with each index."""

    axis: int
    start: Scalar
    steps: tuple[tuple[str, Scalar], ...]


@dataclass(frozen=True, slots=True)
class Access:
    """A distinct way the nest reads or writes a buffer. `loops` are the loops its plain positions move along."""

    number: int
    buffer: str
    at: tuple[Position, ...]
    name: str  # of the run or value in C++
    write: bool = False
    sure: bool = True  # every position is an index of a loop, a literal or even, surely in range
    even: tuple[Even, ...] = ()

    def axes_of(self, loop: Loop) -> list[tuple[int, Scalar | None]]:
        """The positions that move with a loop, and how far if that is not from one to the next."""
        if isinstance(loop, Batch):
            return [(k, None) for k, p in enumerate(self.at) if isinstance(p, Batch)]
        plain: list[tuple[int, Scalar | None]] = [(k, None) for k, p in enumerate(self.at) if p == Index(loop.name)]
        return plain + [(e.axis, step) for e in self.even for name, step in e.steps if name == loop.name]

    def moves_with(self, loops: tuple[Loop, ...]) -> bool:
        return any(self.axes_of(a) for a in loops)

    def starts(self) -> dict[int, Scalar]:
        """Where positions start that loops move along, or that stay there."""
        plain = {k: p for k, p in enumerate(self.at) if isinstance(p, Lit) and p != ZERO}
        return plain | {e.axis: e.start for e in self.even if e.start != ZERO}


def at_every_lane(body: Body) -> frozenset[tuple[str, tuple[Position, ...]]]:
    """What a part of a kernel reads wherever it reads it, and not to have something else out of range."""
    every, others = set[Read](), set[Read]()
    for group in straight(body):
        certain = always(group)
        every |= certain
        others |= {r for e in values(group) for r in reads(e) if r not in certain or r.fill is not None}
    return frozenset((r.tensor, r.at) for r in every) - {(r.tensor, r.at) for r in others}


def evens(formal: Formal, buffer: str, at: Iterable[Position], turns: Collection[str]) -> tuple[Even, ...] | None:
    """The positions of an access that are more than an index or a number, if each of them moves evenly and in range."""
    found = [_even(formal, buffer, k, p) for k, p in enumerate(at) if not isinstance(p, Batch | Index | Lit)]
    made = tuple(e for e in found if e is not None)
    return made if len(made) == len(found) and not turns else None


def _even(formal: Formal, buffer: str, axis: int, p: Scalar) -> Even | None:
    place = buffer, axis, p
    if reads(p) or is_placed(p) or (place in formal.unsure and place not in formal.told):
        return None
    found = evenly(p)
    return None if found is None else Even(axis, *found)


def meets(access: Access, at: tuple[Position, ...]) -> bool:
    """Whether positions are those of an even access."""
    even = {e.axis: (e.start, e.steps) for e in access.even}

    def same(k: int, p: Position) -> bool:
        return p == access.at[k] or (k in even and not isinstance(p, Batch) and even[k] == evenly(p))

    return len(at) == len(access.at) and all(same(k, p) for k, p in enumerate(at))


def evenly(p: Scalar) -> tuple[Scalar, tuple[tuple[str, Scalar], ...]] | None:
    """Where a position starts and how far it moves with each index, if it moves evenly."""
    names = sorted(mentions(p)[0])
    if not names:
        return p, ()
    rest, steps = polynomial(p), list[tuple[str, Scalar]]()
    for name in names:
        parts = rest.split(Index(name))
        if parts is None:
            return None
        step, rest = parts
        if mentions(step.scalar())[0]:
            return None
        steps.append((name, step.scalar()))
    return None if mentions(rest.scalar())[0] else (rest.scalar(), tuple(steps))
