"""Gradients, tangents and second order of programs against finite differences and the dot-product test."""

from __future__ import annotations

from dataclasses import replace

import pytest

from opgen.diff.adjoint import adjoint
from opgen.diff.tangent import NoForwardModeError, tangent
from opgen.ir import text
from opgen.ir.interp import Array, array, run
from opgen.ir.program import Compute, Function, Kind, Override, Program
from opgen.ir.scalar import BATCH, ONE, Apply, Param, call, mul, neg
from opgen.ir.verify import verify
from tests.diff.programs import at, axes, check_gradient, check_tangent, close, program, sample, tensor
from tests.diff.samples import samples
from tests.lower.specs import elementwise
from tests.lower.specs import program as spec_program

SAMPLES = samples()


@pytest.mark.parametrize("name", SAMPLES)
def test_derivative_programs_of_first_and_second_order(name: str) -> None:
    p = SAMPLES[name]
    backward, forward = verify(adjoint(p)), verify(tangent(p))
    arrays = sample(p)
    with_seeds = check_gradient(p, backward, arrays)
    check_tangent(p, forward, backward, arrays)
    second, backward_tangent = verify(adjoint(backward)), verify(tangent(backward))
    check_gradient(backward, second, with_seeds, tolerance=1e-4)
    check_tangent(backward, backward_tangent, second, with_seeds)


def body_lines(p: Program) -> list[str]:
    return [text.statement(s) for s in p.statements]


def test_the_gradient_of_a_matrix_product_is_two_matrix_products() -> None:
    assert body_lines(adjoint(SAMPLES["linear"])) == [
        "grad_x[..., k < K] = sum[n < N](grad_y[..., n]*w[n, k])",
        "grad_w[n < N, k < K] = sum[...](grad_y[..., n]*x[..., k])",
        "grad_b[n < N] = sum[...](grad_y[..., n])",
    ]


def test_a_small_term_stays_behind_the_difference_that_may_cancel() -> None:
    p = spec_program(
        "op: made\n"
        "inputs: {x: {shape: [T]}, a: {shape: [R]}, b: {shape: [R]}}\n"
        "dims: {R: T - 1}\n"
        "forward: y[t] = x[t + 1]/(a[t] - b[t] + 1e-6)\n"
    )
    assert "grad_y[t_1 - 1]/(a[t_1 - 1] - b[t_1 - 1] + 1e-06)" in body_lines(adjoint(p))[0]


def test_a_gradient_takes_no_argument_that_it_does_not_need() -> None:
    backward = adjoint(SAMPLES["linear"], ("w", "b"))
    assert [t.name for t in backward.inputs] == ["grad_y", "x"]
    assert [o.name for o in backward.outputs] == ["grad_w", "grad_b"]


def test_a_gathered_access_scatters_and_a_scatter_gathers() -> None:
    assert "sum= over" in body_lines(adjoint(SAMPLES["gather"]))[0]
    assert any("grad_y[ids[...], d]" in line for line in body_lines(adjoint(SAMPLES["scatter"])))


def test_an_index_out_of_range_is_not_touched_where_the_branch_is_not_taken() -> None:
    p = SAMPLES["pick"]
    p = replace(p, statements=tuple(_compare_with(s, -1) for s in p.statements))
    arrays = {"ids": array([-1, 2]), "x": array([[0.1, 0.2, 0.3], [0.4, 0.1, 0.7]])}
    gradient = run(adjoint(p), {**arrays, "grad_y": array([1.0, 1.0])})["grad_x"]
    assert gradient.data[:3] == [0, 0, 0]
    assert gradient.data[5] < 0


def _compare_with(s: object, value: int) -> Compute:
    from opgen.ir.scalar import Lit, transform

    assert isinstance(s, Compute)

    def step(e: object) -> object:
        return call("eq", e.args[0], Lit(value)) if isinstance(e, Apply) and e.fn == "eq" else e

    return replace(s, body=transform(s.body, step))  # type: ignore[arg-type]


@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
def test_products_are_exact_with_zeros_in_both_orders(zeros: int) -> None:
    p = SAMPLES["prod_of_all"]
    values = [0.0] * zeros + [0.5, 1.5, 0.7, 1.2, 0.9, 1.1][zeros:]
    arrays = {"x": Array((2, 3), values)}
    backward = adjoint(p)
    with_seeds = check_gradient(p, backward, arrays)
    check_gradient(backward, adjoint(backward), with_seeds, tolerance=1e-4)


def test_ties_share_the_gradient() -> None:
    gradient = run(adjoint(SAMPLES["max_of_all"]), {"x": array([[1.0, 2.0], [2.0, 0.0]]), "grad_y": array(3.0)})
    assert gradient["grad_x"].data == [0, 1.5, 1.5, 0]


