"""Sums over rows that pointers delimit, as messages say them: what they compute, with the sizes that are declared."""

from __future__ import annotations

import pytest

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, said, whole

FIELDS = """inputs:
  ptr: {shape: [S], dtype: int}
  col: {shape: [E], dtype: int}
  val: {shape: [E]}
  x: {shape: [C, D]}
dims: {R: S - 1}
outputs: {y: {shape: [R, D]}}"""
POINTERS = {"ptr": [0, 2, 3], "col": [0, 1, 1], "val": [2.0, 3.0, 5.0], "x": [[1.0], [10.0]]}


@pytest.mark.parametrize(
    ("name", "binder", "nothing", "meant"),
    [
        ("sum", "e = ptr[i]:ptr[i + 1]", "0", [32.0, 50.0]),
        ("sum", "e in ptr[i]:ptr[i + 1]", "0", [32.0, 50.0]),
        ("sum", "e in range(ptr[i], ptr[i + 1])", "0", [32.0, 50.0]),
        ("sum", "e < ptr[i + 1]", "0", [32.0, 50.0]),
        ("prod", "e = ptr[i]:ptr[i + 1]", "1", [60.0, 50.0]),
        ("max", "e=ptr[i]:ptr[i+1]", "-inf", [30.0, 50.0]),
        ("min", "e < ptr[i + 1]", "inf", [2.0, 50.0]),
    ],
)
def test_a_row_of_a_sparse_matrix_is_a_condition(name: str, binder: str, nothing: str, meant: list[float]) -> None:
    line = f"y[i, d] = {name}[{binder}](val[e]*x[col[e], d])"
    (write,) = (s for s in said(whole(FIELDS, line)) if "where(" in s)
    condition, form = "ptr[i] <= e < ptr[i + 1]", "y[i,d]={}[e](where({},val[e]*x[col[e],d],{}))"
    assert write.replace(" ", "") == form.format(name, condition.replace(" ", ""), nothing)
    program = built(whole(FIELDS, write)).variants[0].program
    found = run(program, {k: array(v) for k, v in POINTERS.items()}, {})["y"]
    assert list(found.data) == meant


def test_an_index_whose_size_is_declared_gets_no_other() -> None:
    fields = "inputs: {v: {shape: [E]}, x: {shape: [R]}}\noutputs: {y: {shape: [R]}}"
    (write,) = (s for s in said(whole(fields, "y[i] = sum[e < 2*i](v[e])")) if "where(" in s)
    assert write == "y[i] = sum[e](where(e < 2 * i, v[e], 0))"
    built(whole(fields, write), warned=True)
