"""What is printed of rows: where a place is compared with one that is told, and what a condition of the row decides."""

from __future__ import annotations

from pathlib import Path

from opgen.pipeline import SpecFile, Stage, run
from opgen.plan.build import build
from tests.cuda.printed import cuda_text

ROWS = """op: rows
inputs: {x: {shape: [N, C], differentiable: false}, t: {shape: [N], dtype: int}, s: {shape: [N, C], dtype: int}}
forward: |
  p[n, c] = softmax[c](x[n, c])
"""


def text(line: str) -> str:
    made = run(SpecFile(Path("rows.yaml"), f"{ROWS}  {line}\noutputs: [y]\n".encode(), "rows.yaml"), Stage.DERIVED)
    assert made.derived, made.diagnostics
    return cuda_text("rows", [("forward", build(made.derived[0].forward))])


def test_a_place_that_stays_is_compared_with_all_lanes_of_a_vector_at_once() -> None:
    assert "rt::is_at(at, t_value)" in text("y[n, c] = p[n, c] - where(c == t[n], 1, 0)")
    assert "!rt::is_at(at, t_value)" in text("y[n, c] = where(t[n] != c, p[n, c], x[n, c])")


def test_a_place_that_moves_is_compared_for_itself() -> None:
    found = text("y[n, c] = where(c == s[n, c], p[n, c], 0)")
    assert "is_at" not in found
    assert "c == s_row[at]" in found


def test_a_row_whose_condition_does_not_hold_computes_nothing() -> None:
    found = text("y[n, c] = where(t[n] > 0, p[n, c], 0)")
    assert "if (t_value > 0) {" in found or "if (mask) {" in found
    assert "rt::each<Team>(c_size.size, [&](auto at) { y_row.set(at, 0); });" in found
