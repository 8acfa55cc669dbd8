"""Sums of products with sums are taken in the other order where an output is the inner one and none of them stored."""

from __future__ import annotations

import pytest

from opgen.ir.operator import Flags, Variant
from opgen.ir.program import Compute, Program
from opgen.ir.text import statement
from opgen.opt.derive import derive_variant
from tests.lower.specs import elementwise, program

INPUTS = "{q: {shape: [M, D]}, k: {shape: [N, D]}, v: {shape: [N, E]}}"
SCORE = "sum[d](q[i, d]*k[j, d])"


def backward(formula: str, inputs: str = INPUTS, flags: Flags | None = None, params: str = "") -> Program:
    derived = derive_variant(Variant((), program(elementwise(formula, inputs, params))), flags or Flags())
    assert derived.backward is not None
    return derived.backward


def row_sums(p: Program) -> list[str]:
    """What the gradient takes from each row."""
    return [statement(s) for s in p.statements if isinstance(s, Compute) and s.target.startswith("dot_")]


def test_the_row_sums_of_attention_come_from_its_output() -> None:
    p = backward(f"o[i, e] = sum[j](softmax[j]({SCORE})*v[j, e])")
    assert row_sums(p) == ["dot_softmax_j[i < M] = sum[e < E](grad_o[i, e]*o[i, e])"]
    assert "o" in {t.name for t in p.inputs}


def test_the_row_sums_of_heads() -> None:
    inputs = "{q: {shape: [H, M, D]}, k: {shape: [H, N, D]}, v: {shape: [H, N, E]}}"
    p = backward("o[h, i, e] = sum[j](softmax[j](sum[d](q[h, i, d]*k[h, j, d]))*v[h, j, e])", inputs)
    assert row_sums(p) == ["dot_softmax_j[h < H, i < M] = sum[e < E](grad_o[h, i, e]*o[h, i, e])"]


@pytest.mark.parametrize(
    "formula",
    [
        f"o[i, e] = 2*sum[j](softmax[j]({SCORE})*v[j, e]) + 1",  # the sum is no output
        f"o[i] = sum[j](softmax[j]({SCORE})*v[j, 0])",  # nothing to sum over in the other order
    ],
)
def test_other_sums_stay_as_they_are(formula: str) -> None:
    (found,) = row_sums(backward(formula))
    assert "= sum[j < N](" in found


GROUPS = "{q: {shape: [H, M, D]}, k: {shape: [G, N, D]}, v: {shape: [G, N, E]}}"
BIASED = INPUTS.replace("}}", "}, b: {shape: [M, N]}}")
BATCHED = "{q: {shape: [..., M, D]}, k: {shape: [..., N, D]}, v: {shape: [..., N, E]}, b: {shape: [M, N]}}"
MIXED = "{q: {shape: [H, M, D]}, k: {shape: [H, N, D]}, v: {shape: [H, N, E]}, w: {shape: [H, H]}}"


@pytest.mark.parametrize(
    ("formula", "inputs"),
    [
        ("o[i, e] = sum[j](softmax[j](b[i, j])*v[j, e])", BIASED),  # the weights are no larger than an input
        ("o[..., i, e] = sum[j](softmax[j](sum[d](q[..., i, d]*k[..., j, d]) + b[i, j])*v[..., j, e])", BATCHED),
        ("o[g, i, e] = sum[j](softmax[j](sum[h, d](w[g, h]*q[h, i, d]*k[h, j, d]))*v[g, j, e])", MIXED),
        ("o[h, i, e] = sum[j](softmax[j](sum[d](q[h, i, d]*k[h*G//H, j, d]))*v[h*G//H, j, e])", GROUPS),
    ],
    ids=["matrix", "bias", "mixed", "groups"],
)  # fmt: skip
def test_what_is_subtracted_from_stored_products_is_their_sum(formula: str, inputs: str) -> None:
    p = backward(formula, inputs)
    (found,) = row_sums(p)
    assert "= sum[j < " in found
    assert "o" not in {t.name for t in p.inputs}


def test_an_output_that_is_not_to_be_saved_is_not_read() -> None:
    p = backward(f"o[i, e] = sum[j](softmax[j]({SCORE})*v[j, e])", flags=Flags(save=("q", "k", "v")))
    (found,) = row_sums(p)
    assert "= sum[j < N](" in found
