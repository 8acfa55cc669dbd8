"""What is told where no tried values fit an operator: each size, param and input that its positions depend on."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.pipeline import SpecFile, run

BLOCKS = """\
op: block_sparse_mm
inputs:
  blocks: {shape: [N, S, S]}
  rows: {shape: [N], dtype: int}
  cols: {shape: [N], dtype: int}
  mode: {shape: [N], dtype: int}
  x: {shape: [K, F]}
outputs: {y: {shape: [M, F]}}
dims: {M: num_m}
params: {num_m: int}
forward: |
  y[rows[n]*S + i, f] += mode[n]*sum[j](blocks[n, i, j]*x[cols[n]*S + j, f])
"""
SPREAD = """\
op: spread
inputs: {x: {shape: [N]}, to: {shape: [N], dtype: int}}
params: {size: int, step: int}
outputs: {y: {shape: [M]}}
dims: {M: size + 1}
forward: y[to[n] + 40*step*step + 20] += x[n]
"""


@pytest.mark.parametrize(
    ("text", "case", "values", "notes"),
    [
        (
            BLOCKS, "{K: …, S: …, num_m: …, rows: […], cols: […]}",
            "{K: 4, S: 2, num_m: 6, rows: [2, 0], cols: [1, 0]}",
            ("where a position is read, `0 <= cols[n]*S + j < K` must hold",
             "where a position is written, `0 <= rows[n]*S + i < M` must hold"),
        ),
        (
            SPREAD, "{size: …, step: …, to: […]}", "{size: 70, step: 1, to: [3, 5]}",
            ("where a position is written, `0 <= to[n] + 40*step*step + 20 < M` must hold",),
        ),
    ],
)  # fmt: skip
def test_a_case_names_all_that_a_position_depends_on(text: str, case: str, values: str, notes: tuple[str, ...]) -> None:
    (warning,) = run(SpecFile(Path("spec.yaml"), text.encode(), "spec.yaml")).diagnostics
    assert warning.code == "OPG402"
    assert warning.notes == notes
    assert f"`tests: {{cases: [{case}]}}`" in warning.hints[0]
    assert ("around what is read" in warning.hints[0]) == any("read" in note for note in notes)
    stated = f"{text}tests: {{cases: [{values}]}}\n"
    assert not run(SpecFile(Path("spec.yaml"), stated.encode(), "spec.yaml")).diagnostics
