"""Scatters and components: what they become, what they compute, their gradients in both orders, and mistakes."""

from __future__ import annotations

import math

import pytest

from opgen.diff.adjoint import adjoint
from opgen.diff.tangent import tangent
from opgen.ir.interp import Array, array, run
from opgen.ir.program import Program
from opgen.ir.verify import verify
from tests.diff.programs import check_gradient, check_tangent

from .specs import attempt, built, elementwise, lines, mistakes, program

INPUTS = "{ids: {shape: [B], dtype: int}, x: {shape: [B, D]}, s: {shape: [V, D]}}"
SIZED = "dims: {N: B + 2}\noutputs: {y: {shape: [V, D]}}"
IDS = array([1, 0, 1, 2])
X = Array((4, 2), [0.5, -0.25, 1.5, 0.75, -0.5, 1.25, 0.9, 0.3])
S = Array((3, 2), [0.1, 0.2, -0.6, 0.4, 2.0, -1.0])


def lowered(formula: str, more: str = SIZED, inputs: str = INPUTS) -> Program:
    return verify(program(elementwise(formula, inputs, more)))


def judge(p: Program, arrays: dict[str, Array], params: dict[str, object] | None = None) -> None:
    """Gradients, tangents and second order against finite differences and the dot-product test."""
    backward, forward = verify(adjoint(p)), verify(tangent(p))
    with_seeds = check_gradient(p, backward, arrays, params)
    check_tangent(p, forward, backward, arrays, params)
    second, backward_tangent = verify(adjoint(backward)), verify(tangent(backward))
    check_gradient(backward, second, with_seeds, params, tolerance=1e-4)
    check_tangent(backward, backward_tangent, second, with_seeds, params)


def given(p: Program) -> dict[str, Array]:
    every = {"ids": IDS, "x": X, "s": S}
    return {t.name: every[t.name] for t in p.inputs}


def test_a_scatter_fills_its_declared_shape() -> None:
    p = lowered("y[ids[b], d] += x[b, d]*s[0, d]")
    assert lines(p) == ["y[v < V, d < D] = 0; y[ids[b], d] sum= over [b < B, d < D] of x[b, d]*s[0, d]"]
    found = run(p, given(p))["y"]
    assert found.data == pytest.approx([0.15, 0.15, 0.0, 0.2, 0.09, 0.06])


def test_a_scatter_combines_with_its_start() -> None:
    p = lowered("y[v, d] = s[v, d]\ny[ids[b], d] += x[b, d]\ny[ids[b], 0] *= 2", "")
    assert [s.target for s in p.statements] == ["y_start", "y_part", "y"]
    assert run(p, given(p))["y"].data == pytest.approx([3.2, 0.95, -2.4, 1.4, 5.8, -0.7])
    assert [o.name for o in p.outputs] == ["y"]


@pytest.mark.parametrize("start", ["", "y[v, d] = s[v, d]\n", "y[v, d] = 1.5*s[v, d] + 1\n"])
@pytest.mark.parametrize("op", ["+=", "*=", "max=", "min="])
def test_gradients_of_every_operator(op: str, start: str) -> None:
    p = lowered(f"{start}y[ids[b], d] {op} exp(x[b, d])*s[0, d]")
    judge(p, given(p))


@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
def test_products_are_exact_with_zeros(zeros: int) -> None:
    p = lowered("y[v, d] = s[v, d]\ny[ids[b], d] *= x[b, d]", "")
    data = list(X.data)
    for k in range(zeros):
        data[2 * k] = 0.0
    arrays = {**given(p), "x": Array(X.shape, data)}
    judge(p, arrays)
    judge(p, {**arrays, "s": Array(S.shape, [0.0, *S.data[1:]])})


def test_ties_share_the_gradient() -> None:
    p = lowered("y[v, d] = s[v, d]\ny[ids[b], d] max= x[b, d]", "")
    arrays = {"ids": IDS, "x": Array((4, 2), [1.0] * 8), "s": Array((3, 2), [1.0] * 6)}
    found = run(adjoint(p), {**arrays, "grad_y": Array((3, 2), [6.0] * 6)})
    assert found["grad_x"].data == [2.0, 2.0, 3.0, 3.0, 2.0, 2.0, 3.0, 3.0]
    assert found["grad_s"].data == [3.0, 3.0, 2.0, 2.0, 3.0, 3.0]


