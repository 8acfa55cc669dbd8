"""Derived programs keep the meaning of what they come from, whatever passes run and wherever the gradient is cut."""

from __future__ import annotations

from dataclasses import replace

import pytest

from opgen.diff.adjoint import adjoint
from opgen.ir import text
from opgen.ir.interp import run
from opgen.ir.operator import Flags, Variant
from opgen.ir.program import Compute, Program
from opgen.ir.scalar import call, mul
from opgen.ir.verify import verify
from opgen.opt.affine import kept_sums, with_sums
from opgen.opt.derive import Derived, derive_variant, passes
from opgen.opt.stabilize import stabilize
from tests.diff.programs import at, axes, check_gradient, check_tangent, close, program, sample, tensor
from tests.diff.samples import samples

SAMPLES = samples()


def derived(p: Program, flags: Flags | None = None) -> Derived:
    return derive_variant(Variant((), p), flags or Flags())


@pytest.mark.parametrize("name", SAMPLES)
def test_derived_programs_mean_the_same(name: str) -> None:
    p = SAMPLES[name]
    d = derived(p)
    made = (d.forward, d.backward, d.gradient, d.source, d.tangent, d.second, d.backward_tangent)
    for q in made:
        assert q is not None
        verify(q)
    assert d.gradient
    assert d.second
    assert d.tangent
    assert d.backward_tangent
    arrays = sample(p)
    before, after = run(p, arrays), run(d.forward, arrays)
    for o in p.outputs:
        close(before[o.name].data, after[o.name].data, 1e-12)
    with_seeds = check_gradient(p, d.gradient, arrays)
    whole = with_sums(p, d.forward)
    check_tangent(whole, d.tangent, adjoint(whole), arrays)
    if d.through_sums is not None:
        check_gradient(replace(whole, outputs=kept_sums(d.forward)), d.through_sums, arrays)
    assert d.source
    leaves = {t.name: after[o.name] for t in d.source.inputs for o in d.forward.outputs if o.value == t.of}
    with_seeds |= leaves
    check_gradient(d.source, d.second, with_seeds, tolerance=1e-4)
    check_tangent(d.source, d.backward_tangent, d.second, with_seeds)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_backward_program_gets_by_on_what_was_kept(name: str) -> None:
    p = SAMPLES[name]
    d = derived(p)
    assert d.gradient
    assert d.backward
    arrays = sample(p)
    with_seeds = check_gradient(p, d.gradient, arrays)
    results = run(d.forward, arrays)
    by_value = {o.value: results[o.name] for o in d.forward.outputs}
    kept = {t.name: by_value[t.of] for t in d.backward.inputs if t.role == "saved"}
    assert tuple(kept) == d.residuals
    expected, found = run(d.gradient, with_seeds), run(d.backward, {**with_seeds, **kept})
    for name_, values in expected.items():
        close(values.data, found[name_].data, 1e-12)


@pytest.mark.parametrize("name", ["layer_norm", "prologue", "pick", "spelled_norm"])
def test_every_pass_leaves_a_valid_program(name: str) -> None:
    primal, _ = stabilize(SAMPLES[name])
    p = adjoint(primal)
    for title, step in passes(primal, Flags()):
        p = step(p)
        assert verify(p), title


def kept(name: str) -> tuple[str, ...]:
    return derived(SAMPLES[name]).residuals


def test_what_is_kept_is_what_an_expert_keeps() -> None:
    assert kept("linear") == ()
    assert kept("gelu") == ()
    assert kept("softmax") == ("y",)
    assert kept("spelled_softmax") == ("y",)
    assert kept("layer_norm") == ("mu", "r")
    assert kept("logsumexp") == ("y",)
    assert kept("mse") == ("difference",)
    assert kept("huber") == ("difference",)


def test_a_derivative_in_terms_of_the_result_keeps_the_result() -> None:
    p = program([tensor("x", "...")], [Compute("y", axes("..."), call("tanh", at("x", "...")))])
    d = derived(p)
    assert d.residuals == ("y",)
    assert d.backward
    assert text.statement(d.backward.statements[0]) == "grad_x[...] = grad_y[...]*(1 - square(y[...]))"


def test_a_spec_may_say_what_is_kept() -> None:
    d = derived(SAMPLES["layer_norm"], Flags(save=("mu",)))
    assert d.residuals == ("mu",)
    assert d.backward
    assert any(s.target == "v" for s in d.backward.statements)


def test_a_rounded_output_is_not_compared_with() -> None:
    d = derived(SAMPLES["max"])
    assert "y" not in d.residuals
    assert d.backward
    assert any(s.target == "y" for s in d.backward.statements)


def test_once_differentiable_derives_no_second_order() -> None:
    d = derived(SAMPLES["gelu"], Flags(once_differentiable=True))
    assert d.second is None
    assert d.backward is not None


def test_contractions_are_recognisable() -> None:
    d = derived(SAMPLES["prologue"])
    assert d.backward
    sums = [text.statement(s) for s in d.backward.statements if isinstance(s, Compute) and s.op == "sum"]
    assert any(line.endswith("sum[n < N](g[..., n]*grad_y[..., n]*w[n, k])") or "factor" in line for line in sums)


def test_equal_statements_are_computed_once() -> None:
    x = at("x", "... k")
    p = program(
        [tensor("x", "... K")],
        [
            Compute("a", axes("..."), x, "mean", axes("k")),
            Compute("b", axes("..."), x, "mean", axes("k")),
            Compute("y", axes("..."), mul(at("a", "..."), at("b", "..."))),
        ],
    )
    assert [s.target for s in derived(p).forward.statements] == ["a", "y"]
