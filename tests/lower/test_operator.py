"""What specs become: names and shapes, statements, variants, functions, overrides (language page, 3 to 7)."""

from __future__ import annotations

import pytest

from opgen.ir.formula import scalar
from opgen.ir.interp import array, run
from opgen.ir.program import Chosen, Given, Kind
from opgen.ir.scalar import BATCH, Apply, Const, Dim, Lit, Param
from opgen.ir.text import scalar as show
from opgen.ir.verify import verify

from .specs import built, elementwise, lines, program

MATMUL = "{x: {shape: [..., K]}, w: {shape: [N, K]}, b: {shape: [N]}}"


def test_table_formulas() -> None:
    assert scalar("1 - x**2", ("x",)) == Apply("sub", (Lit(1), Apply("pow", (Param("x"), Lit(2)))))
    assert show(scalar("where(x > 0 and not y < 1, pi, -x/2)", ("x", "y"))) == "where(x > 0 and not y < 1, pi, -x/2)"
    with pytest.raises(KeyError):
        scalar("z", ("x",))


# --- names and shapes ------------------------------------------------------------------------------------------------


def test_elementwise_operands_broadcast() -> None:
    p = program(elementwise("y = x*z + 1"))
    assert lines(p) == ["y[...] = x[...]*z[...] + 1"]
    assert p.inputs[0].shape == (BATCH,)
    got = run(p, {"x": array([[1.0], [2.0]]), "z": array([10.0, 20.0])})["y"]
    assert (got.shape, got.data) == ((2, 2), [11.0, 21.0, 21.0, 41.0])


def test_contraction_is_a_statement_of_its_own() -> None:
    p = program(elementwise("y[..., n] = sum[k](x[..., k]*w[n, k]) + b[n]", MATMUL))
    assert lines(p) == [
        "sum_k[..., n < N] = sum[k < K](x[..., k]*w[n, k])",
        "y[..., n < N] = sum_k[..., n] + b[n]",
    ]
    assert [(d.name, d.tensor, d.position) for d in p.dims] == [("K", "x", 1), ("N", "w", 0)]


def test_whole_reduction_is_not_copied() -> None:
    p = program(elementwise("y[..., n] = (sum[k](x[..., k]*w[n, k]))", MATMUL))
    assert lines(p) == ["y[..., n < N] = sum[k < K](x[..., k]*w[n, k])"]


def test_batch_anywhere_and_literal_dims() -> None:
    p = program(elementwise("y[c, ...] = sum[i](x[c, ..., i])", "{x: {shape: [C, ..., 3]}}"))
    assert lines(p) == ["y[c < C, ...] = sum[i < 3](x[c, ..., i])"]


def test_dims_are_numbers_and_repeat() -> None:
    p = program(elementwise("y[i] = sum[j](x[i, j])/N", "{x: {shape: [N, N]}}"))
    assert lines(p) == ["sum_j[i < N] = sum[j < N](x[i, j])", "y[i < N] = sum_j[i]/N"]


def test_bare_target_takes_the_batch_that_is_left() -> None:
    p = program(elementwise("each = x*z\nloss = mean[...](each)\nshare = each/loss"))
    assert [s.shape for s in p.statements] == [(BATCH,), (), (BATCH,)]
    assert [o.name for o in p.outputs] == ["share"]


def test_an_index_may_be_called_as_an_element_is_elsewhere() -> None:
    p = program(elementwise("each[x_2] = x[x_2]*z\ny = sum[each_1](each[each_1])", "{x: {shape: [N]}, z: {shape: []}}"))
    assert lines(p) == ["each[x_2 < N] = x[x_2]*z[]", "y[] = sum[each_1 < N](each[each_1])"]


def test_zero_dim_tensors_are_read_bare() -> None:
    p = program(elementwise("y = x*s", "{x: {}, s: {shape: []}}"))
    assert lines(p) == ["y[...] = x[...]*s[]"]


