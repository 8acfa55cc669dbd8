"""What a binding leaves out where cotangents are missing: steps that would fill buffers with zeros alone.

In go a plan of second order and how the binding names what it takes; out come lines of C++ that say when, and that give
such buffers zeros: one element for all places, or memory of their own where a caller gets them.
"""

from __future__ import annotations

from collections.abc import Callable

from opgen.ir.operator import Operator
from opgen.package.cpp_library import element
from opgen.package.cpp_signature import Direction, own_argument
from opgen.plan.build import written
from opgen.plan.model import Buffer, KernelPlan, Step
from opgen.plan.vanish import When, skipped, vanishing


class Zeros:
    """The conditions of one variant; `entries` prints the shape of a buffer."""

    def __init__(self, operator: Operator, d: Direction, plan: KernelPlan, entries: Callable[[Buffer], str]) -> None:
        self.plan, self.entries = plan, entries
        zeros = vanishing(plan, d.lacking) if d.lacking else {}
        steps = {written(s): skipped(s, zeros) for s in plan.steps} if zeros else {}
        self.skipped = {filled: when for filled, when in steps.items() if when}  # by the buffers that a step fills
        distinct = dict.fromkeys(self.skipped.values())
        self.names = {when: own_argument(operator, d, f"zeros_{k}") for k, when in enumerate(distinct)}

    def lines(self) -> list[str]:
        """What is known before the first step runs."""
        lines = [f"const bool {name} = {_condition(when)};" for when, name in self.names.items()]
        results = {r.buffer for r in self.plan.results}
        for filled, when in self.skipped.items():
            for b in map(self.plan.buffer, filled):
                more = ", true" if b.name in results else ""
                fill = f'call.zero("{b.name}", {element(b.storage)}, {{{self.entries(b)}}}{more});'
                lines.append(f"if ({self.names[when]}) {fill}")
        return lines

    def runs(self, step: Step, wanted: str) -> str:
        """The condition under which a step runs whose results are wanted; empty: always."""
        if written(step) not in self.skipped:
            return wanted
        name = self.names[self.skipped[written(step)]]
        return f"!{name} && ({wanted})" if " || " in wanted else f"!{name} && {wanted}" if wanted else f"!{name}"


def _condition(when: When) -> str:
    if frozenset() in when:
        return "true"
    groups = [[f"!{name}.has_value()" for name in sorted(group)] for group in when]
    several = len(groups) > 1
    texts = [f"({' && '.join(g)})" if several and len(g) > 1 else " && ".join(g) for g in groups]
    return " || ".join(sorted(texts))
