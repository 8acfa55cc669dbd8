"""Every kernel of every shipped spec, for every derived program: valid, and equal to the interpreter of Programs.

Programs and kernels are read back from their text.

No compiler takes part: a kernel is judged as it was lowered, before a back end makes something of it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.ir import parse_program
from opgen.ir import text as ir_text
from opgen.ir.interp import run
from opgen.kernel import interp, parse, text
from opgen.kernel.lanes import lanes, schedule_of
from opgen.kernel.lower import lower
from opgen.kernel.teams import teams
from opgen.kernel.verify import verify
from opgen.package.samples import default_value
from opgen.plan.build import build
from opgen.plan.kernels import kernels_of
from tests.cuda.harness import near
from tests.spec_files import QUICK, SPECS
from tests.spec_programs import arguments, programs

STAGES = ("forward", "backward", "gradient", "tangent", "second", "backward_tangent")
EACH = [p if p.stem in QUICK else pytest.param(p, marks=pytest.mark.thorough) for p in SPECS]


@pytest.mark.parametrize("path", EACH, ids=lambda p: p.stem)
def test_kernels(path: Path) -> None:
    for name, program, case in programs(path, STAGES):
        assert parse_program.program(ir_text.program(program, exact=True)) == program, name
        plan = build(program)
        for step in (*plan.steps, *(p.kernel for p in kernels_of(plan) if p.in_place)):
            naive = lower(plan, step)
            for kernel in (naive, lanes(naive, schedule_of(step)), teams(naive, schedule_of(step))):
                assert not verify(kernel), name
                assert parse.kernel(text.kernel(kernel)) == kernel, text.kernel(kernel)
        stated = dict(case.params)
        params = {a.name: stated.get(a.name, default_value(a)) for a in case.variant.program.params}
        known = {n: value for n, value in params.items() if isinstance(value, int)} | dict(case.sizes)
        for batch in ((2,), (0,)):
            arrays = arguments(program, case.variant.program, dict(case.inputs), params, known, batch)
            found = interp.run(plan, arrays, params)
            for output, want in run(program, arrays, params).items():
                assert found[output].shape == want.shape
                pairs = zip(found[output].data, want.data, strict=True)
                wrong = [(x, y) for x, y in pairs if not near(float(x), float(y), 1e-9)]
                assert not wrong, f"{name}: {output}: {wrong[:3]}"
