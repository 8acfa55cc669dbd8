"""Which kernels compute with no float."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.ir.scalar import Param
from opgen.kernel.lower import lower
from opgen.kernel.moves import moves_alone
from opgen.pipeline import SpecFile, Stage, run
from opgen.plan.build import build
from opgen.plan.model import Library

HEAD = """op: made
inputs: {x: {shape: [..., N]}, ids: {shape: [M], dtype: int, domain: 0 <= ids < N}}
params: {b: {type: float, default: -1.5}, k: {type: int, default: 2}}
forward: |
"""
CASES = {
    "y[..., m] = x[..., ids[m]]": True,
    "y[..., n < N] = x[..., N - 1 - n]": True,
    "y[..., n < N] = where(n > 0, x[..., n - 1], 0)": True,
    "y[..., n < N] = pad(x[..., n - 2], 0)": True,
    "y[..., n < N] = pad(x[..., n - 2], 1)": False,
    "y[..., n] = where(x[..., n] > 0, x[..., n], 0)": False,
    "y[..., n] = -x[..., n]": False,
    "y[..., m] = 2*x[..., ids[m]]": False,
    "y[...] = sum[n](x[..., n])": False,
    "y[..., n] = x[..., n] > 0": False,
    "y[m] = ids[m] + 1": False,
    "y[..., m] = where(m > 2, x[..., ids[m]], ids[m])": False,
    "y[..., n] = where(n > 2, x[..., n], n)": False,
    "y[..., n] = where(n > k, x[..., n], 0)": True,
    "y[..., n] = where(n > b, x[..., n], 0)": False,
    "y[..., n] = where(n - 5 < -2.5, x[..., n], 0)": False,
    "y[..., n] = where(n/2 > 1, x[..., n], 0)": False,
    "y[..., n] = where(0.5**n > 0.11, x[..., n], 0)": False,
    "y[..., n] = where(sqrt(n) > 2, x[..., n], 0)": False,
}


@pytest.mark.parametrize("formula", CASES)
def test_kernels_that_move(formula: str) -> None:
    made = run(SpecFile(Path("made.yaml"), f"{HEAD}  {formula}\n".encode(), "made.yaml"), Stage.DERIVED)
    assert made.derived, made.diagnostics
    plan = build(made.derived[0].forward)
    kinds = {b.name: b.kind for b in plan.buffers}
    (step,) = (s for s in plan.steps if not isinstance(s, Library))
    assert moves_alone(lower(plan, step).body, kinds, [Param("b")]) is CASES[formula]
