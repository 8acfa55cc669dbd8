"""The kernel IR: how one step of a plan runs, as loops, values and memory, in no language.

A plan says what is computed together; a `Kernel` says in which order. It is a tree of nodes over *formal* slots, into
which a call puts tensors, so that two steps that differ in names alone are one kernel. Values are the scalars of
Programs; in them a `Read` without positions of a name that stands in a `Let` or an `Acc` around it is that local, and
any other `Read` loads from a slot or a tile.

Lowering (`opgen.kernel.lower`) gives the naive form. Whatever a back end wants otherwise (another order, lanes, tiles,
partial sums) is a rewrite from kernel to kernel, checked by `verify` and by `interp`.

    for ... parallel                          outer points are independent of each other
      acc top: float = max
      for n < N
        join top max= x[..., n]
      for n < N
        store y[..., n] = exp(x[..., n] - top)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from opgen.ir.program import Axis, Kind, Loop, Shape
from opgen.ir.scalar import Batch, Position, Scalar
from opgen.plan.model import Let, Storage

PLACES = ("argmax", "argmin")  # the reductions that hold where a value stands


class Role(StrEnum):
    """How the points of a loop run."""

    SERIAL = "serial"  # in order
    PARALLEL = "parallel"  # independent of each other: threads, blocks


@dataclass(frozen=True, slots=True)
class For:
    """`body` at every point of a loop; downwards where `reverse`."""

    loop: Loop
    body: Body
    role: Role = Role.SERIAL
    reverse: bool = False


@dataclass(frozen=True, slots=True)
class If:
    """`body` where a condition holds."""

    condition: Scalar
    body: Body


@dataclass(frozen=True, slots=True)
class Acc:
    """A local that values are joined into, by a `core` row of the reductions; what it holds first is the empty one.

    `argmax` and `argmin` hold the place of the best value so far.
    """

    name: str
    op: str
    kind: Kind = Kind.FLOAT


@dataclass(frozen=True, slots=True)
class Join:
    """Takes a value into an `Acc`; `place` is where it stands, for those that hold a place."""

    acc: str
    value: Scalar
    place: Scalar | None = None


@dataclass(frozen=True, slots=True)
class Store:
    """`slot[at] = value`, converted to what the slot or tile holds."""

    slot: str
    at: tuple[Position, ...]
    value: Scalar


@dataclass(frozen=True, slots=True)
class Atomic:
    """`slot[at] op= value`: points of parallel loops may meet in one place, and none is lost."""

    slot: str
    at: tuple[Position, ...]
    op: str
    value: Scalar


@dataclass(frozen=True, slots=True)
class Tile:
    """A part of a tensor kept near, made anew where the node stands; known to what stands behind it."""

    name: str
    shape: tuple[Scalar, ...]
    kind: Kind = Kind.FLOAT


# a `Let` is that of the plan: a local, a value computed once, known to what stands behind it in its body
Node = For | If | Let | Acc | Join | Store | Atomic | Tile
Body = tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Slot:
    """A formal tensor argument. What is `written` is contiguous and has the whole batch; what is read may not be."""

    name: str
    shape: Shape
    storage: Storage
    written: bool = False


@dataclass(frozen=True, slots=True)
class Kernel:
    """One step of a plan as a function of its slots; `reason` is why it is planned that way."""

    name: str
    slots: tuple[Slot, ...]
    body: Body
    reason: str = ""


def scalars(k: Kernel) -> Iterator[Scalar]:
    """Every expression of a kernel: sizes of its slots, then those of its nodes in order."""
    yield from (e for s in k.slots for e in s.shape if not isinstance(e, Batch))
    yield from _scalars(k.body)


def _scalars(body: Body) -> Iterator[Scalar]:
    for node in body:
        match node:
            case For(loop, inner):
                if isinstance(loop, Axis):
                    yield loop.extent
                yield from _scalars(inner)
            case If(condition, inner):
                yield condition
                yield from _scalars(inner)
            case Let(_, value):
                yield value
            case Join(_, value, place):
                yield from (value,) if place is None else (place, value)
            case Store(_, at, value) | Atomic(_, at, _, value):
                yield from (p for p in at if not isinstance(p, Batch))
                yield value
            case Tile(_, shape):
                yield from shape
            case Acc():
                pass
            case _:
                assert_never(node)
