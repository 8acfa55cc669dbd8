"""The CPU kernels of a plan: one C++ function per step, for `csrc/<op>_kernels.cpp`.

In goes a `KernelPlan`, out come function definitions, as lines, and the numbers of the steps in the operator's table.
Contractions and convolutions have no kernel: the host gives them to torch.
"""

from __future__ import annotations

from dataclasses import dataclass

from opgen.code.cpp_kernel import kernel_lines
from opgen.code.cpp_layout import block, commented, laid_out
from opgen.code.cpp_stream import stream_lines
from opgen.kernel.lanes import lanes, schedule_of
from opgen.kernel.lower import lower
from opgen.plan.model import Kernel as KernelStep
from opgen.plan.model import KernelPlan, Library, ScatterStep, Stream


@dataclass(frozen=True, slots=True)
class Kernel:
    """One function: `name` as the step table has it, `lines` its definition."""

    name: str
    lines: tuple[str, ...]


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
