"""Entries that say that they are tensors, and no more: the shape that is said of them is the one that formulas read."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed

SPEC = """op: a
inputs: {{x: {{shape: [N, C]}}{inputs}}}
params: {{{params}}}
forward: |
  {line}
module: {{name: Scaled, parameters: {{s: constant(2)}}}}
"""
LINES = [
    ("y[n, c] = exp(s)*x[n, c]", "[]"),
    ("y[n, c] = s[c]*x[n, c]", "[C]"),
    ("y[n, k] = sum[c](s[c, k]*x[n, c])", "[C, K]"),
    ("y[n, c] = s[c]*x[n, c] + sum[d](s[d]*x[n, d])", "[C]"),
]


def told(text: str) -> str:
    (found,) = diagnosed(text)
    (hint,) = (h for h in found.hints if not h.startswith("opgen explain"))
    return hint


@pytest.mark.parametrize(
    "fields", ["{type: tensor}", "tensor", "{type: torch.Tensor, default: 2.0}", "{type: nn.Parameter}"]
)
@pytest.mark.parametrize(("line", "shape"), LINES)
def test_a_tensor_among_params(fields: str, line: str, shape: str) -> None:
    hint = told(SPEC.format(inputs="", params=f"s: {fields}", line=line))
    assert hint == f"tensors are declared under `inputs`: move it there, as `s: {{shape: {shape}}}`"
    built(SPEC.format(inputs=f", s: {{shape: {shape}}}", params="", line=line))


def test_a_tensor_among_params_that_may_be_missing_or_has_a_shape() -> None:
    line = "y[n, c] = s[c]*x[n, c]"
    hint = told(SPEC.format(inputs="", params="s: {type: 'Optional[Tensor]'}", line=line))
    assert hint.endswith("as `s: {shape: [C], optional: true}`")
    hint = told(SPEC.format(inputs="", params="s: {type: tensor, shape: [C]}", line=line))
    assert hint.endswith("move it to `inputs`, `s: {shape: [C]}`")
    assert told(SPEC.format(inputs="", params="s: tensor", line="y[n] = s[0, n]*x[n, 0]")) == (
        "tensors are declared under `inputs`"
    )


@pytest.mark.parametrize("fields", ["{type: tensor}", "{dtype: tensor}", "{dtype: torch.Tensor}", "tensor"])
@pytest.mark.parametrize(("line", "shape"), LINES)
def test_an_input_that_says_it_is_a_tensor(fields: str, line: str, shape: str) -> None:
    hint = told(SPEC.format(inputs=f", s: {fields}", params="", line=line))
    assert hint == f"leave it away: every input is a tensor; its shape is `s: {{shape: {shape}}}`"


@pytest.mark.parametrize("fields", [" {}", " {dtype: float}", " {shape: [...]}"])
@pytest.mark.parametrize(("line", "shape"), LINES)
def test_what_a_module_owns_has_the_shape_that_is_read(fields: str, line: str, shape: str) -> None:
    assert told(SPEC.format(inputs=f", s:{fields}", params="", line=line)) == f"declare it as `s: {{shape: {shape}}}`"


def test_an_input_of_a_shape_that_says_it_is_a_tensor() -> None:
    text = SPEC.format(inputs=", s: {type: tensor, shape: [C]}", params="", line="y[n, c] = s[c]*x[n, c]")
    assert told(text) == "leave it away: every input is a tensor"
    built(re.sub("type: tensor, ", "", text))


@pytest.mark.parametrize("fields", ["{type: 'Optional[Tensor]'}", "{dtype: 'Tensor?'}", "Optional[Tensor]"])
def test_an_input_that_may_be_missing(fields: str) -> None:
    text = SPEC.format(inputs=f", s: {fields}", params="", line="y[n, c] = s[c]*x[n, c]").partition("module")[0]
    assert told(text) == "write `s: {shape: [C], optional: true}`"


@pytest.mark.parametrize("fields", ["{type: tensor}", "{dtype: tensor}", "tensor"])
def test_where_all_stand_bare_one_is_of_any_shape(fields: str) -> None:
    assert (
        told(f"op: a\ninputs: {{x: {{}}, s: {fields}}}\nforward: y = s*x\n") == "leave it away: every input is a tensor"
    )