def test_reductions_bind_anew() -> None:
    p = program(elementwise("y[..., d] = x[..., d] - mean[d](x[..., d])", "{x: {shape: [..., D]}}"))
    assert lines(p) == ["mean_d[...] = mean[d < D](x[..., d])", "y[..., d < D] = x[..., d] - mean_d[...]"]
    two = program(elementwise("y = sum[k](a[k]) + sum[k](b[k])", "{a: {shape: [A]}, b: {shape: [B]}}"))
    assert lines(two)[:2] == ["sum_k[] = sum[k < A](a[k])", "sum_k_2[] = sum[k < B](b[k])"]


def test_inner_index_keeps_a_name_where_both_meet() -> None:
    text = elementwise("y[..., d] = where(x[..., d] > 0, sum[d](log(x[..., d])), 0)", "{x: {shape: [..., D]}}")
    assert lines(program(text))[0] == "sum_d[..., d < D] = sum[d2 < D](where(x[..., d] > 0, log(x[..., d2]), 0))"


def test_an_index_that_two_reductions_use_has_one_name() -> None:
    p = program(elementwise("y[i < M, n] = sum[i < M](sum[k < N](pad(x[2*i + 1, n], 0)))", "{x: {shape: [M, N]}}"))
    assert lines(verify(p))[0].endswith("= sum[k < N](pad(x[2*i2 + 1, n], 0))")
    assert "i2 < M" in lines(p)[0]


def test_a_branch_that_a_variant_never_takes_still_says_how_far_an_index_runs() -> None:
    formula = "y[i] = where(on, 0.5*x[i], 2)\nz = 1 if on\nz = 0 if not on"
    _, off = built(elementwise(formula, "{x: {shape: [N]}}", "params: {on: {type: bool}}")).variants
    assert lines(off.program)[0] == "y[i < N] = 2.0"
    assert off.program.kind_of("y") is Kind.FLOAT


def test_batch_binds_anew() -> None:
    p = program(elementwise("y[...] = x[...] - mean[...](x[...])", "[x]"))
    assert lines(p) == ["mean_all[] = mean[...](x[...])", "y[...] = x[...] - mean_all[]"]
    q = program(elementwise("y[...] = mean[...](x[...])", "[x]"))
    assert lines(q) == ["mean_all[] = mean[...](x[...])", "y[...] = mean_all[]"]


def test_extents() -> None:
    p = program(
        elementwise(
            "y[..., a < 1] = sum[k](x[..., k])\nz[..., j < 2*K] = where(j < K, j, 0)*y2[...]\nc = sum[...](1)",
            "{x: {shape: [..., K]}, y2: {}}",
        )
    )
    assert lines(p) == [
        "y[..., a < 1] = sum[k < K](x[..., k])",
        "z[..., j < 2*K] = where(j < K, j, 0)*y2[...]",
        "c[] = sum[...](1)",
    ]
    q = program(elementwise("y[i, j] = i", "{x: {shape: [N]}}", "outputs: {y: {shape: [N, P]}}\ndims: {P: 2*N}"))
    assert lines(q) == ["y[i < N, j < P] = i"]
    assert q.dims[1].value == Apply("mul", (Lit(2), Dim("N")))
    assert q.outputs[0].kind is Kind.INT


def test_names_are_reserved_only_before_brackets() -> None:
    text = """
        op: f
        inputs: {x: {shape: [..., D]}}
        params: {min: {type: float}, pi: {type: float, default: 3.0}}
        forward: |
          mean[...] = mean[d](min(x[..., d], min)) + pi
        """
    p = program(text)
    assert lines(p) == ["mean_d[...] = mean[d < D](min(x[..., d], min))", "mean[...] = mean_d[...] + pi"]
    assert [o.name for o in p.outputs] == ["mean"]


