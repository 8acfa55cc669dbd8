"""Rows of several loops, which a team reads and stores in vectors along the last one: the same, whatever lies how."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.ir.interp import Array
from opgen.ir.program import Program
from opgen.pipeline import SpecFile, Stage, run
from opgen.plan.build import build
from tests.cuda import budgets
from tests.cuda.harness import Emulation, needs_compiler
from tests.cuda.printed import cuda_text

IMAGES = """op: images
inputs: {x: {shape: [N, C, ...]}, b: {shape: [C], optional: true}}
dims: {S: C//G, G: 2}
forward: |
  m[c] = mean[n, ...](x[n, c, ...])
  y[n, c, ...] = (x[n, c, ...] - m[c])*exp(b[c])
  total[n, g < G] = sum[s < S, ...](x[n, g*S + s, ...]**2)
  z[n, c, ...] = x[n, c, ...]*total[n, c//S] + where(c//S < 1, total[n, c//S]/S, 0)
outputs: [y, total, z]
"""
NAMED = """op: named
inputs: {x: {shape: [C, N, W]}, w: {shape: [W]}}
forward: |
  t[c] = sum[n, i](x[c, n, i]*w[i] + i)
  y[c, n, i] = x[c, n, i] - t[c]
outputs: [y]
"""


BESIDE = """op: beside
inputs: {x: {shape: [N, C, ...]}, t: {shape: [N, ...], dtype: int, domain: 0 <= t < C}}
forward: |
  p[n, c, ...] = log_softmax[c](x[n, c, ...])
  y[n, ...] = -p[n, t[n, ...], ...]
outputs: [p, y]
"""


def program_of(spec: str) -> Program:
    made = run(SpecFile(Path("spec.yaml"), spec.encode(), "spec.yaml"), Stage.DERIVED)
    assert made.derived, made.diagnostics
    return made.derived[0].forward


def test_what_goes_along_the_last_loop_is_read_in_vectors() -> None:
    text = cuda_text("images", [("forward", build(program_of(IMAGES)))])
    assert "rt::read_at<Team, 2>(at, x, n, c, place)" in text
    assert "rt::read_at<Team, 2>(at, x, n, g * S + s, place)" in text
    assert "auto y_lanes = rt::written<Team, 2>(y);" in text
    assert "const int64_t quotient = rt::floordiv(c, by_s);" in text
    text = cuda_text("named", [("forward", build(program_of(NAMED)))])
    assert "rt::read_at<Team, 2>(at, x, c, n, i_2) * rt::read_at<Team, 0>(at, w, i_2)" in text
    assert "(i_2 + rt::lane(at))" in text


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_images(dtype: str, tmp_path: Path) -> None:
    made = Emulation(f"images_{dtype}", program_of(IMAGES), tmp_path, [dtype])
    for batch in ((32,), (7,), (4, 16), (3, 5), (1,), (0,), (), (256,)):
        for spread, margin in ((1, 0), (1, 1), (2, 0)):
            made.check({"x": (3, 4, *batch), "b": (4,)}, dtype, {}, spread, margin)


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_named_loops(dtype: str, tmp_path: Path) -> None:
    made = Emulation(f"named_{dtype}", program_of(NAMED), tmp_path, [dtype])
    for n, w in ((3, 16), (3, 7), (1, 8), (40, 64), (0, 8), (2, 0)):
        for spread, margin in ((1, 0), (1, 1), (2, 0)):
            made.check({"x": (2, n, w), "w": (w,)}, dtype, {}, spread, margin)


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_rows_side_by_side(dtype: str, tmp_path: Path) -> None:
    made = Emulation(f"beside_{dtype}", program_of(BESIDE), tmp_path, [dtype])
    for n, batch, spread in ((2, (1 << 14,), 1), (2, (5,), 1), (2, (5, 3), 2), (1, (0,), 1)):
        made.check({"x": (n, 3, *batch), "t": (n, *batch)}, dtype, {}, spread)


@pytest.mark.thorough
@needs_compiler
def test_a_thread_has_each_of_many_rows_that_lie_side_by_side(tmp_path: Path) -> None:
    program = program_of(BESIDE)
    for batch, threads in ((1 << 14, 1), (1 << 10, 32)):
        arrays = {name: Array((8, 96, batch) if name == "x" else (8, batch), []) for name in ("x", "t")}
        call = budgets.Call("beside", "bfloat16", "forward", build(program), arrays, {})
        (folder := tmp_path / str(batch)).mkdir()
        ((_, _, (x, y), _), _), *_ = budgets.launched(call, folder)
        assert (x, y) == (threads, 256 if threads == 1 else 1)
