"""From programs to kernel plans: what shares a kernel, what is stored, what torch multiplies."""

from __future__ import annotations

import time

import pytest

from opgen.diagnostics.model import Bag, Source
from opgen.ir.operator import Flags, Variant
from opgen.lower.operator import lower
from opgen.opt.convolution import Part
from opgen.opt.derive import derive, derive_variant
from opgen.plan.build import build
from opgen.plan.model import Contract, Convolve, Nest, ScatterStep, Schedule, Storage
from opgen.plan.text import plan as text
from opgen.schema.load import load
from tests.lower.specs import elementwise
from tests.lower.specs import program as spec_program
from tests.plan import plan_programs as make


def nests(p: object) -> list[Nest]:
    return [s for s in build(p).steps if isinstance(s, Nest)]  # type: ignore[arg-type]


def test_softmax_is_one_row_kernel_with_one_reciprocal_per_row() -> None:
    shown = text(build(make.softmax()))
    assert shown.count("row over") == 1
    assert "let y_scale = 1/y_sum" in shown
    assert "y[..., d] = exp(x[..., d] - y_max)*y_scale" in shown


def test_layer_norm_shares_its_mean_and_stores_nothing_but_the_result() -> None:
    p = build(make.layer_norm())
    assert [b.name for b in p.buffers if b.role is None] == ["y"]
    (nest,) = p.steps
    assert isinstance(nest, Nest)
    assert nest.schedule is Schedule.ROW
    folds = [f for q in nest.passes for f in q.folds]
    assert len(folds) == 2  # the sum of mean and var is the same one


def test_gradients_that_read_the_same_come_out_of_one_column_kernel() -> None:
    (nest,) = nests(make.column_gradients())
    assert nest.schedule is Schedule.COLUMN
    assert len(nest.passes[0].folds) == 2


def test_a_bias_is_added_by_the_matrix_product() -> None:
    (step,) = build(make.linear()).steps
    assert isinstance(step, Contract)
    assert step.bias is not None
    assert step.out.buffer == "y"
    assert (step.m, step.n, step.k) == (("...",), ("n",), ("k",))


def test_a_convolution_is_one_step_and_adds_its_bias() -> None:
    formula = "y[..., o, p] = sum[c, k](pad(x[..., c, 2*p + k - 1], 0)*w[o, c, k]) + b[o]"
    inputs = "{x: {shape: [..., C, L]}, w: {shape: [O, C, K]}, b: {shape: [O]}}"
    more = "dims: {P: L//2}\noutputs: {y: {shape: [..., O, P]}}"
    p = build(spec_program(elementwise(formula, inputs, more)))
    (step,) = p.steps
    assert isinstance(step, Convolve)
    assert (step.form.part, step.bias, step.name) == (Part.OUTPUT, "b", "y")
    assert "+ b[o]" in text(p)


def test_three_factors_become_a_matrix_product() -> None:
    steps = build(make.bilinear_weight_gradient()).steps
    assert isinstance(steps[-1], Contract)
    assert steps[-1].k == ("...",)


def test_the_gradient_of_a_gather_is_a_scatter_that_is_parallel_along_rows() -> None:
    p = build(make.embedding_gradient())
    (step,) = p.steps
    assert isinstance(step, ScatterStep)
    assert [a.name for a in step.free] == ["d"]  # type: ignore[union-attr]
    assert p.buffer("gw").storage is Storage.COMPUTE
    assert p.results[0].storage is Storage.SCALAR


def test_what_is_added_to_the_same_places_by_a_batch_is_summed_first() -> None:
    p = build(make.table_gradient())
    *before, step = p.steps
    assert isinstance(step, ScatterStep)
    assert step.loops == (make.axis("m"),)
    assert len(before) == 1


@pytest.mark.parametrize("length", [30, 1000])
def test_a_long_composition_is_planned_in_linear_time_and_stays_flat(length: int) -> None:
    started = time.perf_counter()
    (nest,) = nests(make.chain(length))
    assert time.perf_counter() - started < 0.02 * length + 1
    assert len(nest.passes[0].lets) == length
    assert max(len(repr(x.value)) for x in nest.passes[0].lets) < 1000


def test_a_sum_over_the_batch_joins_no_kernel_over_the_batch() -> None:
    """Its result has other axes than the point values that it reads."""
    bag = Bag()
    spec = load(
        Source(
            "f.yaml",
            """
op: f
inputs: {x: {shape: [...]}, u: {shape: [...]}, c: {shape: [P]}}
forward: |
  m[...] = hypot(x[...], u[...])
  power[..., p < P] = m[...]**p
  y[...] = sum[p](c[p]*power[..., p]*cos(p*u[...]))
  w[...] = sum[p](c[p]*power[..., p]*sin(p*u[...]))
outputs: [y, w]
""",
        ),
        bag,
    )
    assert spec is not None
    operator = lower(spec, bag)
    assert operator is not None
    (derived,) = derive(operator)
    assert derived.backward is not None
    assert "grad_c" in text(build(derived.backward))


def test_what_is_kept_of_what_a_sum_reads_is_stored_in_passing() -> None:
    squared = spec_program(elementwise("y = mean[...]((a - b)**2)", "[a, b]", "outputs: [y]"))
    d = derive_variant(Variant((), squared), Flags())
    (nest,) = nests(d.forward)
    assert nest.schedule is Schedule.WHOLE
    (looped,) = [p for p in nest.passes if p.loops]
    assert [s.buffer for s in looped.stores] == ["difference"]
    assert len(looped.folds) == 1


GATHERED = "{x: {shape: [N, C]}, m: {shape: [N]}, t: {shape: [N], dtype: int}}"


@pytest.mark.parametrize(
    ("formula", "stored"),
    [
        ("a[n, c] = x[n, c] - m[n]\ny[n] = a[n, t[n]]", False),
        ("b[n, c] = x[n, c] - m[n]\na[n, c] = b[n, c]\ny[n] = a[n, t[n]] + a[n, 0]", False),
        ("a[n, c] = where(m[n] > 0, x[n, c], 0)\ny[n] = a[n, t[n]]", True),  # nothing need be read at c
        ("a[n, c < C] = m[n] + c\ny[n] = a[n, t[n]] + x[n, 0]", True),  # nothing is read at c
        ("a[n, c] = exp(x[n, c])\ny[n] = a[n, t[n]]", True),
    ],
)
def test_a_gathered_value_is_stored_unless_its_operands_tell_as_well_what_is_out_of_range(
    formula: str, stored: bool
) -> None:
    p = spec_program(elementwise(formula, GATHERED))
    assert ("a" in [b.name for b in build(p).buffers]) == stored
