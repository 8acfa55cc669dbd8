"""A sum that picks one of its terms is that term, wherever what is picked lies; the program computes the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from opgen.ir.interp import Array, run
from opgen.ir.names import Names
from opgen.ir.program import Compute, Program
from opgen.ir.scalar import Index, Read, walk
from opgen.plan.build import build
from opgen.plan.model import Nest
from opgen.plan.picked import picked
from tests.lower.specs import elementwise, program

INPUTS = "{x: {shape: [N, C]}, w: {shape: [C]}, m: {shape: [N]}, t: {shape: [N], dtype: int}}"
N, C = 4, 3
ARRAYS = {
    "x": Array((N, C), [0.5, -1.0, 2.0, 3.0, 0.25, -0.5, 1.5, 4.0, -2.0, 1.0, 2.0, 0.125]),
    "w": Array((C,), [1.0, -2.0, 0.5]),
    "m": Array((N,), [2.0, -1.0, 0.5, 3.0]),
    "t": Array((N,), [2, 0, -1, 5]),
}


def taken_apart(formula: str) -> tuple[Program, Program]:
    p = program(elementwise(formula, INPUTS))
    statements, _ = picked(p.statements, frozenset(["t"]), Names(("x", "w", "m", "t", "y")))
    return p, replace(p, statements=statements)


def sums(p: Program) -> list[Compute]:
    return [s for s in p.statements if isinstance(s, Compute) and s.op is not None]


@pytest.mark.parametrize(
    ("formula", "left"),
    [
        ("y[n] = sum[c](where(c == t[n], x[n, c]*m[n], 0))", []),
        ("y[n] = sum[c](where(t[n] == c, x[n, c], 0))", []),
        ("y[n] = sum[c](where(m[n] > 0 and c == t[n] and x[n, c] > 0, w[c], 0) + 0*x[n, 0])", []),
        ("y[n] = sum[c](m[n] - where(c == t[n], w[c], 0))*1 + 0*x[n, 0]", []),
        ("y[n] = sum[c](x[n, c] + where(c == t[n], w[c], 0))", [("n",)]),
        ("y[n] = sum[c](m[n]*w[c] + where(c == t[n], w[c], 0)) + 0*x[n, 0]", [()]),
        ("g[n, c] = m[n]*x[n, c] - where(c == t[n], w[c], 0)\ny[n] = sum[c](g[n, c])", [("n",)]),
        ("y[n] = sum[c](where(c == 1, x[n, c], 0))*m[n]", []),
    ],
)
def test_what_is_left_of_a_sum(formula: str, left: list[tuple[str, ...]]) -> None:
    before, after = taken_apart(formula)
    assert [tuple(a.name for a in s.axes if not isinstance(a, str)) for s in sums(after)] == left
    want, got = (run(p, {t.name: ARRAYS[t.name] for t in p.inputs})["y"].data for p in (before, after))
    assert got == pytest.approx(want, abs=1e-12)


@pytest.mark.parametrize(
    "term",
    [
        "where(c == t[n], x[n, c], 1)",  # something everywhere
        "where(c != t[n], x[n, c], 0)",
        "where(c == m[n], x[n, c], 0)",  # not of integers
        "where(c == t[n]*c, x[n, c], 0)",  # no place of its own
        "where(c == t[n] or m[n] > 0, x[n, c], 0)",
    ],
)
def test_other_sums_stay(term: str) -> None:
    before, after = taken_apart(f"y[n] = sum[c]({term})")
    assert before.statements == after.statements


def test_a_place_that_is_the_index_is_read_there() -> None:
    _, after = taken_apart("y[n, c] = m[n]*w[c] + where(c == t[n], x[n, c]*w[t[n]], 0)")
    (s,) = after.statements
    assert isinstance(s, Compute)
    assert {r.at for r in walk(s.body) if isinstance(r, Read) and r.tensor == "w"} == {(Index("c"),)}
    before, after = taken_apart("y[n, c] = where(c == t[n], x[n, c]*w[t[n]], 0)")
    assert before.statements == after.statements  # which would read all of it


def test_what_is_picked_is_computed_once_for_each_row_that_goes_by_it() -> None:
    g = "g[n, c < C] = m[n] - where(c == t[n], m[n], 0)"
    p = program(elementwise(f"{g}\nq[n] = sum[c](g[n, c])\ny[n, c] = g[n, c] - exp(x[n, c])*q[n]", INPUTS))
    (nest,) = build(p).steps
    assert isinstance(nest, Nest)
    assert [a.name for a in nest.outer if not isinstance(a, str)] == ["n"]
    assert not any(own.folds for own in nest.passes)
