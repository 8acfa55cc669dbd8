"""What is read once, ahead of the points that a thread takes: under no condition that one of its readers is without."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.ir.program import Program
from opgen.pipeline import SpecFile, Stage, run
from opgen.plan.build import build
from tests.cuda.harness import Emulation, needs_compiler
from tests.cuda.printed import cuda_text

PLACES = """op: places
inputs: {x: {shape: [N, M]}, ids: {shape: [M], dtype: int, domain: 0 <= ids < N}}
params: {step: {type: int, default: 1, domain: step >= 0}}
forward: |
  y[n, m] = x[n, m]*where(n == 0, pad(x[ids[step] + 1, 0], 0), 1)
  z[n, m] = x[n, m] + %s
outputs: [y, z]
"""
OTHERS = {  # a reader of `x[ids[step], 1]`, and what is read ahead, beside the one of `ids[step]` for which `n == 0`
    "under a condition of each point": ("where(m == 2 and n == step, x[ids[step], 1], 0)", ()),
    "under another one": (
        "where(n == step, x[ids[step], 1], 0)",
        (
            "x_picked = n == step_2 ? x.load(rt::checked(ids.load(step_2), N), 1)",
            "ids_picked = n == 0 ? ids.load(step_2)",
        ),
    ),
    "under the same and one of each point": (
        "where(n == 0, where(m == 2, x[ids[step], 1], 0), 0)",
        ("ids_picked = mask ? ids.load(step_2)",),
    ),
}


def program(other: str) -> Program:
    made = run(SpecFile(Path("places.yaml"), (PLACES % other).encode(), "places.yaml"), Stage.DERIVED)
    assert made.derived, made.diagnostics
    return made.derived[0].forward


@pytest.mark.parametrize("shown", OTHERS)
def test_a_place_that_leads_to_something_is_asked_for(shown: str) -> None:
    other, ahead = OTHERS[shown]
    text = cuda_text("places", [("forward", build(program(other)))])
    named = (line.split(" ", 2)[2] for line in map(str.strip, text.splitlines()) if "_picked = " in line)
    assert [line.rpartition(" : ")[0] for line in named] == list(ahead)


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("shown", OTHERS)
def test_what_is_there(shown: str, tmp_path: Path) -> None:
    made = Emulation("places", program(OTHERS[shown][0]), tmp_path, ["float32"])
    for step in range(3):
        for spread, margin in ((1, 0), (2, 1)):
            made.check({"x": (3, 8), "ids": (8,)}, "float32", {"step": step}, spread, margin)
