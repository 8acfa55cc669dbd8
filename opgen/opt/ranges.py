"""Which positions need a check while a kernel runs: those that cannot be proven to stay in their tensor.

In go the shapes of tensors and what is known of sizes; out come answers for one access at a time. Everything rests on
the proofs of `opgen.ir.ranges`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from opgen.ir.program import Axis, Loop, Program, Shape
from opgen.ir.ranges import Facts, derived_sizes, facts_of, inside, sizes_of
from opgen.ir.scalar import Batch, Index, Read, Scalar


@dataclass(slots=True)
class Ranges:
    """What is known about a program or plan as a whole."""

    shapes: Mapping[str, Shape]
    sizes: tuple[Scalar, ...]
    dims: Mapping[str, Scalar | None]
    _facts: dict[tuple[Loop, ...], Facts] = field(default_factory=dict)
    _known: dict[tuple[Scalar, Scalar, tuple[Loop, ...]], bool] = field(default_factory=dict)

    @staticmethod
    def of(p: Program, shapes: Mapping[str, Shape]) -> Ranges:
        """`shapes` has the tensors that planning made as well."""
        return Ranges(shapes, sizes_of(p), derived_sizes(p))

    def inside(self, position: Scalar, size: Scalar, loops: Iterable[Loop]) -> bool:
        """Whether a position surely is in `[0, size)` at every point of some loops."""
        around = tuple(loops)
        if isinstance(position, Index) and any(isinstance(a, Axis) and a == Axis(position.name, size) for a in around):
            return True
        key = (position, size, around)
        if key not in self._known:
            if around not in self._facts:
                self._facts[around] = facts_of(around, self.dims, self.sizes)
            self._known[key] = inside(position, size, self._facts[around])
        return self._known[key]

    def surely(self, r: Read, loops: Iterable[Loop]) -> bool:
        """Whether an access surely stays in its tensor."""
        pairs = zip(r.at, self.shapes[r.tensor], strict=True)
        around = tuple(loops)
        return all(isinstance(p, Batch) or isinstance(size, Batch) or self.inside(p, size, around) for p, size in pairs)
