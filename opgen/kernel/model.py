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

from opgen.ir.program import Kind, Loop, Shape
from opgen.ir.scalar import ZERO, Apply, Position, Scalar, call
from opgen.plan.model import Let, Storage

PLACES = ("argmax", "argmin")  # the reductions that hold where a value stands


class Role(StrEnum):
    """How the points of a loop run."""

    SERIAL = "serial"  # in order
    PARALLEL = "parallel"  # independent of each other: threads, blocks
    LANES = "lanes"  # side by side, as the lanes of a vector; they may meet in an accumulator that stands around them
    TEAM = "team"  # lanes as well, shared out among the threads of a team
    CHUNKS = "chunks"  # lanes as well, in chunks that are run in parallel and joined in their order


@dataclass(frozen=True, slots=True)
class For:
    """`body` at every point of a loop; downwards where `reverse`."""

    loop: Loop
    body: Body
    role: Role = Role.SERIAL
    reverse: bool = False


@dataclass(frozen=True, slots=True)
class If:
    """`body` where a condition holds, `otherwise` where it does not."""

    condition: Scalar
    body: Body
    otherwise: Body = ()


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
    """A part of a tensor kept near, made anew where the node stands; known to what stands behind it.

    A `wide` one holds floats in double precision, whatever is computed in.
    """

    name: str
    shape: tuple[Scalar, ...]
    kind: Kind = Kind.FLOAT
    wide: bool = False


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


def in_range(p: Scalar, size: Scalar) -> Scalar:
    """The condition that a position is in range."""
    return call("and", call("ge", p, ZERO), call("lt", p, size))


def ranged(e: Scalar) -> tuple[Scalar, Scalar] | None:
    """The position and the size of such a condition; None for any other."""
    match e:
        case Apply("and", (Apply("ge", (p, _)), Apply("lt", (_, size)))) if e == in_range(p, size):
            return p, size
        case _:
            return None


def conjuncts(e: Scalar) -> Iterator[Scalar]:
    """The conditions that a condition is made of; one that a position is in range is one."""
    if isinstance(e, Apply) and e.fn == "and" and ranged(e) is None:
        for part in e.args:
            yield from conjuncts(part)
    else:
        yield e
