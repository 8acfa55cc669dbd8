"""When sums across rows may be joined by the kernel of these rows, and what it joins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from opgen.ir.text import scalar
from opgen.kernel.across import across, joining
from opgen.kernel.formal import Formal, formal
from opgen.kernel.model import For, Join, Role
from opgen.kernel.walk import chain, inside
from opgen.package.step_table import StepTable
from opgen.pipeline import SpecFile, Stage, run
from opgen.plan.build import build
from opgen.plan.model import KernelPlan, Library

ROWS = """op: rows
inputs: {{x: {{shape: [..., D]}}, w: {{shape: [D]}}, c: {{shape: [{c}]}}, e: {{shape: [...]}}}}
forward: |
  s[...] = sum[d](x[..., d] * w[d])
  y[..., d] = {y}
  t[d < D] = {t}
outputs: [y, t]
"""
PLAIN = {"c": "...", "y": "x[..., d] * s[...]", "t": "sum[...](exp(x[..., d]) * c[...])"}


def plan_of(form: str = ROWS, **given: str) -> KernelPlan:
    text = form.format(**PLAIN | given)
    made = run(SpecFile(Path("made.yaml"), text.encode(), "made.yaml"), Stage.DERIVED)
    assert made.derived, made.diagnostics
    return build(made.derived[0].forward)


def kernels(form: str = ROWS, **given: str) -> list[Formal]:
    plan = plan_of(form, **given)
    return [formal(plan, s) for s in plan.steps if not isinstance(s, Library)]


def found(**given: str) -> tuple[Join, ...]:
    rows, columns = kernels(**given)
    return across(rows, columns)


def test_rows_join_what_is_folded_across_them() -> None:
    (join,) = found(y="x[..., d] * s[...] * c[...]")
    assert scalar(join.value) == "exp(x[..., d])*c_value[]"  # a local: what a row has read is not read again


def test_the_joins_stand_in_the_last_pass() -> None:
    rows, columns = kernels(y="x[..., d] * s[...] * c[...]")
    joins = across(rows, columns)
    *_, last = chain(joining(rows.kernel.body, joins, rows.slots), (Role.PARALLEL,))[1]
    assert isinstance(last, For)
    assert last.body[-1:] == joins
    assert not [n for n in inside(rows.kernel.body) if n in joins]


@pytest.mark.parametrize(
    "given",
    [
        {"c": "...", "t": "sum[...](x[..., d] * c[...])"},  # rows do not read `c`
        {"t": "max[...](x[..., d])"},  # no sum
        {"t": "2 * sum[...](x[..., d])"},  # more than a sum
        {"t": "sum[...](x[..., D - 1 - d])"},  # other places
    ],
)
def test_other_kernels_run_apart(given: dict[str, str]) -> None:
    assert found(**given) == ()


STEPS = """op: steps
inputs: {{x: {{shape: [..., D]}}}}
forward: |
  h[..., d] = {y} + x[..., d]
  t[d < D] = sum[...](h[..., d])
outputs: [h, t]
"""


@pytest.mark.parametrize("before", ["h[..., d - 1]/2", "h[..., d - 2]/2", "sin(h[..., d - 3])"])
def test_the_places_of_a_recurrence_come_one_after_the_other(before: str) -> None:
    """They are no row that a team goes along: what it stored would be read before it is there."""
    found = kernels(STEPS, y=before)
    assert len(found) > 1
    assert [across(a, b) for k, a in enumerate(found) for b in found[k + 1 :]] == [()] * (
        len(found) * (len(found) - 1) // 2
    )


def test_a_kernel_is_in_the_table_once_whether_sums_run_beside_it_or_not() -> None:
    table = StepTable("made")
    (alone, _), (paired, columns) = (
        table.add(plan_of(t=t, y="x[..., d] * s[...] * c[...]"), name)
        for t, name in (("max[...](x[..., d])", "first"), (PLAIN["t"], "then"))
    )
    assert (alone.columns, paired.columns) == (None, 1)
    assert alone.kernel == paired.kernel
    assert table.cuda[paired.kernel].columns == table.cuda[columns.kernel].structs[0]
    assert len(table.kernels) == len(table.cuda) == 3


def test_rows_that_join_other_tensors_are_another_kernel() -> None:
    table = StepTable("made")
    y, plain = "x[..., d] * s[...] * c[...] * e[...]", "sum[...](x[..., d] * {}[...])"
    (first, _), (then, _) = (table.add(plan_of(t=plain.format(n), y=y), n) for n in "ce")
    assert first.kernel != then.kernel


def test_kernels_that_are_the_same_on_a_cpu_are_printed_once() -> None:
    table = StepTable("made")
    y, plain = "x[..., d] * s[...] * c[...] * e[...]", "sum[...](x[..., d] * {}[...])"
    (first, _), (then, _) = (table.add(plan_of(t=plain.format(n), y=y), n) for n in "ce")
    assert table.kernels[then.kernel] == replace(table.kernels[first.kernel], lines=())
    assert table.kernels[first.kernel].lines
