"""What is printed of rows: where a place is compared with one that is told, and what a condition of the row decides."""

from __future__ import annotations

import re
from pathlib import Path

from opgen.code.cuda_code import cuda_kernel
from opgen.kernel.formal import formal
from opgen.pipeline import SpecFile, Stage, run
from opgen.plan.build import build
from tests.cuda.printed import cuda_text
from tests.random_programs.calls import STAGES, check
from tests.random_programs.compiled import Batch
from tests.random_programs.found import cases

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


def test_what_a_guard_keeps_in_range_is_not_read_ahead_of_it() -> None:
    found = check(cases()["a fixed place that only values keep from being read"])
    plans = [plan for _, call, plan in Batch.of([found], STAGES).calls if call.stage == "second"]
    kernels = ["\n".join(cuda_kernel(formal(p, s), s, "made").lines) for p in plans for s in p.steps]
    guarded = [text for text in kernels if "rt::lanes<V>" in text and "< M) {" in text]
    assert guarded
    for text in guarded:
        ahead, _, lanes = text.partition("rt::lanes<V>")
        assert "grad_y.load" not in ahead
        assert "grad_y.load" in lanes


def test_what_rows_read_of_each_other_is_what_was_computed_for_them() -> None:
    names = ("a row that is read while the next one is computed", "a value of a row that only others of it are made of")
    plans = [plan for name in names for _, _, plan in Batch.of([check(cases()[name])], STAGES).calls]
    texts = [cuda_text("rows", [("run", plan)]) for plan in plans]
    assert any("near::exp(row_values[at] - log_softmax_i_max_value" in text for text in texts)
    for text in texts:
        for name in re.findall(r"auto (\w+) = rt::kept<", text):
            assert f" {name}.keep(at);" in text, name
