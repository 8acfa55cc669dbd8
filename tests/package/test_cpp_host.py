"""The binding of a compiled operator: which variant runs is told from what a direction is given."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opgen.pipeline import SpecFile, run

MASKED = """
op: masked
inputs: {x: {shape: [N, V]}, labels: {shape: [N], dtype: int, optional: true}}
forward: |
  loss = sum[n, v](x[n, v]**2) if not given(labels)
  loss = sum[n, v](where(labels[n] != -100, x[n, v]**2, 0)) if given(labels)
"""
INPUT = re.compile(r'call\.input\("(\w+)", (\w+),')


def binding(spec: str) -> str:
    made = run(SpecFile(Path("masked.yaml"), spec.encode(), "masked.yaml"))
    assert made.files is not None, made.diagnostics
    return next(f.text for f in made.files if f.path.endswith("masked.cpp"))


def test_what_was_kept_tells_which_inputs_were_there() -> None:
    """Backward takes a condition over the labels, not the labels: where it was not kept, there were none."""
    text = binding(MASKED)
    functions = {m[1]: m[2] for m in re.finditer(r"^Tensor (masked_backward\w*)\((.*?)^}", text, re.M | re.S)}
    chosen = functions.pop("masked_backward")
    assert len(functions) == 2
    for name, body in functions.items():
        optional = {tensor for _, tensor in INPUT.findall(body)} & set(re.findall(r"Optional& (\w+)", body))
        tested = re.search(rf"if \(condition\.has_value\(\)\) return {name}\(", chosen)
        assert optional == ({"condition"} if tested else set())


RESIDUAL = """
op: damped
inputs: [x, y]
forward: |
  gap = x - y
  z = exp(-gap**2)*cos(gap)
"""


def test_what_is_kept_for_a_gradient_is_not_stored_where_none_can_be_asked_for() -> None:
    text = binding(RESIDUAL.replace("op: damped", "op: masked"))
    assert re.search(r"masked_forward\(const Tensor& x, const Tensor& y, bool recorded\)", text)
    assert re.search(r"masked_forward\(Tensor x, Tensor y, bool recorded=True\)", text)
    stored = re.findall(r'call\.allocate(?:_stored)?\("(\w+)", \S+ \{.*?\}(.*?)\);', text)
    assert ("z", "") in stored
    assert {more for name, more in stored if name.startswith("gap")} == {", true, recorded"}


def test_a_gradient_that_nobody_asks_for_is_not_stored() -> None:
    text = binding(RESIDUAL.replace("op: damped", "op: masked"))
    stored = dict(re.findall(r'call\.allocate(?:_stored)?\("(grad_\w+)", \S+ \{.*?\}, (.*?)\);', text))
    assert {condition.rpartition(", ")[2] for condition in stored.values()} == {"mask[0]", "mask[1]"}


SHIFTED = """
op: masked
inputs: {x: {shape: [..., N]}, w: {shape: [N], optional: true, absent: 1}, b: {shape: [..., N], optional: true}}
forward: |
  y[..., n] = tanh(x[..., n]**2)*w[n] + b[..., n]
"""
PRODUCT = """
op: masked
inputs: {x: {shape: [..., N]}, a: {shape: [M, N]}, b: {shape: [M], optional: true}}
forward: |
  y[..., m] = sum[n](x[..., n]*a[m, n]) + b[m]
"""
APART = {
    "asked for": SHIFTED.replace("tanh(", "where(given(w), 2, 1)*tanh("),
    "another number": SHIFTED.replace("absent: 1", "absent: 0.5"),
    "much less to do": SHIFTED.replace("b[..., n]", "b[..., n]*lgamma(x[..., n])"),
    "another number to torch": PRODUCT.replace(
        "b: {shape: [M], optional: true}", "b: {shape: [M], optional: true, absent: 1}"
    ),
    "more is kept": """
op: masked
inputs: {x: {shape: [N]}, w: {shape: [N], optional: true, absent: 1}}
forward: |
  h[-1] = 0
  h[n] = w[n]*h[n - 1] + x[n]
  y[n] = h[n]
""",
}


def variants_of(spec: str) -> set[str]:
    return set(re.findall(r"(masked_(?:forward|backward)\w*)\(const", binding(spec)))


def test_an_input_that_stands_for_a_number_where_it_is_missing_needs_no_variants() -> None:
    text = binding(SHIFTED)
    assert variants_of(SHIFTED) == {"masked_forward", "masked_backward"}
    assert 'call.input("w", w, Element::scalar, {opgen::dim(0, "N")}, 1);' in text
    assert 'call.input("b", b, Element::scalar, {opgen::batch, opgen::dim(0, "N")}, 0);' in text


CONVOLUTION = """
op: masked
inputs: {x: {shape: [N, C, L]}, w: {shape: [O, G, K]}, b: {shape: [O], optional: true}}
params: {groups: {type: int, default: 1, domain: groups > 0}}
dims: {C: groups*G, O: groups*Og}
forward: y[n, o, p < L - K + 1] = sum[c, k](x[n, o//Og*G + c, p + k]*w[o, c, k]) + b[o]
"""


@pytest.mark.parametrize(("spec", "own"), [(PRODUCT, 0), (CONVOLUTION, 1)], ids=["a product", "a convolution"])
def test_a_bias_that_torch_adds_needs_no_variants(spec: str, own: int) -> None:
    """The binding hands it on where it is there; a kernel in place of what is handed on reads 0."""
    text = binding(spec)
    forward = text.partition("masked_backward")[0]
    assert variants_of(spec) == {"masked_forward", "masked_backward"}
    assert re.search(r'call\.input\("b", b, .*, 0\);', forward)
    assert forward.count("call.run(") == own


@pytest.mark.parametrize("spec", APART.values(), ids=APART)
def test_variants_stay_where_a_missing_input_is_no_such_number_or_saves_work(spec: str) -> None:
    assert variants_of(spec) & {"masked_forward_1", "masked_forward_2", "masked_backward_1"}


REDUCED = """
op: masked
inputs: [x, y]
params: {reduction: {choices: [mean, sum, none]}}
forward: z = reduction[...]((x - y)**2)
"""


def test_a_mean_and_a_sum_have_the_same_kernels() -> None:
    text = binding(REDUCED)
    ran = {m[1]: m[2] for m in re.finditer(r"(masked_(?:for|back)ward_\d)\(const.*?call\.run\((\d)", text, re.S)}
    assert ran["masked_forward_0"] == ran["masked_forward_1"] != ran["masked_forward_2"]
    assert ran["masked_backward_0"] == ran["masked_backward_1"] != ran["masked_backward_2"]
    assert re.findall(r"call\.run\(0, .*\}, (\{[^{}]*\})\);", text) == [
        "{static_cast<double>(call.batch_count())}",
        "{1}",
    ]
