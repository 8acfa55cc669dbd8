"""Specs as they should be: every field arrives, typed, with its place."""

from __future__ import annotations

import pytest

from opgen.diagnostics.model import Bag, Source
from opgen.diagnostics.text import render_all
from opgen.schema.load import known_fields, load
from opgen.schema.model import OpSpec, ParamSpec

FULL = """\
op: affine
summary: An affine map.
reference: package.affine
inputs:
  input:  {shape: [..., K], doc: activations}
  weight: {shape: [N, K], domain: -1 <= weight <= 1}
  bias:   {shape: [N], optional: true, absent: -inf}
  ids: {shape: [...], dtype: int}
params:
  eps: {type: float, default: 1e-5}
  stride: {type: [int, int], default: 1}
  reduction: {choices: [mean, sum, none], default: mean}
  flag: {default: True}
  limit: {type: int, default: null}
  needed: {type: int}
dims:
  P: (K + 1)//2
functions:
  step(v): {value: "where(v > 0, 1, 0)", derivative: "1/(1 + abs(v))**2"}
  twice(x): 2*x
  f(x, a): {value: "x*exp(a)", derivative: {x: "exp(a)", a: "x*exp(a)"}}
forward: |
  # a comment
  output[..., n] = sum[k](
    input[..., k]*weight[n, k]) + bias[n]

backward: grad_input = 0
outputs: [output]
inplace: input
once_differentiable: true
save: [input, weight]
exact: true
module:
  name: Affine
  dims: {K: in_features, N: out_features}
  parameters: {weight: ones, bias: zeros}
tests: {sizes: {K: 5}, cases: [{K: 1, reduction: sum}], tolerances: {float32: 1e-5}}
"""


def loaded(text: str) -> OpSpec:
    bag = Bag()
    spec = load(Source("a.yaml", text), bag)
    assert spec is not None
    assert not bag.items, render_all(bag.items)
    return spec


def test_every_field_arrives() -> None:
    spec = loaded(FULL)
    assert (spec.op, spec.reference, spec.inplace) == ("affine", "package.affine", "input")
    assert [item.text for item in spec.inputs[0].shape or ()] == ["...", "K"]
    bias, ids = spec.inputs[2:]
    assert bias.optional
    assert bias.absent is not None
    assert bias.absent.text == "-inf"
    assert ids.dtype == "int"
    assert not ids.differentiable
    assert [(d.name, d.value.text) for d in spec.dims] == [("P", "(K + 1)//2")]
    assert [f.name for f in spec.functions] == ["step", "twice", "f"]
    assert [(a, d.text) for a, d in spec.functions[2].derivatives] == [("x", "exp(a)"), ("a", "x*exp(a)")]
    assert spec.functions[0].derivatives[0][0] is None
    assert spec.outputs is not None
    assert spec.outputs[0].name == "output"
    assert spec.once_differentiable
    assert spec.exact
    assert spec.save == ("input", "weight")
    assert spec.module is not None
    assert spec.module.dims == {"K": "in_features", "N": "out_features"}
    assert [(name, how.text) for name, how in spec.module.parameters] == [("weight", "ones"), ("bias", "zeros")]
    assert spec.tests.sizes == {"K": 5}
    assert spec.tests.tolerances == {"float32": (1e-5, 1e-5)}
    assert spec.tests.cases == ({"K": 1, "reduction": "sum"},)


@pytest.mark.parametrize(
    ("written", "float32", "float16"),
    [
        ("1e-3", (1e-3, 1e-3), (1e-3, 1e-3)),
        ("{rtol: 1e-3, atol: 0}", (1e-3, 0.0), (1e-3, 0.0)),
        ("{float32: {rtol: 1e-3, atol: 1e-5}}", (1e-3, 1e-5), None),
        ("{float32: {atol: 1e-5}}", (1e-5, 1e-5), None),
    ],
)
def test_tolerances(written: str, float32: tuple[float, float], float16: tuple[float, float] | None) -> None:
    found = loaded(f"op: f\ninputs: [x]\nforward: y = x\ntests: {{tolerances: {written}}}\n").tests.tolerances
    assert (found.get("float32"), found.get("float16")) == (float32, float16)


@pytest.mark.parametrize(
    "written", ["{float32: {rtl: 1e-3}}", "{float32: {rtol: -1}}", "{rtol: x}", "{float32: {}}", "-1"]
)
def test_tolerances_that_are_none(written: str) -> None:
    text = f"op: f\ninputs: [x]\nforward: y = x\ntests: {{tolerances: {written}}}\n"
    bag = Bag()
    load(Source("a.yaml", text), bag)
    assert [d.code for d in bag.items] == ["OPG112"]
    assert "a.yaml:4:" in render_all(bag.items)


