"""The kernels of a random spec as they are lowered: valid, and equal to the interpreter of Programs."""

from __future__ import annotations

from opgen.ir.errors import UnplannableError
from opgen.kernel import interp
from opgen.kernel.lower import lower
from opgen.kernel.verify import verify
from opgen.plan.build import build
from tests.random_programs.calls import Checked, same

TOLERANCE = 1e-7


def check_kernels(done: Checked) -> None:
    """Every stage of every variant that has kernels."""
    for c in done.calls:
        try:
            plan = build(c.program)
        except UnplannableError:
            continue
        complaints = [f"{c.stage}: {said}" for step in plan.steps for said in verify(lower(plan, step))]
        assert not complaints, complaints
        same(f"kernels of {c.stage}", interp.run(plan, c.arrays, c.params), c.expected, TOLERANCE)
