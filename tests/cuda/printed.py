"""Plans as whole CUDA files, for the emulation and the compiler."""

from __future__ import annotations

from collections.abc import Sequence

from opgen.code.cuda_code import CudaFile, file_text
from opgen.code.native_elsewhere import preamble
from opgen.package.step_table import Launch, StepTable
from opgen.plan.build import reads_of
from opgen.plan.model import KernelPlan


def printed(op: str, plans: Sequence[tuple[str, KernelPlan]]) -> tuple[str, tuple[tuple[Launch, ...], ...]]:
    """A file of some plans, with the names that their kernels begin with, and what the steps of each plan launch."""
    table, launches = tabled(op, plans)
    return table_text(table), launches


def tabled(op: str, plans: Sequence[tuple[str, KernelPlan]]) -> tuple[StepTable, tuple[tuple[Launch, ...], ...]]:
    """The kernels of some plans, and what the steps of each launch."""
    table = StepTable(op)
    return table, tuple(table.add(plan, name, _apart(plan)) for name, plan in plans)


def table_text(table: StepTable) -> str:
    """The CUDA file of a table."""
    lines = [line for k in table.cuda for line in k.lines]
    return file_text(CudaFile(table.op, tuple(table.cuda), preamble(table.functions, lines, "cuda", "OPGEN_DEVICE")))


def cuda_text(op: str, plans: Sequence[tuple[str, KernelPlan]]) -> str:
    """The text of such a file."""
    return printed(op, plans)[0]


def _apart(plan: KernelPlan) -> frozenset[str]:
    """Where there are several results, each is asked for on its own."""
    results = {r.buffer for r in plan.results if len(plan.results) > 1}
    return frozenset(results.difference(*(reads_of(s) for s in plan.steps)))