def test_computed_positions_and_pads() -> None:
    more = "dims: {N: B + 1}\noutputs: {y: {shape: [N]}}"
    p = lowered("pad(y[2*b - 1]) += x[b, 0]", more)
    assert run(p, given(p))["y"].data == [0, 1.5, 0, -0.5, 0]
    judge(p, given(p))
    for op in ("*=", "max="):
        judge(
            lowered(f"y[n] = 0.1*s[0, 0]\npad(y[2*b - ids[b]]) {op} x[b, 0]*x[b, 1]", more),
            {"ids": IDS, "x": X, "s": S},
        )


def test_the_batch_is_looped_where_it_stands_in_the_target() -> None:
    inputs = "{g: {dtype: int}, u: {}, x: {shape: [..., D]}, s: {shape: [V, D]}}"
    more = "outputs: {y: {shape: [V, D]}}"
    p = lowered("y[g[...], d] += x[..., d]*u + 0*s[0, d]", more, inputs)
    assert "over [..., d < D] of" in lines(p)[0]
    arrays = {"g": array([1, 0, 1]), "u": array([1.0, 2.0, 3.0]), "x": Array((3, 2), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])}
    assert run(p, {**arrays, "s": S})["y"].data == [6.0, 8.0, 16.0, 20.0, 0, 0]
    q = lowered("y[g, d] += x[..., d]*u + 0*s[0, d]", more, inputs)
    assert lines(q)[-1] == lines(p)[-1]


def test_a_scatter_may_hold_in_some_variants() -> None:
    more = SIZED + "\nparams: {twice: {type: bool}, once: {type: bool}}"
    variants = built(
        elementwise("y[ids[b], d] += x[b, d]*s[0, d] if once\ny[ids[b], d] += x[b, d] if twice", INPUTS, more)
    ).variants
    assert [[s.target for s in v.program.statements] for v in variants] == [["y_part", "y"], ["y"], ["y"], ["y"]]
    assert lines(variants[3].program) == ["y[v < V, d < D] = 0"]


@pytest.mark.parametrize(("op", "found"), [("max", [-(2**63), 2, 1]), ("min", [2**63 - 1, 2, 0])])
def test_an_extreme_of_integers_starts_from_that_of_none(op: str, found: list[int]) -> None:
    inputs = "{ids: {shape: [B], dtype: int}}"
    p = lowered(f"y[(ids[b] + b)%2 + 1] {op}= b", "outputs: {y: {shape: [3], dtype: int}}", inputs)
    assert run(p, {"ids": array([1, 0, 0])})["y"].data == found
    more = "params: {there: {type: bool}}\noutputs: {y: {shape: [3], dtype: int}}"
    text = elementwise(f"y[ids[b]] {op}= b if there", inputs, more)
    assert lines(built(text).variants[-1].program) == [f"y[i < 3] = {found[0]}"]


def test_reductions_inside_a_scatter() -> None:
    p = lowered("y[ids[b], d] += softmax[d](x[b, d])*max[e < D](x[b, e])*s[0, d]")
    judge(p, given(p))


@pytest.mark.parametrize(
    ("formula", "code", "marked"),
    [
        ("z[ids[b]] += 1", "OPG248", "z[ids[b]]"),
        ("y[ids[b]] += 1", "OPG212", "y[ids[b]]"),
        ("y[..., d] += 1", "OPG216", "..."),
        ("y[ids[b], d] += x[b, q]", "OPG204", "q"),
        ("y[ids[b], j + 1] += x[b, 0]", "OPG214", "j"),
        ("y[ids[b], d + 1] += x[b, d]", "OPG232", "d + 1"),
        ("y[x[b, 0], d] += 1", "OPG223", "x[b, 0]"),
        ("y[ids[b], d] += y[0, d]", "OPG219", "y[0, d]"),
        ("y[ids[b], d] += x[b, d]\ny[v, d] = s[v, d]", "OPG219", "y[ids[b], d]"),
        ("y += 1", "OPG242", "y"),
        ("pad(y[v, d]) = s[v, d]", "OPG241", "pad(y[v, d])"),
        ("y[ids[b], x] += 1", "OPG207", "x"),
        ("s[ids[b], d] += 1", "OPG236", "s"),
        ("y[u, d] += 1", "OPG207", "u"),
    ],
)
def test_mistakes_in_scatters(formula: str, code: str, marked: str) -> None:
    inputs = "{ids: {shape: [B], dtype: int}, x: {shape: [B, D]}, s: {shape: [V, D]}, u: {}}"
    more = "outputs: {y: {shape: [V, D]}}" if "y" in formula else ""
    assert mistakes(elementwise(formula, inputs, more))[0] == (code, marked)


