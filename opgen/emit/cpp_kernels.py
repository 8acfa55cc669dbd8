"""The CPU kernels of a plan: one C++ function per step, for `csrc/<op>_kernels.cpp`.

In goes a `KernelPlan`, out come function definitions, as lines, and the names of the steps in order. A contraction has
no kernel: the host gives it to torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opgen.emit.cpp_layout import laid_out, wrapped_comment
from opgen.emit.cpp_nest import NestCode, block, indented
from opgen.emit.cpp_scatter import scatter_lines
from opgen.plan.model import Contract, KernelPlan, Nest, Schedule, ScatterStep, Step, Store, Pass


@dataclass(frozen=True, slots=True)
class Kernel:
    """One function: `name` as the step table has it, `lines` its definition."""

    name: str
    lines: tuple[str, ...]


def kernels(plan: KernelPlan) -> tuple[Kernel, ...]:
    """The kernels of a plan, in the order of its steps."""
    return tuple(_kernel(plan, s) for s in plan.steps if not isinstance(s, Contract))


def step_name(plan: KernelPlan, step: Step) -> str:
    """The C++ name of a step's kernel."""
    return f"{plan.name}_{step.name}"


def _kernel(plan: KernelPlan, step: Nest | ScatterStep) -> Kernel:
    name = step_name(plan, step)
    if isinstance(step, Nest):
        body = NestCode(plan, step).lines()
    else:
        fill = Nest(step.name, step.axes, (Pass((), stores=(Store(step.out, _here(step), step.base),)),), Schedule.MAP)
        body = scatter_lines(NestCode(plan, fill).lines(), plan, step)
    if any("opmath_t" in line for line in body):
        body = ["using opmath_t = rt::math_t<scalar_t>;", *body]
    head = f"int {name}(const OpgenCall& call, OpgenHost& host) {{"
    lines = [*wrapped_comment(step.reason), "template <typename scalar_t>", *block(head, body)]
    return Kernel(name, tuple(laid_out(lines)))


def _here(step: ScatterStep) -> tuple[object, ...]:
    from opgen.plan.expand import positions

    return positions(step.axes)