def test_params() -> None:
    params = {param.name: param for param in loaded(FULL).params}

    def default(param: ParamSpec) -> object:
        return tuple(map(str, param.default)) if isinstance(param.default, tuple) else str(param.default)

    assert default(params["eps"]) == "1e-5"
    assert (params["stride"].type, params["stride"].length, default(params["stride"])) == ("int", 2, ("1", "1"))
    assert (params["reduction"].type, params["reduction"].choices) == ("str", ("mean", "sum", "none"))
    assert (params["flag"].type, default(params["flag"])) == ("bool", "true")
    assert params["limit"].null
    assert not params["limit"].required
    assert params["needed"].required


def test_names_and_formulas_know_their_place() -> None:
    spec = loaded(FULL)
    source = spec.op.span.source
    assert spec.op.span.text == "affine"
    assert spec.inputs[1].span.text == "weight"
    assert spec.module is not None
    assert spec.module.parameters[1][0].span.text == "bias"
    start = spec.forward.text.index("weight")
    span = spec.forward.span(start, start + 6)
    assert span.text == "weight"
    assert source.line_col(span.start) == (25, 19)


def test_inputs_and_outputs_are_lists_or_mappings() -> None:
    spec = loaded("op: a\ninputs:\n- x\n- y: {shape: [N]}\noutputs: {z: {dtype: bool}}\nforward: z = x\n")
    assert [tensor.name for tensor in spec.inputs] == ["x", "y"]
    assert spec.inputs[0].shape is None
    assert spec.outputs is not None
    assert spec.outputs[0].dtype == "bool"
    assert loaded("op: a\ninputs: {x: , y: {}}\nforward: z = x\n").inputs[1].name == "y"


def test_defaults() -> None:
    spec = loaded("op: a\nforward: y = 1\n")
    assert (spec.inputs, spec.params, spec.outputs, spec.save, spec.compute_dtype) == ((), (), None, "auto", "opmath")
    assert spec.module is None
    assert spec.tests.sizes == {}


def test_anchors_and_windows_line_ends() -> None:
    spec = loaded("op: a\r\ninputs: {x: &t {shape: [N]}, y: *t}\r\nforward: |\r\n  z[n] = x[n]\r\n  w[n] = y[n]\r\n")
    assert str(spec.inputs[1].shape) == str(spec.inputs[0].shape)
    assert spec.inputs[1].span.text == "y"
    assert spec.forward.text == "z[n] = x[n]\nw[n] = y[n]"
    assert spec.forward.whole.text.endswith("y[n]")


def test_a_mistake_without_consequence_still_gives_a_spec() -> None:
    bag = Bag()
    spec = load(Source("a.yaml", "op: a\nwidget: 1\ninputs: {x: {dtype: itn}}\nforwrd: y = x\n"), bag)
    assert spec is not None
    assert spec.forward.text == "y = x"
    assert spec.inputs[0].dtype == "int"
    assert [d.code for d in bag.items] == ["OPG110", "OPG114", "OPG110"]


def test_internal_keys_are_not_fields() -> None:
    assert all("$" not in name for name in known_fields(OpSpec) + known_fields(ParamSpec))
    bag = Bag()
    load(Source("a.yaml", "op: a\ninputs: {x: {$name: y}}\nforward: y = x\n"), bag)
    assert {d.code for d in bag.items} == {"OPG110"}
    assert len(bag.items) == 1


def test_cases_of_complex_inputs_are_real_numbers() -> None:
    text = "op: a\ninputs: {x: {dtype: complex}}\nforward: y = 2*x\ntests: {cases: [{x: [1, -2.5]}]}\n"
    bag = Bag()
    assert load(Source("spec.yaml", text), bag) is not None
    assert not bag.items


@pytest.mark.parametrize(
    ("written", "hint"),
    [("0", "write `opgen: 1`"), ("2", "install a newer opgen"), ("1.0", "write `opgen: 1`, or leave it away"),
     ("yes", "write `opgen: 1`, or leave it away")],
)  # fmt: skip
def test_a_spec_may_state_the_version_of_the_language(written: str, hint: str) -> None:
    rest = "op: a\ninputs: [x]\nforward: y = 2*x\n"
    assert loaded(f"opgen: 1\n{rest}").language == loaded(rest).language == 1
    bag = Bag()
    load(Source("a.yaml", f"opgen: {written}\n{rest}"), bag)
    (found,) = bag.items
    assert found.hints == (hint,)


@pytest.mark.parametrize("written", ["none", "false"])
def test_nothing_is_kept_by_an_empty_list(written: str) -> None:
    rest = "op: a\ninputs: [x]\nforward: y = 2*x\nsave:"
    assert loaded(f"{rest} []\n").save == ()
    bag = Bag()
    load(Source("a.yaml", f"{rest} {written}\n"), bag)
    (found,) = bag.items
    assert found.hints == ("to keep nothing, write `save: []`",)
