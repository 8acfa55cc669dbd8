"""Tensors of a printed function and how they are laid out against the loops of a statement.

Every local tensor is *batch first*: the batch dims, of unknown number, lead; named axes follow in declared order. So
named axes are always addressed from the end, which is right for any batch rank, and under vmap. A `Value` is a piece
of torch code together with the loops its dims stand for; `aligned` turns it into one that broadcasts against a whole
space.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from opgen.code.printer import Text
from opgen.ir.program import Kind, Loop, Shape
from opgen.ir.scalar import BATCH, Batch
from opgen.torch.dialect import ATOM


@dataclass(frozen=True, slots=True)
class Stored:
    """A local tensor. `axes`: which axes of the declared shape its dims are; those it is constant along may lack.

    `batch`: the arguments whose batch dims it has; `view`: it may share memory with an argument.
    """

    name: str
    shape: Shape
    axes: tuple[int, ...]
    kind: Kind
    batch: frozenset[str] = frozenset()
    view: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """Torch code and the loops of its dims, batch first."""

    text: Text
    loops: tuple[Loop, ...]
    batch: frozenset[str] = frozenset()
    view: bool = False

    @property
    def receiver(self) -> str:
        """The text as the object of a method call."""
        return self.text.at(ATOM)

    def method(self, call: str, loops: tuple[Loop, ...] | None = None, kind: Kind | None = None) -> Value:
        """The value with a method applied."""
        text = Text(f"{self.receiver}.{call}", ATOM, kind or self.text.kind)
        return replace(self, text=text, loops=self.loops if loops is None else loops)


def batch_first(shape: Shape) -> tuple[int, ...]:
    """Positions of a declared shape with the batch dims moved to the front."""
    return tuple(sorted(range(len(shape)), key=lambda i: not isinstance(shape[i], Batch)))


def moved_in(shape: Shape) -> str:
    """The method that brings a tensor of this declared shape to batch-first layout; empty where it is."""
    lead, rank = _leading(shape)
    return f"movedim({_dims(range(lead))}, {_dims(range(-rank, -rank + lead))})" if lead else ""


def moved_out(shape: Shape) -> str:
    """The inverse of `moved_in`."""
    lead, rank = _leading(shape)
    return f"movedim({_dims(range(-rank, -rank + lead))}, {_dims(range(lead))})" if lead else ""


def _leading(shape: Shape) -> tuple[int, int]:
    """How many named axes stand before the batch dims, and how many there are."""
    return (shape.index(BATCH), len(shape) - 1) if BATCH in shape else (0, len(shape))


def _dims(positions: range) -> str:
    return str(positions[0]) if len(positions) == 1 else str(tuple(positions))


def permuted(v: Value, order: tuple[Loop, ...]) -> Value:
    """The same value with its loops in another order; the batch stays in front."""
    loops = v.loops
    if loops == order:
        return v
    assert set(loops) == set(order), "only the order may differ"
    n = len(loops)
    moves = [(loops.index(loop) - n, i - n) for i, loop in enumerate(order) if loops[i] != loop]
    if len(moves) == 2:
        a, b = moves[0][1], moves[1][1]
        return v.method("mT" if (a, b) == (-2, -1) else f"transpose({a}, {b})", order)
    source, target = (tuple(m[i] for m in moves) for i in (0, 1))
    return v.method(f"movedim({source}, {target})", order)


def aligned(v: Value, space: tuple[Loop, ...]) -> Value:
    """The value as an operand in a space: dims in its order, size 1 where the value does not vary."""
    v = permuted(v, tuple(loop for loop in space if loop in v.loops))
    if not v.loops:
        return v
    first = space.index(v.loops[0])
    tail = space[first:]
    missing = [i - len(tail) for i, loop in enumerate(tail) if loop not in v.loops]
    if not missing:
        return v
    if len(missing) == 1:
        return v.method(f"unsqueeze({missing[0]})")
    slots = ["..." if loop == BATCH else ":" if loop in v.loops else "None" for loop in tail]
    return replace(v, text=Text(f"{v.receiver}[{', '.join(slots)}]", ATOM, v.text.kind))
