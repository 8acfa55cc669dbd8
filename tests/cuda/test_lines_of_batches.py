"""Vectors of neighbours in the batch, where it stands behind other dims: the same results, whatever lies how."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from opgen.ir.interp import Array, run
from opgen.pipeline import SpecFile, Stage
from opgen.pipeline import run as staged
from opgen.plan.build import build
from tests.cuda import emulate
from tests.cuda.harness import CSRC, TOLERANCE, near, needs_compiler, sample
from tests.cuda.printed import printed
from tests.spec_programs import shape_of

pytestmark = [pytest.mark.thorough, needs_compiler]

SPEC = """op: behind
inputs:
  x: {shape: [N, C, ...], differentiable: false}
  b: {shape: [...], differentiable: false}
  w: {shape: [C], differentiable: false}
  ids: {shape: [N, ...], dtype: int, domain: 0 <= ids < C}
  seed: {dtype: seed}
forward: |
  y[n, c, ...] = x[n, c, ...]*w[c] + b[...] + where(uniform(seed) < 0.5, 0, 1)
  s[n, ...] = sum[c](exp(x[n, c, ...]))
  z[n, ...] = x[n, ids[n, ...], ...] - pad(x[n + 1, 0, ...], 0.5)
  t[c < C, ...] = 0
  t[ids[n, ...], ...] += x[n, 0, ...]
outputs: [y, s, z, t]
"""
SHAPES = {  # of the batch of all, and of what `b` has of it
    "vectors": ((32,), (32,)),
    "a part of a vector": ((7,), (7,)),
    "two dims that are one": ((4, 16), (4, 16)),
    "the same for all": ((16,), (1,)),
    "the last dim alone": ((3, 16), (16,)),
    "one": ((1,), (1,)),
    "none": ((0,), (0,)),
    "empty": ((), ()),
}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_batches_behind_other_dims(dtype: str, tmp_path: Path) -> None:
    made = staged(SpecFile(Path("behind.yaml"), SPEC.encode(), "behind.yaml"), Stage.DERIVED)
    assert made.derived, made.diagnostics
    program = made.derived[0].forward
    plan = build(program)
    name = f"behind_{dtype}"
    text, (launches,) = printed(name, [("forward", plan)])
    assert "rt::read_line<V, 2>(x, n, c, place)" in text
    assert "rt::read_line<V, 1>(ids, n, place)" in text
    assert "rt::beside(place, at)" in text
    (tmp_path / f"{name}.cu").write_text(text)
    library = emulate.compile_emulated(tmp_path / f"{name}.cu", [CSRC], tmp_path / f"{name}.so", [dtype])
    emulated = emulate.Emulated(library, name, plan, launches)
    rng = random.Random(dtype)
    for shown, (batch, part) in SHAPES.items():
        arrays = {
            t.name: sample(
                shape_of(t.shape, {"N": 3, "C": 16}, part if t.name == "b" else batch), t.kind, rng, below=16
            )
            for t in program.inputs
        }
        held = {n: emulate.rounded(dtype, a) if n in ("x", "b", "w") else a for n, a in arrays.items()}
        want = run(program, held)
        for spread, margin in ((1, 0), (1, 1), (2, 0)):
            found = emulated.run(held, {}, dtype, spread, margin)
            for result, expected in want.items():
                rounded = emulate.rounded(dtype, Array(expected.shape, list(expected.data)))
                for a, e in zip(found[result].data, rounded.data, strict=True):
                    assert near(float(a), float(e), TOLERANCE[dtype]), (result, shown, spread, margin, a, e)
