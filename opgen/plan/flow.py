"""Streams in the making: which uses of pairs share one.

In go uses (`opgen.opt.streams`), one by one, in the order of the program. Uses share a stream that run over the same
points and read what it makes at their own point only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from opgen.ir.names import Names
from opgen.ir.program import Axis, Compute, Loop
from opgen.ir.scalar import BATCH, Batch, Index, Position, Read, Scalar, reads
from opgen.opt.streams import Use, renamed
from opgen.plan.model import extent


@dataclass(slots=True)
class Member:
    """A use in the names of its stream."""

    statement: Compute
    at: tuple[Position, ...]
    wide: tuple[Axis, ...]
    body: Scalar


@dataclass(slots=True)
class Flow:
    """A stream in the making."""

    outer: tuple[Loop, ...]
    along: Axis
    rows: tuple[str, ...]
    members: list[Member] = field(default_factory=list)
    reads: tuple[Read, ...] = ()  # of what is in memory

    def member(self, target: str) -> Member | None:
        return next((m for m in self.members if m.statement.target == target), None)


def fits(f: Flow, u: Use) -> bool:
    """Whether a use runs over the points of a stream; what it reads of the stream it reads at its own point."""
    if [extent(a) for a in u.outer] != [extent(a) for a in f.outer] or u.along.extent != f.along.extent:
        return False
    names = _names(f, u)
    if not any(names[r] == Index(n) for r in u.rows for n in f.rows):
        return False
    for r in reads(renamed(u.body, names)):
        m = f.member(r.tensor)
        if m is not None and (m.wide or r.at != m.at):
            return False
    return True


def _names(f: Flow, u: Use) -> dict[str, Scalar]:
    pairs = [
        (a.name, b.name) for a, b in zip(u.outer, f.outer, strict=True) if isinstance(a, Axis) and isinstance(b, Axis)
    ]
    return {a: Index(b) for a, b in [*pairs, (u.along.name, f.along.name)]}


def join(f: Flow, u: Use, memory: tuple[Read, ...], names: Names) -> None:
    """Put a use into a stream."""
    bound = _names(f, u)
    kept = tuple(n for n in f.rows if any(bound[r] == Index(n) for r in u.rows))
    wide = tuple(Axis(names.fresh(a.name), a.extent) for a in u.wide)
    bound |= {a.name: Index(b.name) for a, b in zip(u.wide, wide, strict=True)}
    at = tuple(BATCH if isinstance(a, Batch) else bound[a.name] for a in u.statement.axes)
    f.members.append(Member(u.statement, at, wide, renamed(u.body, bound)))
    f.rows = kept
    f.reads = tuple(dict.fromkeys((*f.reads, *memory)))
