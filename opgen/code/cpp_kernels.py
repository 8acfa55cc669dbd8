"""The CPU kernels of a plan: one C++ function per step, for `csrc/<op>_kernels.cpp`.

In goes a `KernelPlan`, out come function definitions, as lines, and the numbers of the steps in the operator's table.
Contractions and convolutions have no kernel: the host gives them to torch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from opgen.code.cpp_kernel import kernel_lines
from opgen.code.cpp_layout import block, commented, laid_out
from opgen.code.cpp_stream import stream_lines
from opgen.code.cuda_code import CudaPlan, CudaStep, cuda_plan, numbered
from opgen.ir.program import Function
from opgen.kernel.lanes import lanes, schedule_of
from opgen.kernel.lower import lower
from opgen.plan.model import Kernel as KernelStep
from opgen.plan.model import KernelPlan, Library, ScatterStep, Stream


@dataclass(frozen=True, slots=True)
class Kernel:
    """One function: `name` as the step table has it, `lines` its definition."""

    name: str
    lines: tuple[str, ...]


@dataclass(slots=True)
class StepTable:
    """All kernels of an operator, in the order of its table of steps; equal ones are there once.

    The CUDA kernels of the same steps stand beside those for the CPU: one binding runs either by one number.
    """

    op: str
    kernels: list[Kernel] = field(default_factory=list)
    cuda: list[CudaStep] = field(default_factory=list)
    cuda_plans: list[CudaPlan] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)  # of the plans: those that stay calls
    _numbers: dict[str, int] = field(default_factory=dict)
    _unused: set[str] = field(default_factory=set)  # the CUDA kernels of what torch computes

    def add(self, plan: KernelPlan, prefix: str) -> tuple[int, ...]:
        """Put the kernels of a plan in; the numbers of its steps."""
        view = cuda_plan(self.op, prefix, plan)
        self.functions.update((f.name, f) for f in plan.functions)
        own = iter(kernels(plan, prefix))
        numbers: list[int] = []
        fresh: list[CudaStep] = []
        for code, placed in zip(view.steps, numbered(view, plan), strict=True):
            if placed is None:
                text = _nameless(code.name, code.lines)
                new = text not in self._unused
                self._unused.add(text)
            else:
                count = len(self.kernels)
                numbers.append(self._number(next(own), placed))
                new = len(self.kernels) > count
            fresh += [code] if new else []
        if fresh:
            self.cuda_plans.append(replace(view, steps=tuple(fresh)))
        return tuple(numbers)

    def _number(self, k: Kernel, cuda: CudaStep) -> int:
        text = _nameless(k.name, k.lines) + _nameless(cuda.name, cuda.lines)
        if text not in self._numbers:
            self._numbers[text] = len(self.kernels)
            self.kernels.append(k)
            self.cuda.append(cuda)
        return self._numbers[text]


def _nameless(name: str, lines: Sequence[str]) -> str:
    """The code of a function without its name and its layout, to see whether it is there already."""
    return re.sub(r"\s+", "", re.sub(rf"\b(run_)?{name}(?=\b|_)", "", "\n".join(lines)))


def kernels(plan: KernelPlan, prefix: str) -> tuple[Kernel, ...]:
    """The kernels of a plan, in the order of its steps."""
    steps = tuple(s for s in plan.steps if not isinstance(s, Library))
    return tuple(_kernel(plan, s, f"{prefix}_{s.name}") for s in steps)


def _kernel(plan: KernelPlan, step: KernelStep, name: str) -> Kernel:
    if isinstance(step, Stream):
        body = stream_lines(plan, step)
    else:
        body = kernel_lines(plan, lanes(lower(plan, step), schedule_of(step)))
    head = f"int {name}(const OpgenCall& call, OpgenHost& host) {{"
    order = ", repeats in a fixed order" if isinstance(step, ScatterStep) else ""
    lines = [*_reason(f"{step.reason}{order}"), "template <typename opmath_t>", *block(head, body)]
    return Kernel(name, tuple(laid_out(lines)))


def _reason(text: str) -> list[str]:
    """Why the step is planned as it is, as a comment."""
    return commented(f"// {text[0].upper()}{text[1:]}.") if text else []
