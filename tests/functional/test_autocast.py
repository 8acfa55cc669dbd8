"""Operators under torch's autocast: dtypes, values and gradients are those of torch's own."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

Build = Callable[[str], ModuleType]
HALF = torch.bfloat16

PRODUCT = (
    "op: product\ninputs: {x: {shape: [..., K]}, w: {shape: [N, K]}}\nforward: y[..., n] = sum[k](x[..., k]*w[n, k])"
)
LOSS = "op: loss\ninputs: [x, z]\nforward: y = mean[...](square(x - z))"
GATED = "op: gated\ninputs: [x]\nforward: y = x*sigmoid(x)"
ENTROPY = """
op: entropy
inputs: {x: {shape: [N, C]}, t: {shape: [N], dtype: int}}
forward: |
  scores[n, c] = log_softmax[c](x[n, c])
  y = -mean[n](scores[n, t[n]])
"""


OPERATORS: dict[str, tuple[str, Callable[..., Any]]] = {
    "product": (PRODUCT, F.linear),
    "loss": (LOSS, F.mse_loss),
    "gated": (GATED, F.silu),
    "entropy": (ENTROPY, F.cross_entropy),
}


def arguments(name: str, dtype: torch.dtype) -> list[torch.Tensor]:
    x, z, w = (torch.randn(s).to(dtype).requires_grad_() for s in ((6, 8), (6, 8), (5, 8)))
    return {"product": [x, w], "loss": [x, z], "gated": [x], "entropy": [x, torch.arange(6)]}[name]


@pytest.mark.parametrize("name", OPERATORS)
def test_as_torch(build_operator: Build, name: str) -> None:
    spec, own = OPERATORS[name]
    operator = getattr(build_operator(spec), name)
    for dtype in (torch.float32, HALF, torch.float64):
        given = arguments(name, dtype)
        leaves = [a for a in given if a.requires_grad]
        with torch.autocast("cpu", dtype=HALF):
            found, expected = operator(*given), own(*given)
        assert found.dtype == expected.dtype
        torch.testing.assert_close(found, expected)
        cotangent = torch.ones_like(expected)
        grads = torch.autograd.grad(found, leaves, cotangent)
        torch.testing.assert_close(grads, torch.autograd.grad(expected, leaves, cotangent))


def test_inside_an_operator_autocast_is_off(build_operator: Build) -> None:
    """A formula in plain torch has matrix products and exponentials, which autocast would cast one by one."""
    rows = build_operator(
        "op: rows\ninputs: {x: {shape: [N, K]}, w: {shape: [M, K]}}\n"
        "forward: y[n] = logsumexp[m](sum[k](x[n, k]*w[m, k]))"
    ).rows
    x, w = torch.randn(4, 8, requires_grad=True), torch.randn(5, 8)
    expected = rows(x, w)
    with torch.autocast("cpu", dtype=HALF):
        found = rows(x, w)
        (grad,) = torch.autograd.grad(found.sum(), x)
    assert torch.equal(found, expected)
    assert torch.equal(grad, torch.autograd.grad(expected.sum(), x)[0])


def test_under_transforms(build_operator: Build) -> None:
    product = build_operator(PRODUCT).product
    x, w = torch.randn(3, 4, 8), torch.randn(5, 8)
    with torch.autocast("cpu", dtype=HALF):
        assert torch.vmap(product, in_dims=(0, None))(x, w).dtype == HALF
        values, tangents = torch.func.jvp(product, (x, w), (x, w))
    assert (values.dtype, tangents.dtype) == (HALF, HALF)
