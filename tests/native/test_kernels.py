"""Compiled CPU kernels against torch: values, layouts, dtypes, empty tensors, errors.

The generated tests compare much more; these say which layer is at fault.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional

from tests.compilers import available

pytestmark = [pytest.mark.thorough, pytest.mark.skipif(not available(), reason="no C++ compiler")]

TOLERANCE = {torch.float64: 1e-12, torch.float32: 2e-6, torch.bfloat16: 8e-3, torch.float16: 1e-3}


def layouts(x: torch.Tensor) -> list[torch.Tensor]:
    """The same values with other strides."""
    padded = torch.zeros(*x.shape[:-1], 2 * x.shape[-1], dtype=x.dtype)
    padded[..., ::2] = x
    return [x, x.transpose(0, -1).contiguous().transpose(0, -1), padded[..., ::2]]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("size", [1, 7, 16, 300, 1000])
def test_rows_of_any_length_layout_and_dtype(compiled: Any, dtype: torch.dtype, size: int) -> None:
    op = compiled("softmax")
    x = torch.randn(3, 5, size, dtype=torch.float64).to(dtype)
    expected = torch.softmax(x.double(), -1)
    for y in layouts(x):
        got = op.forward(y, 1.0)
        assert got.dtype is dtype
        torch.testing.assert_close(got.double(), expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def test_extreme_scores(compiled: Any) -> None:
    op = compiled("softmax")
    x = torch.tensor([[1e30, -1e30, 0.0], [-torch.inf, 1.0, 2.0], [torch.nan, 0.0, 0.0], [-300.0, -301.0, -1e38]])
    torch.testing.assert_close(op.forward(x, 1.0), torch.softmax(x, -1), equal_nan=True)


def test_empty_tensors(compiled: Any) -> None:
    op = compiled("softmax")
    for shape in ((0, 4), (3, 0), (2, 0, 5)):
        assert op.forward(torch.zeros(shape), 1.0).shape == shape


def test_a_broadcast_weight_and_a_missing_one(compiled: Any) -> None:
    op = compiled("layer_norm")
    x, w, b = torch.randn(4, 6, 33), torch.randn(33), torch.randn(1).expand(33)
    got = op.forward(x, w, b, 1e-5)
    torch.testing.assert_close(got[0], functional.layer_norm(x, (33,), w, b))
    torch.testing.assert_close(op.forward(x, None, None, 1e-5)[0], functional.layer_norm(x, (33,)))


def test_only_the_wanted_gradients_are_there(compiled: Any) -> None:
    op = compiled("linear")
    g, x, w = torch.randn(5, 2, 4), torch.randn(5, 2, 3), torch.randn(4, 3)
    grads = op.backward(g, x, w, [True, False, True])
    torch.testing.assert_close(grads[0], g @ w)
    assert grads[1] is None
    torch.testing.assert_close(grads[2], g.sum((0, 1)))


def test_kernels_are_deterministic(compiled: Any) -> None:
    op = compiled("linear")
    g = torch.randn(3000, 70)
    x, w = torch.randn(3000, 3), torch.randn(70, 3)
    first, again = (op.backward(g, x, w, [False, False, True])[2] for _ in range(2))
    assert torch.equal(first, again)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda op: op.forward(torch.ones(2, 3), torch.ones(4, 5), None), "weight has size 5 for K .* input has 3"),
        (lambda op: op.forward(torch.ones(2, 3), torch.ones(4), None), "weight has 1 dims, 2 are declared"),
        (lambda op: op.forward(torch.ones(2, 3).double(), torch.ones(4, 3), None), "weight has dtype Float"),
        (lambda op: op.forward(torch.ones(2, 3).long(), torch.ones(4, 3), None), "input may not have dtype Long"),
    ],
)
def test_errors_name_the_operand_the_dim_and_both_sizes(compiled: Any, call: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=f"linear: {message}"):
        call(compiled("linear"))


def test_an_index_out_of_range_is_an_error(compiled: Any) -> None:
    op = compiled("embedding")
    table = torch.randn(5, 3)
    torch.testing.assert_close(op.forward(torch.tensor([[4, 0]]), table), table[torch.tensor([[4, 0]])])
    for bad in (5, -1):
        with pytest.raises(RuntimeError, match=f"index {bad} is out of range for axis 0 of weight, which has size 5"):
            op.forward(torch.tensor([1, bad]), table)


def test_repeated_rows_accumulate(compiled: Any) -> None:
    op = compiled("embedding")
    ids, table, g = torch.tensor([1, 1, 3, 1]), torch.randn(5, 300), torch.randn(4, 300)
    expected = torch.zeros(5, 300).index_add(0, ids, g)
    got = op.backward(g, ids, table, [False, True])
    torch.testing.assert_close(got if isinstance(got, torch.Tensor) else got[-1], expected)


def test_the_position_of_an_extreme_of_nothing_is_an_error(compiled: Any) -> None:
    with pytest.raises(RuntimeError, match=r"max_with_index: argmax\[\w+\] has no value, as \w+ has size 0"):
        compiled("max_with_index").forward(torch.zeros(3, 0))
