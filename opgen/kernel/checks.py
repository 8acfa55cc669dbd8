"""Which positions of a kernel may leave their slot, as far as anybody knows before it runs: these are checked there.

In go a plan and one of its kernels as it was lowered; out come accesses: a slot, the number of a position, and what
stands there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opgen.ir.program import Loop
from opgen.ir.scalar import Batch, Position, Scalar, reads
from opgen.kernel.model import Atomic, Body, For, If, Kernel, Store, conjuncts, ranged
from opgen.kernel.walk import steady, values
from opgen.plan.model import KernelPlan

Access = tuple[str, int, Position]


def unsure(plan: KernelPlan, k: Kernel, guarded: frozenset[Access]) -> frozenset[Access]:
    """The accesses of a kernel that nothing keeps in range: no loop, no condition around them, no fact of the plan.

    `guarded`: what is proven of its step.
    """
    return frozenset(_Checks(plan, k, guarded).within(k.body, (), frozenset()))


class _Checks:
    def __init__(self, plan: KernelPlan, k: Kernel, guarded: frozenset[Access]) -> None:
        self.guarded = guarded
        self.steady = steady(k.body)
        self.shapes = {s.name: s.shape for s in k.slots}
        self.ranges = plan.ranges

    def within(self, body: Body, around: tuple[Loop, ...], sure: frozenset[tuple[Scalar, Scalar]]) -> Iterator[Access]:
        """`sure` are the positions and sizes that conditions compare."""
        for node in body:
            match node:
                case For(loop, inner):
                    yield from self.within(inner, (*around, loop), sure)
                case If(condition, then, otherwise):
                    yield from self.reads((condition,), around, sure)
                    pairs = (pair for pair in map(ranged, conjuncts(condition)) if pair is not None)
                    yield from self.within(then, around, sure.union(pairs))
                    yield from self.within(otherwise, around, sure)
                case _:
                    yield from self.reads(values((node,)), around, sure)
                    if isinstance(node, Store | Atomic):
                        yield from self.at(node.slot, node.at, around, sure)

    def reads(
        self, found: Iterable[Scalar], around: tuple[Loop, ...], sure: frozenset[tuple[Scalar, Scalar]]
    ) -> Iterator[Access]:
        for e in found:
            for r in reads(e):
                yield from self.at(r.tensor, r.at, around, sure)

    def at(
        self,
        slot: str,
        at: tuple[Position, ...],
        around: tuple[Loop, ...],
        sure: frozenset[tuple[Scalar, Scalar]],
    ) -> Iterator[Access]:
        for k, (p, size) in enumerate(zip(at, self.shapes.get(slot, ()), strict=False)):
            if isinstance(p, Batch) or isinstance(size, Batch) or (slot, k) in self.steady:
                continue
            if (slot, k, p) in self.guarded or (p, size) in sure or self.ranges.inside(p, size, around):
                continue
            yield slot, k, p
