"""Section 8 of the language page: how a generated operator is called, and what it returns."""

from __future__ import annotations

import pytest
import torch

from .sections import Build

AFFINE = (
    "op: affine\ninputs: {x: {}, w: {}, b: {optional: true}}\nparams: {s: {type: float, default: 1.0}, n: {type: int, "
    "default: 2}}\nforward: y = s*x*w*n + b\n"
)
ONE, TWO, THREE = torch.ones(2), torch.full((2,), 2.0), torch.full((2,), 3.0)


def test_inputs_are_positional_and_optional_ones_may_be_left_out(build_operator: Build) -> None:
    op = build_operator(AFFINE).affine
    assert op(ONE, TWO, THREE).tolist() == [7.0, 7.0]
    assert op(ONE, TWO, None).tolist() == [4.0, 4.0]
    assert op(ONE, TWO).tolist() == [4.0, 4.0]


def test_params_are_keywords(build_operator: Build) -> None:
    op = build_operator(AFFINE).affine
    assert op(ONE, TWO, s=0.5, n=3).tolist() == [3.0, 3.0]
    assert op(ONE, TWO, THREE, n=1).tolist() == [5.0, 5.0]
    with pytest.raises(TypeError):
        op(ONE, TWO, scale=2.0)


def test_params_are_positional_where_no_input_is_optional(build_operator: Build) -> None:
    spec = "op: affine\ninputs: [x]\nparams: {s: {type: float}, n: {type: int, default: 2}}\nforward: y = s*x*n\n"
    op = build_operator(spec).affine
    assert op(ONE, 0.5).tolist() == [1.0, 1.0]
    assert op(ONE, 0.5, 4).tolist() == [2.0, 2.0]


def test_several_outputs_are_a_tuple_in_order(build_operator: Build) -> None:
    spec = "op: two\ninputs: [x]\noutputs: [b, a]\nforward: |\n  a = x\n  b = 2*x\n"
    result = build_operator(spec).two(ONE)
    assert isinstance(result, tuple)
    assert [r.tolist() for r in result] == [[2.0, 2.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (torch.float32, torch.float64, torch.float64),
        (torch.float16, torch.float32, torch.float32),
        (torch.bfloat16, torch.bfloat16, torch.bfloat16),
        (torch.float16, torch.bfloat16, torch.float32),
    ],
)
def test_float_inputs_are_promoted(
    build_operator: Build, left: torch.dtype, right: torch.dtype, expected: torch.dtype
) -> None:
    op = build_operator("op: product\ninputs: [x, z]\nforward: y = x*z\n").product
    assert op(torch.ones(2, dtype=left), torch.ones(2, dtype=right)).dtype is expected


def test_results_without_float_inputs_have_the_default_dtype(build_operator: Build) -> None:
    spec = (
        "op: counts\ninputs: {n: {dtype: int}}\noutputs: [r, c, i]\nforward: |\n  r = n/2\n  c = n > 1\n  i = n + 1\n"
    )
    r, c, i = build_operator(spec).counts(torch.tensor([1, 2], dtype=torch.int32))
    assert (r.dtype, c.dtype, i.dtype) == (torch.get_default_dtype(), torch.bool, torch.int64)


def test_argmax_is_int64_and_a_condition_bool(build_operator: Build) -> None:
    spec = (
        "op: best\ninputs: {x: {shape: [..., K]}}\noutputs: [i, p]\nforward: |\n"
        "  i[...] = argmax[k](x[..., k])\n  p[..., k] = x[..., k] > 0\n"
    )
    i, p = build_operator(spec).best(torch.randn(2, 3))
    assert (i.dtype, p.dtype) == (torch.int64, torch.bool)


def test_a_wrong_dtype_is_refused(build_operator: Build) -> None:
    op = build_operator("op: chosen\ninputs: {x: {}, n: {dtype: int}}\nforward: y = x*n\n").chosen
    with pytest.raises((TypeError, ValueError, RuntimeError), match="n"):
        op(ONE, torch.ones(2))