def test_reductions_at_their_singular_points() -> None:
    zeros, low = array([[0.0, 0.0]]), array([[float("-inf")] * 2])
    seed = {"grad_y": array(1.0)}
    assert run(adjoint(SAMPLES["norm_of_all"]), {"x": zeros, **seed})["grad_x"].data == [0, 0]
    assert run(adjoint(SAMPLES["logsumexp_of_all"]), {"x": low, **seed})["grad_x"].data == [0, 0]


def test_a_gradient_is_summed_to_the_shape_of_a_broadcast_operand() -> None:
    p = SAMPLES["huber"]
    backward = adjoint(p)
    arrays = {"x": array([[0.1, 2.0, 3.0]] * 2), "y": array([[0.0], [1.0]])}
    check_gradient(p, backward, arrays)


# --- stated gradients ---


def reversal() -> Program:
    x = [tensor("x", "...")]
    p = program(x, [Compute("y", axes("..."), at("x", "..."))], params=["scale"])
    stated = Compute("grad_x", axes("..."), neg(mul(Param("scale"), at("grad_y", "..."))))
    return replace(p, override=Override(("x",), (stated,), ((BATCH,),)))


def test_a_stated_gradient_replaces_the_derived_one() -> None:
    arrays = {"x": array([1.0, 2.0]), "grad_y": array([1.0, 3.0])}
    assert run(adjoint(reversal()), arrays, {"scale": 2.0})["grad_x"].data == [-2, -6]


def test_the_tangent_of_a_stated_gradient_is_its_transpose() -> None:
    forward = verify(tangent(reversal()))
    assert [t.name for t in forward.inputs] == ["tangent_x"]
    result = run(forward, {"tangent_x": array([1.0, 3.0])}, {"scale": 2.0})
    assert result["tangent_y"].data == [-2, -6]


def test_a_stated_gradient_that_is_not_linear_has_no_tangent() -> None:
    p = reversal()
    stated = Compute("grad_x", axes("..."), call("square", at("grad_y", "...")))
    with pytest.raises(NoForwardModeError):
        tangent(replace(p, override=Override(("x",), (stated,), ((BATCH,),))))


def test_a_stated_gradient_over_the_batch_is_summed_where_the_input_has_none() -> None:
    inputs = [tensor("x", "..."), tensor("w", "")]
    p = program(inputs, [Compute("y", axes("..."), mul(at("x", "..."), at("w")))])
    stated = Compute("grad_w", axes("..."), mul(at("grad_y", "..."), at("x", "...")))
    backward = adjoint(replace(p, override=Override(("w",), (stated,), ((BATCH,),))))
    arrays = {"x": array([1.0, 2.0]), "w": array(3.0), "grad_y": array([1.0, 1.0])}
    results = run(verify(backward), arrays)
    assert results["grad_w"].data == [3]
    assert results["grad_x"].data == [3, 3]


def test_a_local_function_uses_its_stated_derivative_in_every_order() -> None:
    t = Param("t")
    f = Function("step", ("t",), call("heaviside", t, ONE), (call("exp", neg(call("square", t))),))
    p = program([tensor("x", "...")], [Compute("y", axes("..."), Apply("step", (at("x", "..."),)))], functions=(f,))
    backward = adjoint(p)
    arrays = {"x": array([0.3, 1.0]), "grad_y": array([1.0, 1.0])}
    close(run(backward, arrays)["grad_x"].data, [0.9139311852712282, 0.36787944117144233], 1e-12)
    check_gradient(backward, adjoint(backward), arrays)


def test_integer_inputs_and_conditions_get_no_gradient() -> None:
    x = tensor("x", "... K")
    statements = [
        Compute("best", axes("..."), at("x", "... k"), "argmax", axes("k"), Kind.INT),
        Compute("y", axes("..."), at("x", "... k"), "max", axes("k")),
    ]
    p = program([x], statements, ["y", "best"])
    backward = adjoint(p)
    assert [t.name for t in backward.inputs] == ["grad_y", "x"]


def test_the_adjoint_grows_linearly_with_the_program() -> None:
    def chain(n: int) -> Program:
        made, before = [], at("x", "...")
        for k in range(n):
            made.append(Compute(f"t{k}", axes("..."), mul(before, call("tanh", before))))
            before = at(f"t{k}", "...")
        return program([tensor("x", "...")], made)

    sizes = [len(adjoint(chain(n)).statements) for n in (10, 100, 1000)]
    assert sizes == [19, 199, 1999]


def test_an_argument_that_only_tells_a_size_brings_the_other_sizes_of_its_shape() -> None:
    more = "dims: {P: (N + 1)//2}"
    p = spec_program(elementwise("y[i < P, ..., j < N] = 0.5", "{x: {shape: [N, N]}, u: {dtype: bool}}", more))
    second = verify(adjoint(verify(adjoint(p))))
    assert sorted(d.name for d in second.dims) == ["N", "P"]
