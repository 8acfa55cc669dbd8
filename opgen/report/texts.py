"""Kernels and conditions of variants as text, for `opgen show` and for reports."""

from __future__ import annotations

from collections.abc import Iterator

from opgen.ir.program import Condition, Given
from opgen.kernel.lanes import lanes, schedule_of
from opgen.kernel.lower import lower
from opgen.kernel.teams import teams
from opgen.kernel.text import kernel
from opgen.plan.model import KernelPlan, Library, Step, Stream


def kernels(plan: KernelPlan, step: Step) -> Iterator[str]:
    """The kernel of a step as it is lowered, and as each back end prints it."""
    k = lower(plan, step)
    yield kernel(k)
    if not isinstance(step, Library | Stream):
        yield f"# in lanes, for a CPU\n{kernel(lanes(k, schedule_of(step)))}"
        yield f"# in teams, for a device\n{kernel(teams(k, schedule_of(step)))}"


def condition(c: Condition) -> str:
    """What holds in a variant: `bias given`, `reduction = mean`."""
    if isinstance(c, Given):
        return f"{c.name} {'given' if c.present else 'absent'}"
    return f"{c.name} = {str(c.value).lower() if isinstance(c.value, bool) else c.value}"
