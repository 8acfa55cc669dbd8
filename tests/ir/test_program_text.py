"""The exact text of programs: all there is to a program is in it, and it is read back as that program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from opgen.diagnostics.model import Bag, Source
from opgen.ir import text
from opgen.ir.parse_program import program
from opgen.ir.program import Chosen, Compute, Given, Kind, Program, Recurrence, Role, Scatter
from opgen.ir.scalar import Apply, Lit
from opgen.lower.operator import lower
from opgen.schema.load import load
from tests.spec_files import SPECS

EVERYTHING = """\
program made
  input x[..., N]: float, doc "with \\"quotes\\", a \\\\ and\\na second line"
  input at[N]: int, constant
  cotangent grad_y[..., N]: float of y, as float32
  saved r[steps[0]]: float of r, constant
  param scale: float = 0.5
  param steps: int[2] = [1, -2], positive
  param size: int = (N//2), null
  param mode: str = "mean", one of "mean", "sum", doc "how"
  param flag: bool = true
  param told: bool, tells x absent
  param other: bool, tells mode is "sum"
  param free: float
  dim N of x at 1
  dim B of at at 0 = steps[1] + -N
  function step(a, b); value where(a > b, 1, 0); partials a*scale, -b
  function j0(a); torch "torch.special.bessel_j0"; cpp "::j0"
  output[..., n < N] = step(x[..., n], 1) - j0(x[..., n])
  sum[...] = sum[n < N](output[..., n] + -scale)
  soft[..., n < N] = softmax[n](sum[...]*x[..., n])
  some[n < N]: bool = at[n] >= 0 and not x[..., n] == inf
  bag[b < B]: int = 0; pad(bag[at[n], ...]) max= over [..., n < N] of at[n]%2
  along n < N down: one[n < N] = where(n + 1 < N, two[n + 1], 0); two[n < N] = one[n]/fraction(1, 3)
  override of x[..., N]
  override grad_x[..., n < N] = grad_y[..., n]*cast(r[0], x)
  output y[..., N] = output: float, summed to the shape of x, kept, as float64
  output place[B] = bag: int of x, constant, doc "where"
"""


def test_everything_is_read_and_printed() -> None:
    made = program(EVERYTHING)
    assert text.program(made, exact=True) == EVERYTHING
    assert program(text.program(made, exact=True)) == made


def test_what_is_read_is_what_is_written() -> None:
    made = program(EVERYTHING)
    x, at, cotangent, saved = made.inputs
    assert x.doc == 'with "quotes", a \\ and\na second line'
    assert (at.kind, at.differentiable) == (Kind.INT, False)
    assert (cotangent.role, cotangent.of, cotangent.dtype) == (Role.COTANGENT, "y", "float32")
    assert saved.role is Role.SAVED
    by_name = {a.name: a for a in made.params}
    assert by_name["steps"].default == (1, -2)
    assert isinstance(by_name["size"].default, Apply)
    assert by_name["mode"].choices == ("mean", "sum")
    assert (by_name["flag"].default, by_name["free"].default) == (True, None)
    assert by_name["told"].tells == Given("x", present=False)
    assert by_name["other"].tells == Chosen("mode", "sum")
    assert [type(s) for s in made.statements] == [Compute, Compute, Compute, Compute, Scatter, Recurrence]
    *_, scatter, recurrence = made.statements
    assert isinstance(scatter, Scatter)
    assert (scatter.padded, scatter.op, scatter.kind, scatter.base) == (True, "max", Kind.INT, Lit(0))
    assert isinstance(recurrence, Recurrence)
    assert (recurrence.reverse, recurrence.targets) == (True, ("one", "two"))
    assert made.override.inputs == ("x",)
    assert made.outputs[0].kept
    assert made.outputs[1].doc == "where"


FIELDS = ["name", "inputs", "params", "dims", "statements", "outputs", "functions", "override"]


def test_programs_that_differ_have_different_texts() -> None:
    """Nothing is left out: without any part of it, the text is another."""
    made = program(EVERYTHING)
    for field in FIELDS:
        less = replace(made, **{field: type(getattr(made, field))()})
        assert text.program(less, exact=True) != EVERYTHING, field


@pytest.mark.parametrize("line", ["input x", "param p", "dim", "y[n] = 1", "y[...] = 1 1", "along ...: y[...] = 1"])
def test_a_line_that_is_none_is_an_error(line: str) -> None:
    with pytest.raises(ValueError, match=r"in '  |recurs"):
        program(f"program made\n  {line}\n")


@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_programs_of_specs(path: Path) -> None:
    bag = Bag()
    spec = load(Source(path.name, path.read_text(encoding="utf-8")), bag)
    operator = None if spec is None else lower(spec, bag)
    assert operator is not None, bag.items
    for p in (v.program for v in operator.variants):
        assert same(p)


def same(p: Program) -> bool:
    return program(text.program(p, exact=True)) == p
