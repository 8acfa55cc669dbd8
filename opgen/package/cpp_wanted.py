"""When a binding is asked for what a plan computes: conditions of C++ on the arguments of the host."""

from __future__ import annotations

from collections.abc import Sequence

from opgen.ir.operator import Operator
from opgen.ir.program import Program
from opgen.package.cpp_signature import Direction, own_argument
from opgen.plan.build import reads_of, written
from opgen.plan.model import KernelPlan


class Wanted:
    """The conditions of one variant; empty ones always hold.

    `asks_recorded`: whether one that was asked for depends on whether a gradient may be asked for.
    """

    def __init__(self, operator: Operator, d: Direction, program: Program, plan: KernelPlan) -> None:
        self.operator, self.d, self.plan = operator, d, plan
        self.residuals = frozenset(o.name for o in program.outputs if o.kept and d.which == "forward")
        self.origin = {o.name: o.of for (_, p) in d.programs for o in p.outputs}
        self.users = {b: s.results for s in reversed(plan.steps) for b in written(s)}
        self.asks_recorded = False

    def any_of(self, results: Sequence[str]) -> str:
        """The condition that one of some results is asked for."""
        self.asks_recorded |= self._is_recorded(results)
        return self._condition(results)

    def used(self, buffer: str) -> str:
        """The condition that the step runs that fills a buffer."""
        return self.any_of(self.users[buffer])

    def result(self, buffer: str) -> str:
        """The condition that a buffer itself is asked for, which only results are made of."""
        return self.any_of(self._results(buffer))

    def apart(self) -> frozenset[str]:
        """Buffers that nobody may want though the one step runs that fills them: for other results, and none reads
        these."""
        steps = self.plan.steps
        several = [b for s in steps for b in written(s)]
        read = {b for s in steps for b in reads_of(s)}
        once = (b for b in dict.fromkeys(several) if several.count(b) == 1 and b not in read)
        return frozenset(b for b in once if self._condition(self._results(b)) != self._condition(self.users[b]))

    def _results(self, buffer: str) -> tuple[str, ...]:
        return tuple(r.name for r in self.plan.results if r.buffer == buffer)

    def _is_recorded(self, results: Sequence[str]) -> bool:
        return bool(results) and self.residuals.issuperset(results)

    def _condition(self, results: Sequence[str]) -> str:
        if self._is_recorded(results):
            return own_argument(self.operator, self.d, "recorded")
        if not self.d.mask:
            return ""
        mask = own_argument(self.operator, self.d, "mask")
        tests = [f"{mask}[{self.d.mask.index(self.origin[r])}]" for r in results if self.origin.get(r) in self.d.mask]
        return " || ".join(tests) if len(tests) == len(results) else ""
