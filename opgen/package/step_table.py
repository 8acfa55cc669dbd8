"""The table of an operator's steps: what its binding runs by number, on either device.

In go kernel plans, out come the kernels of both back ends, equal ones once, and the numbers of the steps of each plan.
What torch computes has no kernel.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from opgen.code.cpp_kernels import Kernel, kernels
from opgen.code.cuda_code import CudaPlan, CudaStep, cuda_plan
from opgen.ir.program import Function
from opgen.plan.model import KernelPlan


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

    def add(self, plan: KernelPlan, prefix: str) -> tuple[int, ...]:
        """Put the kernels of a plan in; the numbers of its steps."""
        view = cuda_plan(self.op, prefix, plan)
        self.functions.update((f.name, f) for f in plan.functions)
        numbers: list[int] = []
        fresh: list[CudaStep] = []
        for k, code in zip(kernels(plan, prefix), view.steps, strict=True):
            count = len(self.kernels)
            numbers.append(self._number(k, code))
            fresh += [code] if len(self.kernels) > count else []
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
