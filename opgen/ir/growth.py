"""Which intermediates outgrow everything a program takes and gives: compared by the dims in their shapes, not by sizes.

Dims are of two sorts. *Widths* are how long the rows of tensors are: a dim that stands last in tensors with several
named axes, and before the last no more often. All others, and the batch, count *rows*. The size of a tensor grows with
its rows; a tensor outgrows the program where its rows are those of every input and output and more, and at least two
of them are named. In go shapes, out come yes and no.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from opgen.ir.program import Axis, Loop, Program, Role, Shape
from opgen.ir.scalar import BATCH, Batch, Dim, Scalar, walk

Rows = Counter[Scalar | Batch]


@dataclass(frozen=True, slots=True)
class Growth:
    """What is known of the dims of a program; `given` are the rows of what goes in and out."""

    widths: frozenset[str]
    given: tuple[Rows, ...]

    @staticmethod
    def of(p: Program) -> Growth:
        """From the inputs and outputs; what is only kept for a later program says nothing about how dims are used."""
        inputs = [t.shape for t in p.inputs if t.role is not Role.SAVED]
        outputs = [o.shape for o in p.outputs if not (o.of and o.of == o.value)]
        widths = _widths([*inputs, *outputs])
        every = [*(t.shape for t in p.inputs), *(o.shape for o in p.outputs)]
        return Growth(widths, tuple(_rows(s, widths) for s in every))

    def outgrows(self, shape: Shape) -> bool:
        """Whether a tensor of this shape has more rows than each input and output."""
        own = _rows(shape, self.widths)
        if sum(n for size, n in own.items() if not isinstance(size, Batch)) < 2:
            return False
        return all(rows <= own and rows != own for rows in self.given)

    def is_rows(self, loop: Loop) -> bool:
        """Whether a loop counts rows."""
        return bool(_rows((loop if isinstance(loop, Batch) else loop.extent,), self.widths))

    def narrow(self, over: Sequence[Loop]) -> bool:
        """Whether loops only run along rows."""
        return not any(self.is_rows(a) for a in over)


def _widths(shapes: Sequence[Shape]) -> frozenset[str]:
    last: Counter[str] = Counter()
    before: Counter[str] = Counter()
    for shape in shapes:
        named = [size for size in shape if not isinstance(size, Batch)]
        if len(named) > 1:
            before.update(name for size in named[:-1] for name in _dims(size))
            last.update(_dims(named[-1]))
    return frozenset(name for name in last if before[name] <= last[name])


def _rows(shape: Shape, widths: frozenset[str]) -> Rows:
    return Counter(
        size for size in shape if size == BATCH or (not isinstance(size, Batch) and _counts_rows(size, widths))
    )


def _counts_rows(size: Scalar, widths: frozenset[str]) -> bool:
    return any(name not in widths for name in _dims(size))


def _dims(size: Scalar) -> list[str]:
    return [n.name for n in walk(size) if isinstance(n, Dim)]


def shape_of(loops: Sequence[Loop]) -> Shape:
    """The shape of a tensor over some loops."""
    return tuple(a.extent if isinstance(a, Axis) else a for a in loops)
