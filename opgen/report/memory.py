"""Bytes: of tensors that are kept for backward, and of what kernels move, against the least that has to be moved.

In go programs and plans; out come numbers at sizes that are typical for the operator, in float32.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from opgen.ir import text
from opgen.ir.program import Argument, DimSource, Kind, Program, Shape
from opgen.ir.scalar import Batch
from opgen.opt.order import typical_sizes
from opgen.package.sample_numbers import number
from opgen.plan.build import reads_of, written
from opgen.plan.model import KernelPlan, Step, Storage

_WIDTHS = {Kind.FLOAT: 4, Kind.INT: 8, Kind.BOOL: 1}
_STORED = {Storage.COMPUTE: 4, Storage.INT64: 8, Storage.BOOL: 1}


@dataclass(frozen=True, slots=True)
class Sizes:
    """A size for every dim of an operator, with what expressions of them need, and the bytes of a number."""

    named: Mapping[str, int]
    dims: Sequence[DimSource]
    params: Sequence[Argument]
    values: Mapping[str, object] = field(default_factory=dict)  # of params; those that are not here: their defaults
    width: int = 4

    def elements(self, shape: Shape) -> int | None:
        """How many elements a tensor has; None where a param decides that nobody states."""
        count = 1.0
        try:
            for s in shape:
                extent = (
                    self.named["..."]
                    if isinstance(s, Batch)
                    else number(s, self.values, self.named, self.dims, self.params)
                )
                count *= max(extent, 0)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            return None
        return int(count)

    def bytes(self, shape: Shape, kind: Kind) -> int | None:
        found = self.elements(shape)
        return None if found is None else found * _WIDTHS[kind]


def sizes(p: Program) -> Sizes:
    """Sizes that are typical for an operator; derived ones follow from those."""
    free = {d.name for d in p.dims if d.value is None} | {"..."}
    return Sizes({n: s for n, s in typical_sizes(p).items() if n in free}, p.dims, p.params)


def product(shape: Shape) -> str:
    """The number of elements as a formula."""
    return " · ".join("batch" if isinstance(s, Batch) else text.scalar(s) for s in shape) or "1"


def moved(plan: KernelPlan, step: Step, at: Sizes) -> int | None:
    """The bytes that a step reads and writes at least."""
    return _total(plan, (*dict.fromkeys(reads_of(step)), *dict.fromkeys(written(step))), at)


def floor(plan: KernelPlan, at: Sizes) -> int | None:
    """The bytes of arguments that are read and of results: what no kernel can do without."""
    read = {n for step in plan.steps for n in reads_of(step)}
    arguments = [b.name for b in plan.buffers if b.role is not None and b.name in read]
    return _total(plan, (*arguments, *dict.fromkeys(r.buffer for r in plan.results if r.buffer not in arguments)), at)


def _total(plan: KernelPlan, names: Iterable[str], at: Sizes) -> int | None:
    known = {b.name: b for b in plan.buffers}
    counts = [(at.elements(known[n].shape), _STORED.get(known[n].storage, at.width)) for n in names if n in known]
    total = 0
    for count, width in counts:
        if count is None:
            return None
        total += count * width
    return total


def shown(count: int | None) -> str:
    """A number of bytes as a person reads it."""
    if count is None:
        return "—"
    amount, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