def test_gather() -> None:
    text = "{ids: {shape: [B], dtype: int}, perm: {shape: [B], dtype: int}, w: {shape: [V, D]}}"
    p = program(elementwise("y[b, d] = w[ids[perm[b]], d]", text))
    assert lines(p) == ["y[b < B, d < D] = w[ids[perm[b]], d]"]
    got = run(p, {"ids": array([2, 0]), "perm": array([1, 0]), "w": array([[1.0], [2.0], [3.0]])})["y"]
    assert got.data == [1.0, 3.0]
    q = program(elementwise("y[...] = x[..., argmax[k](x[..., k])]", "{x: {shape: [..., K]}}"))
    assert lines(q) == ["argmax_k[...] = argmax[k < K](x[..., k])", "y[...] = x[..., argmax_k[...]]"]


# --- kinds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "kind"),
    [
        ("x > 0", Kind.BOOL),
        ("not x > 0 and i != 1", Kind.BOOL),
        ("i + 1", Kind.INT),
        ("i/2", Kind.FLOAT),
        ("i//2 + i % 3", Kind.INT),
        ("i**2", Kind.INT),
        ("i**-1", Kind.FLOAT),
        ("i*0.5", Kind.FLOAT),
        ("(i > 0) + (i > 1)", Kind.INT),
        ("where(x > 0, 1, 0)", Kind.INT),
        ("where(x > 0, x > 1, true)", Kind.BOOL),
        ("where(x > 0, x > 1, 2)", Kind.INT),
        ("exp(i)", Kind.FLOAT),
        ("int(x)", Kind.INT),
        ("floor(x)", Kind.FLOAT),
        ("bitand(i, 7)", Kind.INT),
        ("isnan(x)", Kind.BOOL),
        ("max(i, 3)", Kind.INT),
        ("m*x", Kind.FLOAT),
    ],
)
def test_kinds(formula: str, kind: Kind) -> None:
    p = program(elementwise(f"y = {formula}", "{x: {}, i: {dtype: int}, m: {dtype: bool}}"))
    assert p.outputs[0].kind is kind
    assert p.outputs[0].differentiable == (kind is Kind.FLOAT)


def test_conditions_in_arithmetic_are_numbers() -> None:
    p = program(elementwise("y = sum[...](m)*x", "{x: {}, m: {dtype: bool}}"))
    assert lines(p)[0] == "sum_all[] = sum[...](where(m[...], 1, 0))"
    assert p.statements[0].kind is Kind.INT


def test_reduction_kinds() -> None:
    names = {"mean": Kind.FLOAT, "max": Kind.INT, "argmax": Kind.INT, "any": Kind.BOOL, "count": Kind.INT}
    for name, kind in names.items():
        body = "i[k] > 0" if name in ("any", "count") else "i[k]"
        p = program(elementwise(f"y = {name}[k]({body})", "{i: {shape: [K], dtype: int}}"))
        assert p.outputs[0].kind is kind, name


def test_declared_dtype() -> None:
    p = program(elementwise("y = where(x > 0, 1, 0)", "[x]", "outputs: {y: {dtype: float}}"))
    assert p.outputs[0].kind is Kind.FLOAT


# --- variants --------------------------------------------------------------------------------------------------------

GUARDED = """
    op: f
    inputs: {x: {shape: [..., K]}, bias: {shape: [K], optional: true}, scale: {shape: [K], optional: true, absent: 1}}
    params: {reduction: {choices: [sum, none], default: sum}, flip: {type: bool, default: false}}
    forward: |
      each[..., k] = x[..., k]*scale[k] + bias[k]
      loss = reduction[k, ...](each[..., k]) if not flip
      loss = -reduction[k, ...](each[..., k]) if flip
"""


def test_variants_in_order() -> None:
    operator = built(GUARDED)
    assert len(operator.variants) == 2 * 2 * 2 * 2
    assert operator.optional == ("bias", "scale")
    assert operator.variants[0].conditions == (
        Given("bias", True),
        Given("scale", True),
        Chosen("reduction", "sum"),
        Chosen("flip", True),
    )
    assert operator.variants[1].conditions[-1] == Chosen("flip", False)
    last = operator.variants[-1].program
    assert [t.name for t in last.inputs] == ["x"]
    assert lines(last) == ["each[..., k < K] = x[..., k]", "loss[k < K, ...] = each[..., k]"]
    assert lines(operator.variants[1].program)[-1] == "loss[] = sum[k < K, ...](each[..., k])"