# --- components ------------------------------------------------------------------------------------------------------

XY = "{a: {}, b: {}, x: {shape: [..., 3]}}"


def test_components_are_joined() -> None:
    p = lowered("y[..., 0] = a*b\ny[..., 1] = sum[k](x[..., k])\ny[..., 2] = a", "", XY)
    assert lines(p) == [
        "y_0[...] = a[...]*b[...]",
        "y_1[...] = sum[k < 3](x[..., k])",
        "y_2[...] = a[...]",
        "y[..., c < 3] = where(c == 0, y_0[...], where(c == 1, y_1[...], y_2[...]))",
    ]
    assert lines(adjoint(p)) == [
        "grad_y_2[...] = grad_y[..., 2]",
        "grad_y_1[...] = grad_y[..., 1]",
        "grad_y_0[...] = grad_y[..., 0]",
        "grad_a[...] = grad_y_2[...] + grad_y_0[...]*b[...]",
        "grad_b[...] = grad_y_0[...]*a[...]",
        "grad_x[..., k < 3] = grad_y_1[...]",
    ]
    arrays = {"a": array([1.0, 2.0]), "b": array([0.5, 3.0]), "x": Array((2, 3), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])}
    assert run(p, arrays)["y"].data == [0.5, 6.0, 1.0, 6.0, 15.0, 2.0]
    judge(p, arrays)


def test_components_first_and_with_guards_and_kinds() -> None:
    more = "params: {flip: {type: bool}}\noutputs: {y: {shape: [2, N]}}"
    variants = built(
        elementwise("y[1, i] = x[i]\ny[0, n] = 2 if flip\ny[0, m] = x[m] if not flip", "{x: {shape: [N]}}", more)
    ).variants
    assert lines(variants[0].program)[-1] == "y[c < 2, n < N] = where(c == 0, y_0[n], y_1[n])"
    assert run(variants[0].program, {"x": array([1.0, 3.0])}, {"flip": True})["y"].data == [2, 2, 1.0, 3.0]


def test_components_then_a_scatter() -> None:
    p = lowered("y[0] = a\ny[1] = 2*a\ny[i[n]] += 1", "", "{a: {shape: []}, i: {shape: [N], dtype: int}}")
    assert run(p, {"a": array(0.5), "i": array([1, 1])})["y"].data == [0.5, 3.0]


@pytest.mark.parametrize(
    ("formula", "more", "code", "marked"),
    [
        ("y[..., 0] = a\ny[..., 2] = b", "", "OPG249", "y[..., 2]"),
        ("y[..., 0] = a\ny[..., 1] = b", "outputs: {y: {shape: [..., 3]}}", "OPG249", "y[..., 1]"),
        ("y[..., 0] = a\ny[..., 1] = b", "outputs: {y: {shape: [..., 1]}}", "OPG249", "y[..., 1]"),
        ("y[..., 0] = a\ny[..., 0] = b", "", "OPG217", "y[..., 0]"),
        ("y[..., 0] = a\ny[1, ...] = b", "", "OPG244", "y[1, ...]"),
        ("y[..., 0, k] = x[..., k]\ny[..., 1, k < 2] = a", "", "OPG244", "y[..., 1, k < 2]"),
        ("y[..., 0] = a\ny[..., k] = x[..., k]", "", "OPG217", "y[..., k]"),
        ("y[..., 0, 1] = a", "", "OPG241", "0"),
    ],
)
def test_mistakes_in_components(formula: str, more: str, code: str, marked: str) -> None:
    assert mistakes(elementwise(formula, XY, more)) == [(code, marked)]


def test_max_from_its_identity() -> None:
    p = lowered("y[ids[b], d] max= x[b, d] + 0*s[0, d]")
    assert run(p, {**given(p), "ids": array([1, 0, 1, 1])})["y"].data[4] == -math.inf
    assert attempt(elementwise("y[ids[b], d] max= x[b, d]", INPUTS, "outputs: {y: {shape: [V, D]}}"))[0] is not None
