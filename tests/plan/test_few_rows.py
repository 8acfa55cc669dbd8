"""Which scatters a host may run for the rows alone that an argument names."""

from __future__ import annotations

import pytest

from opgen.ir.scalar import Dim
from opgen.plan.build import build
from opgen.plan.few_rows import FewRows, few_rows
from tests.lower.specs import elementwise, program

INPUTS = "{x: {shape: [N, D]}, ids: {shape: [N], dtype: int}, w: {shape: [V]}, at: {shape: [N], dtype: int}}"


def found(formula: str) -> list[FewRows | None]:
    plan = build(program(elementwise(formula, INPUTS)))
    return [few_rows(plan, s) for s in plan.steps]


def test_rows_that_an_argument_names() -> None:
    assert found("y[v < V, d < D] = 0\ny[ids[n], d] += 2*x[n, d]") == [FewRows("ids", Dim("V"))]
    assert found("y[v < V] = 0\ny[ids[n]] += x[n, 0]") == [FewRows("ids", Dim("V"))]


@pytest.mark.parametrize(
    "formula",
    [
        "y[v < V, d < D] = w[v]\ny[ids[n], d] += x[n, d]",  # what it starts from
        "y[v < V, d < D] = 0\ny[ids[n], d] += x[n, d]*w[ids[n]]",  # numbers that are read for something else
        "y[v < V, d < D] = 0\ny[ids[n], d] += x[n, d]*w[at[n]]",  # another tensor of as many rows
        "y[v < V, d < D] = 0\ny[ids[n], d] += x[n, d]*V",  # the size of the table as a number
        "y[v < V, d < D] = 0\ny[ids[n] % V, d] += x[n, d]",  # a position that is computed
        "y[v < V, d < D] = 0\ny[ids[n], at[n]] += x[n, 0]",  # two positions
        "y[v < V, d < D] = 1\ny[ids[n], d] *= x[n, d]",
        "t[v < V, d < D] = 0\nt[ids[n], d] += x[n, d]\ny[v, d] = t[v, d]**2",  # no result as it is
    ],
)
def test_others_go_through_all_rows(formula: str) -> None:
    steps = found(formula)
    assert steps
    assert not any(steps)