def test_none_appends_to_a_target() -> None:
    text = """
        op: f
        inputs: {x: {shape: [B, N]}}
        params: {how: {choices: [none, max]}}
        forward: |
          y[b] = how[n](2*x[b, n])
        """
    first, second = built(text).variants
    assert lines(first.program) == ["y[b < B, n < N] = 2*x[b, n]"]
    assert lines(second.program) == ["y[b < B] = max[n < N](2*x[b, n])"]


def test_bool_params_in_where_make_no_variants() -> None:
    p = program(elementwise("y = where(flip, -x, x)", "[x]", "params: {flip: {type: bool, default: false}}"))
    assert lines(p) == ["y[...] = where(flip, -x[...], x[...])"]


def test_missing_params() -> None:
    more = "params: {scale: {type: float, default: null}}"
    a, b = built(elementwise("y = x*where(given(scale), scale, 2)", "[x]", more)).variants
    assert lines(a.program) == ["y[...] = x[...]*scale"]
    assert lines(b.program) == ["y[...] = 2*x[...]"]
    assert a.conditions == (Given("scale", True),)
    assert built(elementwise("y = where(given(scale) and x > scale, 1, 0)", "[x]", more))
    c, d = built(elementwise("y = x if given(scale)\ny = -x if not given(scale)", "[x]", more)).variants
    assert lines(c.program) != lines(d.program)


def test_defaults_are_expressions() -> None:
    more = """params:
  a: {type: float, default: 1e-5}
  b: {type: float, default: -inf}
  c: {type: int, default: -100}
  d: {type: [int, int], default: 1}
  e: {type: bool, default: true}
  g: {type: float, default: 1/sqrt(K)}"""
    formula = "y[..., k] = x[..., k]*a*b*c*d[0]*d[1]*g*where(e, 1, 2)"
    operator = built(elementwise(formula, "{x: {shape: [..., K]}}", more))
    defaults = {a.name: a.default for a in operator.params}
    assert str(defaults["a"]) == "1/100000"
    assert defaults["b"] == Apply("neg", (Const("inf"),))
    assert (defaults["c"], defaults["d"], defaults["e"]) == (-100, (1, 1), True)
    present, absent = operator.variants
    assert "*g*" in lines(present.program)[0]
    assert "1/sqrt(K)" in lines(absent.program)[0]


def test_list_params() -> None:
    p = program(elementwise("y = x*stride[0] + stride[1]", "[x]", "params: {stride: {type: [int, int]}}"))
    assert lines(p) == ["y[...] = x[...]*stride[0] + stride[1]"]


# --- where -----------------------------------------------------------------------------------------------------------


def test_where_reaches_into_reductions() -> None:
    inputs = "{x: {shape: [N, D]}, w: {shape: [V, D]}, ids: {shape: [N], dtype: int}}"
    p = program(elementwise("y[n] = where(ids[n] >= 0, sum[d](x[n, d]*w[ids[n], d]), 0)", inputs))
    assert lines(p)[0] == "sum_d[n < N] = sum[d < D](where(ids[n] >= 0, x[n, d]*w[ids[n], d], 0))"
    got = run(p, {"x": array([[1.0], [2.0]]), "w": array([[5.0]]), "ids": array([-1, 0])})["y"]
    assert got.data == [0.0, 10.0]


def test_where_leaves_contractions_alone() -> None:
    p = program(
        elementwise(
            "y[i, j] = where(j <= i, sum[k](q[i, k]*w[j, k]), -inf)", "{q: {shape: [I, K]}, w: {shape: [J, K]}}"
        )
    )
    assert lines(p)[0] == "sum_k[i < I, j < J] = sum[k < K](q[i, k]*w[j, k])"


