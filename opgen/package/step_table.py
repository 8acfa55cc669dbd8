"""The table of an operator's kernels: what its binding runs by number, on either device.

In go kernel plans, out come the kernels of both back ends, those that differ in nothing but names once, and for the
steps of each plan which kernel runs with which arguments. What torch computes has no kernel.
"""

from __future__ import annotations

from collections.abc import Hashable, Set
from dataclasses import dataclass, field

from opgen.code.cpp_kernels import Kernel, cpu_kernel
from opgen.code.cuda_code import CudaKernel, cuda_kernel
from opgen.ir.program import Function
from opgen.ir.scalar import Param, Scalar
from opgen.kernel.formal import formal
from opgen.kernel.reach import Reach
from opgen.kernel.walk import stored_only
from opgen.plan.model import KernelPlan, Library


@dataclass(frozen=True, slots=True)
class Launch:
    """A step: the number of its kernel, and the arguments as the plan calls them.

    `reaches`: what is to be compared before it runs; `stored`: the tensors that it stores to and does nothing else
    with, so that it can do without their memory on a CPU; `spare`: those of them that it can do without on any device.
    """

    kernel: int
    tensors: tuple[str, ...]
    ints: tuple[Scalar, ...]
    reals: tuple[Param, ...]
    reaches: tuple[Reach, ...]
    stored: frozenset[str]
    spare: frozenset[str]


@dataclass(slots=True)
class StepTable:
    """All kernels of an operator in the order of its tables: those for the CPU, and beside them those for CUDA."""

    op: str
    kernels: list[Kernel] = field(default_factory=list)
    cuda: list[CudaKernel] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)  # of the plans: those that stay calls
    _numbers: dict[Hashable, int] = field(default_factory=dict)

    def add(self, plan: KernelPlan, prefix: str, apart: Set[str] = frozenset()) -> tuple[Launch, ...]:
        """Put the kernels of a plan in; what its steps launch. `apart`: buffers that nobody may want though others
        that their step fills are wanted."""
        self.functions.update((f.name, f) for f in plan.functions)
        launches: list[Launch] = []
        for step in plan.steps:
            if isinstance(step, Library):
                continue
            found = formal(plan, step, apart)
            number = self._numbers.setdefault(found.key, len(self.kernels))
            if number == len(self.kernels):
                name = f"{prefix}_{step.name}"
                self.kernels.append(cpu_kernel(found, step, name))
                self.cuda.append(cuda_kernel(found, step, f"{self.op}_{name}"))
            arguments = tuple(found.slots), found.ints, found.reals, found.reaches
            launches.append(Launch(number, *arguments, stored_only(found.kernel), found.spare))
        return tuple(launches)
