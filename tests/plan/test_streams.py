"""What outgrows inputs and outputs is in no buffer; what does not is planned as ever."""

from __future__ import annotations

import pytest

from opgen.diff.adjoint import adjoint
from opgen.ir.growth import Growth
from opgen.ir.operator import Flags, Variant
from opgen.ir.program import Program, Role
from opgen.opt.derive import derive_variant
from opgen.opt.streams import never_stored
from opgen.plan.build import build
from opgen.plan.model import Contract, Stream
from opgen.plan.text import plan as text
from tests.lower.specs import elementwise, program
from tests.plan.language import CASES, PAIRS_AS_EVER, QKV, STREAMS


def outgrown(p: Program) -> list[str]:
    growth = Growth.of(p)
    return [b.name for b in build(p).buffers if b.role is not Role.INPUT and growth.outgrows(b.shape)]


@pytest.mark.parametrize("name", STREAMS)
def test_no_buffer_outgrows_what_is_given(name: str) -> None:
    derived = derive_variant(Variant((), STREAMS[name].program()), Flags())
    assert derived.backward is not None
    for p in (derived.forward, derived.backward):
        assert not outgrown(p)
        assert any(isinstance(s, Stream) for s in build(p).steps)


@pytest.mark.parametrize("name", [*STREAMS, *PAIRS_AS_EVER])
def test_passes_know_what_kernels_will_not_store(name: str) -> None:
    derived = derive_variant(Variant((), CASES[name].program()), Flags())
    assert derived.backward is not None
    for p in (derived.forward, derived.backward):
        streams = [s for s in build(p).steps if isinstance(s, Stream)]
        assert bool(never_stored(p)) == any(w.dots for s in streams for w in s.sweeps)


def test_one_sweep_finds_the_maximum_and_all_that_is_scaled_by_it() -> None:
    (step,) = (s for s in build(STREAMS["attention"].program()).steps if isinstance(s, Stream))
    (sweep,) = step.sweeps
    assert sweep.online
    assert [f.op for f in sweep.folds] == ["max", "sum"]
    assert [w.buffer for w in sweep.sums] == ["o"]


def test_what_is_kept_on_request_is_not_streamed() -> None:
    flags = Flags(save=("softmax_j",))
    derived = derive_variant(Variant((), STREAMS["attention"].program()), flags)
    assert not any(isinstance(s, Stream) for s in build(derived.forward).steps)


@pytest.mark.parametrize(
    ("formula", "inputs"),
    [
        ("h[n, k] = tanh(sum[d](x[n, d]*w[k, d]))\ny[n, o] = sum[k](h[n, k]*v[o, k])",
         "{x: {shape: [N, D]}, w: {shape: [H, D]}, v: {shape: [O, H]}}"),
        ("y[..., i, e] = sum[j](softmax[j](sum[d](q[..., i, d]*k[..., j, d]) + m[..., i, j])*v[..., j, e])",
         QKV.replace("}}", "}, m: {shape: [..., M, N]}}")),
    ],
)  # fmt: skip
def test_what_is_no_larger_than_what_is_given_is_left_to_matrix_products(formula: str, inputs: str) -> None:
    steps = build(program(elementwise(formula, inputs, "outputs: [y]"))).steps
    assert sum(isinstance(s, Contract) for s in steps) == 2
    assert not any(isinstance(s, Stream) for s in steps)


def test_a_use_without_a_form_leaves_the_plan_as_it_was() -> None:
    formula = "s[i, j] = sum[d](x[i, d]*x[j, d])\ny[i] = logsumexp[j](s[i, j]) - s[i, i]"
    p = program(elementwise(formula, "{x: {shape: [N, D]}}", "outputs: [y]"))
    assert outgrown(p) == ["s"]
    assert not any(isinstance(s, Stream) for s in build(p).steps)


def test_the_text_of_a_plan_tells_what_a_sweep_does() -> None:
    shown = text(build(STREAMS["soft_minimum"].program()))
    assert "  stream over [i < M] -> " in shown
    assert "    along [j < N]" in shown.replace("      along", "    along")
    assert "all else scaled by the one so far" in shown


def test_the_gradient_of_a_gradient_is_streamed_or_planned_as_ever() -> None:
    p = adjoint(adjoint(STREAMS["kernel_sum"].program()))
    assert build(p).results