def test_index_operator_needs_its_whole_body() -> None:
    p = program(elementwise("y[n, k] = where(x[n, k] > 0, softmax[k](1/x[n, k]), 0)", "{x: {shape: [N, K]}}"))
    assert lines(p)[0] == "softmax_k[n < N, k < K] = softmax[k](1/x[n, k])"
    q = program(
        elementwise("y[n, k] = where(m[n] > 0, softmax[k](1/x[n, k]), 0)", "{x: {shape: [N, K]}, m: {shape: [N]}}")
    )
    assert lines(q)[0] == "softmax_k[n < N, k < K] = softmax[k](where(m[n] > 0, 1/x[n, k], 0))"


# --- functions, overrides, details -----------------------------------------------------------------------------------


def test_local_functions() -> None:
    text = """
        op: f
        inputs: [x]
        params: {a: {type: float}}
        functions:
          twice(v): 2*v
          swish(a): a*sigmoid(twice(a))
          spike(a): {value: "where(a > 0, 1, 0)", derivative: "1/(1 + abs(a))**2 + 0*spike(a)"}
          pair(u, v): {value: u*v, derivative: {u: v, v: u}}
        forward: |
          y = swish(x + a)
          z = spike(x) + pair(x, 2)
        """
    p = program(text)
    assert lines(p) == ["y[...] = (x[...] + a)*sigmoid(2*(x[...] + a))", "z[...] = spike(x[...]) + pair(x[...], 2)"]
    assert [(f.name, f.params) for f in p.functions] == [("spike", ("a_1",)), ("pair", ("u", "v"))]
    assert [show(e) for e in p.functions[1].partials] == ["v", "u"]
    assert p.outputs[1].kind is Kind.FLOAT
    got = run(p, {"x": array([2.0, -1.0])}, {"a": 0.5})
    assert got["z"].data == [5.0, -2.0]


def test_override() -> None:
    text = """
        op: f
        inputs: {x: {shape: [..., K]}, w: {shape: [K], optional: true, absent: 1}}
        forward: |
          s[...] = sum[k](x[..., k]**2)
          y[..., k] = x[..., k]*w[k]*s[...]
        backward: |
          t[...] = sum[k](grad_y[..., k])*s[...]
          grad_x[..., k] = t[...]*w[k]
          grad_w[..., k] = grad_y[..., k]
        """
    present, absent = built(text).variants
    assert present.program.override.inputs == ("x", "w")
    assert present.program.override.shapes == ((BATCH, Dim("K")), (BATCH, Dim("K")))
    assert absent.program.override.inputs == ("x",)
    targets = [s.target for s in present.program.override.statements]
    assert targets == ["sum_k", "t", "grad_x", "grad_w"]


def test_override_of_the_batch() -> None:
    more = "backward: |\n  grad_x = 1.0\n  grad_s = grad_y*x"
    p = program(elementwise("y = x*s", "{x: {}, s: {shape: []}}", more))
    assert p.override.shapes == ((BATCH,), (BATCH,))


def test_outputs_are_inferred_or_listed() -> None:
    block = "a = x*x\nb = a + 1\nc = 2*x"
    assert [o.name for o in program(elementwise(block, "[x]")).outputs] == ["b", "c"]
    listed = program(elementwise(block, "[x]", "outputs: [a, c]"))
    assert [o.name for o in listed.outputs] == ["a", "c"]


def test_cast_and_detach() -> None:
    p = program(elementwise("y = cast(x*x, x) + detach(x)", "[x]"))
    assert lines(p) == ["y[...] = cast(x[...]*x[...], x) + detach(x[...])"]


def test_dims_in_any_order() -> None:
    p = program(elementwise("y[i < Q] = i", "{x: {shape: [N]}}", "dims: {Q: P + 1, P: N//2}"))
    assert [(d.name, d.tensor) for d in p.dims] == [("N", "x"), ("P", None), ("Q", None)]


def test_a_long_chain_lowers_fast() -> None:
    block = "a0 = x\n" + "\n".join(f"a{i + 1} = a{i}*2 + x" for i in range(1000))
    assert len(program(elementwise(block, "[x]")).statements) == 1001
