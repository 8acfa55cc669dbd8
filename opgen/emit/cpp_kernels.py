"""The CPU kernels of a plan: one C++ function per step, for `csrc/<op>_kernels.cpp`.

In goes a `KernelPlan`, out come function definitions, as lines, and the names of the steps in order. A contraction has
no kernel: the host gives it to torch.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from opgen.emit.cpp_layout import block, commented, laid_out
from opgen.emit.cpp_nest import NestCode
from opgen.emit.cpp_scatter import scatter_lines
from opgen.plan.expand import positions
from opgen.plan.model import Contract, KernelPlan, Nest, Pass, ScatterStep, Schedule, Store


@dataclass(frozen=True, slots=True)
class Kernel:
    """One function: `name` as the step table has it, `lines` its definition."""

    name: str
    lines: tuple[str, ...]


@dataclass(slots=True)
class StepTable:
    """All kernels of an operator, in the order of its table of steps; equal ones are there once."""

    kernels: list[Kernel] = field(default_factory=list)
    _numbers: dict[tuple[str, ...], int] = field(default_factory=dict)

    def add(self, plan: KernelPlan, prefix: str) -> tuple[int, ...]:
        """Put the kernels of a plan in; the numbers of its steps."""
        return tuple(self._number(k) for k in kernels(plan, prefix))

    def _number(self, k: Kernel) -> int:
        text = tuple(line.replace(f" {k.name}(", " (") for line in k.lines)
        if text not in self._numbers:
            self._numbers[text] = len(self.kernels)
            self.kernels.append(k)
        return self._numbers[text]


def kernels(plan: KernelPlan, prefix: str) -> tuple[Kernel, ...]:
    """The kernels of a plan, in the order of its steps."""
    steps = tuple(s for s in plan.steps if not isinstance(s, Contract))
    return tuple(_kernel(plan, s, f"{prefix}_{s.name}") for s in steps)


def _kernel(plan: KernelPlan, step: Nest | ScatterStep, name: str) -> Kernel:
    if isinstance(step, Nest):
        body = NestCode(plan, step).lines()
    else:
        base = Store(step.out, positions(step.axes), step.base)
        fill = Nest(step.name, step.axes, (Pass((), stores=(base,)),), Schedule.MAP)
        body = scatter_lines(NestCode(plan, fill).lines(), plan, step)
    head = f"int {name}(const OpgenCall& call, OpgenHost& host) {{"
    lines = [*_reason(step.reason), "template <typename opmath_t>", *block(head, body)]
    return Kernel(name, tuple(laid_out(lines)))


def _reason(text: str) -> list[str]:
    """Why the step is planned as it is, as a comment."""
    return commented(f"// {text[0].upper()}{text[1:]}.") if text else []
