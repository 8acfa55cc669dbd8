"""Maxima and sums of exponentials along rows that are held, that pass by or are strided, at values of all kinds."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from math import inf, nan
from pathlib import Path

import pytest

from opgen.ir.interp import Array, run
from opgen.pipeline import SpecFile, Stage
from opgen.pipeline import run as staged
from opgen.plan.build import build
from tests.cuda import emulate
from tests.cuda.harness import CSRC, TOLERANCE, near, needs_compiler
from tests.cuda.printed import printed

pytestmark = [pytest.mark.thorough, needs_compiler]

SPEC = """op: relative
inputs: {x: {shape: [..., N], differentiable: false}, w: {shape: [N], differentiable: false}}
forward: |
"""
READ = """  m[...] = max[n](x[..., n])
  s[...] = sum[n](exp(x[..., n] - m[...]))
outputs: [m, s]
"""
COMPUTED = """  m[...] = max[n](x[..., n] + w[n])
  s[...] = log(sum[n](exp(x[..., n] + w[n])))
outputs: [m, s]
"""
LENGTHS = {"float32": (8, 300, 4096, 4104, 9000, 4101), "bfloat16": (8, 8192, 8200, 20000, 8195), "float16": (8200,)}
ROWS: Mapping[str, Callable[[random.Random, int, int], float]] = {
    "plain": lambda rng, n, k: rng.gauss(0, 1),
    "rising": lambda rng, n, k: k * 32 / n,
    "falling": lambda rng, n, k: -k * 32 / n,
    "far": lambda rng, n, k: -3e4 + k % 7,
    "masked": lambda rng, n, k: rng.gauss(0, 1) if k == n - 1 else -inf,
    "nothing": lambda rng, n, k: -inf,
    "infinite": lambda rng, n, k: inf if k == n // 2 else rng.gauss(0, 1),
    "not a number": lambda rng, n, k: nan if k == n - 1 else 1.0,
}


@pytest.mark.parametrize("dtype", LENGTHS)
@pytest.mark.parametrize(
    ("name", "formulas", "finite"), [("read", READ, "false"), ("computed", COMPUTED, "true")], ids=["read", "computed"]
)
def test_rows_of_all_lengths(name: str, formulas: str, finite: str, dtype: str, tmp_path: Path) -> None:
    made = staged(SpecFile(Path("relative.yaml"), (SPEC + formulas).encode(), "relative.yaml"), Stage.DERIVED)
    program = made.derived[0].forward
    plan = build(program)
    text, (launches,) = printed(name, [(name, plan)])
    assert f"rt::powers<Team, near, {finite}>" in text
    (tmp_path / f"{name}.cu").write_text(text)
    library = emulate.compile_emulated(tmp_path / f"{name}.cu", [CSRC], tmp_path / f"{name}.so", [dtype])
    emulated = emulate.Emulated(library, name, plan, launches)
    rng = random.Random(dtype)
    for n in LENGTHS[dtype]:
        rows = [draw(rng, n, k) for draw in ROWS.values() for k in range(n)]
        arrays = {
            "x": emulate.rounded(dtype, Array((len(ROWS), n), rows)),
            "w": emulate.rounded(dtype, Array((n,), [rng.random() for _ in range(n)])),
        }
        arrays = {t.name: arrays[t.name] for t in program.inputs}
        want, found = run(program, arrays), emulated.run(arrays, {}, dtype)
        for result in ("m", "s"):
            for row, a, b in zip(ROWS, found[result].data, want[result].data, strict=True):
                held = emulate.rounded(dtype, Array((), [b])).data[0]
                assert near(float(a), float(held), TOLERANCE[dtype]), (result, n, row, a, b)
