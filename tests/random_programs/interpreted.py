"""The kernels of a random spec as they are lowered: valid, and equal to the interpreter of Programs.

Programs and kernels are read back from their text.
"""

from __future__ import annotations

from opgen.ir import parse_program
from opgen.ir import text as ir_text
from opgen.ir.errors import UnplannableError
from opgen.kernel import interp, parse, text
from opgen.kernel.lower import lower
from opgen.kernel.verify import verify
from opgen.plan.build import build
from tests.random_programs.calls import Checked, same

TOLERANCE = 1e-7


def check_kernels(done: Checked) -> None:
    """Every stage of every variant that has kernels."""
    for c in done.calls:
        assert parse_program.program(ir_text.program(c.program, exact=True)) == c.program, c.stage
        try:
            plan = build(c.program)
        except UnplannableError:
            continue
        kernels = [lower(plan, step) for step in plan.steps]
        complaints = [f"{c.stage}: {said}" for k in kernels for said in verify(k)]
        assert not complaints, complaints
        assert [parse.kernel(text.kernel(k)) for k in kernels] == kernels, c.stage
        same(f"kernels of {c.stage}", interp.run(plan, c.arrays, c.params), c.expected, TOLERANCE)
