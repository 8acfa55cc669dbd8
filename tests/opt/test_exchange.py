"""A sum over a product of sums is taken in the other order where an output is the inner one, and nowhere else."""

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


def test_heads_that_share_keys() -> None:
    inputs = "{q: {shape: [H, M, D]}, k: {shape: [G, N, D]}, v: {shape: [G, N, E]}}"
    score = "sum[d](q[h, i, d]*k[h*G//H, j, d])"
    p = backward(f"o[h, i, e] = sum[j](softmax[j]({score})*v[h*G//H, j, e])", inputs)
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


def test_an_output_that_is_not_to_be_saved_is_not_read() -> None:
    p = backward(f"o[i, e] = sum[j](softmax[j]({SCORE})*v[j, e])", flags=Flags(save=("q", "k", "v")))
    (found,) = row_sums(p)
    assert "= sum[j < N](" in found
