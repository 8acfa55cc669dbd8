"""Compiled, what the gradient of a softmax subtracts from products of 16 bits is the sum of what was rounded."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from statistics import median
from types import ModuleType

import pytest
import torch
from torch import Tensor

from opgen import build
from opgen.toolchain.library import compile_op
from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SPEC = """
op: biased_attention
inputs:
  query: {shape: [..., L, E]}
  key: {shape: [..., S, E]}
  value: {shape: [..., S, V]}
  bias: {shape: [L, S]}
outputs: [output]
forward: |
  score[..., i, j] = sum[e](query[..., i, e]*key[..., j, e])/sqrt(E) + bias[i, j]
  output[..., i, v] = sum[j](softmax[j](score[..., i, j])*value[..., j, v])
"""
DTYPES = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)


@pytest.fixture(scope="module")
def attention(tmp_path_factory: pytest.TempPathFactory) -> tuple[Callable[..., Tensor], ModuleType]:
    folder = tmp_path_factory.mktemp("row_sums")
    (folder / "biased_attention.yaml").write_text(SPEC)
    assert not build(folder / "biased_attention.yaml", folder / "row_sums").failed
    compile_op(folder / "row_sums", "biased_attention")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        found = importlib.import_module("row_sums.biased_attention"), importlib.import_module("row_sums._runtime")
    return found[0].biased_attention, found[1]


def eager(query: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
    return torch.softmax(query @ key.mT / query.shape[-1] ** 0.5 + bias, -1) @ value


def gradient(call: Callable[..., Tensor], arguments: list[Tensor], grad: Tensor, dtype: torch.dtype) -> Tensor:
    """The gradient of the queries, in double precision."""
    given = [a.to(dtype).requires_grad_() for a in arguments]
    return torch.autograd.grad(call(*given), given[0], grad.to(dtype))[0].double()


def draw(rows: int, keys: int, dtype: torch.dtype) -> tuple[list[Tensor], Tensor]:
    shapes = [(1, rows, 16), (1, keys, 16), (1, keys, 16), (rows, keys)]
    return [torch.randn(s).to(dtype) for s in shapes], torch.randn(1, rows, 16).to(dtype)


@DTYPES
def test_where_one_key_has_all_the_weight_queries_have_no_gradient(
    dtype: torch.dtype, attention: tuple[Callable[..., Tensor], ModuleType]
) -> None:
    operator, runtime = attention
    torch.manual_seed(0)
    arguments, grad = draw(4, 5, dtype)
    arguments[3] = torch.zeros(4, 5)
    arguments[3][:, 2] = 1e4
    with runtime.use_backend("native"):
        found = gradient(operator, arguments, grad, dtype)
    assert not found.any()


@DTYPES
def test_gradients_are_as_near_as_those_of_torch(
    dtype: torch.dtype, attention: tuple[Callable[..., Tensor], ModuleType]
) -> None:
    operator, runtime = attention
    torch.manual_seed(0)
    ours, torchs = [], []
    for k in range(60):
        arguments, grad = draw(1 + k % 4, 2 + k % 5, dtype)
        true = gradient(eager, arguments, grad, torch.float64)
        with runtime.use_backend("native"):
            ours.append(float((gradient(operator, arguments, grad, dtype) - true).norm() / true.norm()))
        torchs.append(float((gradient(eager, arguments, grad, dtype) - true).norm() / true.norm()))
    assert median(ours) <= median(torchs)
