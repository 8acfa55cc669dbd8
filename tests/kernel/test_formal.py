"""Kernels that differ in nothing but names are one, those that differ in anything else are not; their arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.ir.scalar import Dim, Param
from opgen.kernel.formal import Formal, formal
from opgen.package.step_table import StepTable
from opgen.pipeline import SpecFile, Stage, run
from opgen.plan.build import build
from opgen.plan.model import KernelPlan

ROW = """op: row
inputs: {x: {shape: [..., N]}}
params: {a: {type: float}}
forward: y[..., n] = a*x[..., n]/sum[k](x[..., k])
"""
PICK = """op: pick
inputs: {x: {shape: [N]}, at: {shape: [M], dtype: int}}
forward: y[m] = x[at[m]]
"""


def planned(spec: str) -> KernelPlan:
    """The forward plan of a spec."""
    made = run(SpecFile(Path("made.yaml"), spec.encode(), "made.yaml"), Stage.DERIVED)
    assert made.derived, made.diagnostics
    return build(made.derived[0].forward)


def only(spec: str) -> Formal:
    """The one kernel of that plan."""
    plan = planned(spec)
    (step,) = plan.steps
    return formal(plan, step)


def with_other(spec: str, *pairs: tuple[str, str]) -> str:
    for a, b in pairs:
        assert a in spec
        spec = spec.replace(a, b)
    return spec


@pytest.mark.parametrize(
    "spec",
    [
        with_other(ROW, ("x", "weight"), ("y[", "out[")),
        with_other(ROW, ("[..., n]", "[..., j]"), ("sum[k](x[..., k])", "sum[i](x[..., i])")),
        with_other(ROW, ("N", "LONG")),
        with_other(ROW, ("a: {", "slope: {"), ("a*x", "slope*x")),
        with_other(ROW, ("a*x", "(1 + a)*x")),  # which the host computes
        with_other(ROW, ("a*x", "a/sqrt(N)*x")),
    ],
)
def test_names_and_numbers_make_no_kernel(spec: str) -> None:
    assert only(spec).key == only(ROW).key


@pytest.mark.parametrize(
    "spec",
    [
        with_other(ROW, ("sum", "max")),
        with_other(ROW, ("a*x", "(a + x[..., n])*x")),
        with_other(ROW, ("type: float", "type: int")),
        with_other(ROW, ("[..., N]", "[N, ...]"), ("[..., n]", "[n, ...]"), ("[..., k]", "[k, ...]")),
    ],
)
def test_anything_else_makes_another_kernel(spec: str) -> None:
    assert only(spec).key != only(ROW).key


def test_what_must_be_checked_in_one_plan_only_is_not_shared() -> None:
    shifted = "op: shifted\ninputs: {x: {shape: [N]}}\nforward: 'y[n < N - 1] = x[n + 1]'"
    sure, unsure = only(shifted), only(PICK)
    assert not sure.unsure
    assert {(slot, k) for slot, k, _ in unsure.unsure} == {("x", 0)}


def test_arguments_come_in_the_order_in_which_they_appear() -> None:
    found = only(PICK)
    assert list(found.slots) == ["x", "at", "y"]
    assert found.ints == (Dim("M"), Dim("N"))
    assert only(ROW).reals == (Param("a"),)


def test_a_size_is_one_number_whatever_it_is_computed_from() -> None:
    sizes = "inputs: {x: {shape: [N]}}\nparams: {k: {type: int, domain: k >= 1}}"
    windows = f"op: windows\n{sizes}\nforward: 'y[p < N - k + 1] = sum[r < k](x[p + r])'"
    plan = planned(windows)
    found = [formal(plan, s) for s in plan.steps]
    assert {len(f.ints) for f in found} == {2}


def test_a_table_has_equal_kernels_once_and_their_arguments_apart() -> None:
    table = StepTable("op")
    first = table.add(planned(ROW), "first")
    second = table.add(planned(with_other(ROW, ("x", "weight"), ("N", "LONG"))), "second")
    assert len(table.kernels) == len(table.cuda) == 1
    assert (first[0].kernel, first[0].tensors, first[0].ints) == (0, ("x", "sum_k", "y"), (Dim("N"),))
    assert (second[0].kernel, second[0].tensors, second[0].ints) == (0, ("weight", "sum_k", "y"), (Dim("LONG"),))
