"""Plans as whole CUDA files, for the emulation and the compiler: every kernel under a name of its own."""

from __future__ import annotations

from collections.abc import Sequence

from opgen.code.cuda_code import CudaFile, cuda_plan, file_text, table_rows
from opgen.code.native_elsewhere import preamble
from opgen.plan.model import KernelPlan


def cuda_text(op: str, plans: Sequence[tuple[str, KernelPlan]]) -> str:
    """A file of some plans with the names that their functions begin with (behind the operator's)."""
    views = tuple(cuda_plan(op, name, p) for name, p in plans)
    steps = [s for view in views for s in view.steps]
    functions = {f.name: f for _, p in plans for f in p.functions}
    lines = [line for s in steps for line in s.lines]
    return file_text(CudaFile(op, views, table_rows(steps), preamble(functions, lines, "cuda", "OPGEN_DEVICE")))
