"""Convolutions of channels that see no others: by kernels of their own they are what they are as they stand."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from opgen.ir.interp import run
from opgen.kernel import interp
from opgen.plan.build import build
from opgen.plan.model import Convolve
from tests.cuda.harness import near, sample
from tests.spec_files import SPECS
from tests.spec_programs import programs, shape_of

CONV1D = next(p for p in SPECS if p.stem == "conv1d")


@pytest.mark.parametrize(("padding", "dilation", "taps"), [(0, 1, 3), (2, 1, 3), (5, 2, 4), (3, 1, 1)])
@pytest.mark.parametrize("rows", [0, 2])
def test_channels_that_see_no_others(rows: int, padding: int, dilation: int, taps: int) -> None:
    params = {"stride": 1, "padding": padding, "dilation": dilation, "groups": 4}
    places = 9 + 2 * padding - dilation * (taps - 1)
    sizes = {"N": rows, "C": 4, "L": 9, "O": 4, "Cg": 1, "K": taps, "Og": 1, "P": places, "groups": 4}
    kinds = set()
    for name, program, _ in programs(CONV1D, ("forward", "backward")):
        plan = build(program)
        alone = tuple(s.instead.nest if isinstance(s, Convolve) and s.instead is not None else s for s in plan.steps)
        kinds |= {s.form.part for s in plan.steps if isinstance(s, Convolve) and s.instead is not None}
        rng = random.Random(0)
        arrays = {t.name: sample(shape_of(t.shape, sizes, ()), t.kind, rng) for t in program.inputs}
        want = run(program, arrays, params)
        for output, found in interp.run(replace(plan, steps=alone), arrays, params).items():
            assert found.shape == want[output].shape
            assert all(near(float(a), float(b), 1e-9) for a, b in zip(found.data, want[output].data, strict=True)), name
    assert len(kinds) == len(("data", "weight", "output"))
