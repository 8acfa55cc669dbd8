"""Compiled, a product of 16 bits in front of more arithmetic is rounded where torch rounds its own: after its bias."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType

import pytest
import torch
from torch.nn.functional import conv1d, linear

from opgen import build
from opgen.toolchain.library import compile_op
from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SPEC = """
op: hidden
inputs:
  x: {shape: [N, K]}
  w: {shape: [M, K]}
  b: {shape: [M]}
  h: {shape: [N, M]}
  signal: {shape: [N, K, T]}
  kernel: {shape: [M, K, R]}
dims: {P: T - R + 1}
outputs: {plain: {}, gated: {}, through: {}}
forward: |
  plain[n, m] = tanh(sum[k](x[n, k]*w[m, k]) + b[m])
  gated[n, m] = sigmoid(sum[k](signal[n, k, 0]*w[m, k]) + b[m] - h[n, m])
  through[n, m, p < P] = tanh(sum[k, r](signal[n, k, p + r]*kernel[m, k, r]) + b[m])
"""


@pytest.fixture(scope="module")
def hidden(tmp_path_factory: pytest.TempPathFactory) -> tuple[Callable[..., tuple[torch.Tensor, ...]], ModuleType]:
    folder = tmp_path_factory.mktemp("products")
    (folder / "hidden.yaml").write_text(SPEC)
    assert not build(folder / "hidden.yaml", folder / "products").failed
    compile_op(folder / "products", "hidden")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        found = importlib.import_module("products.hidden"), importlib.import_module("products._runtime")
    return found[0].hidden, found[1]


def eager(
    x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, h: torch.Tensor, signal: torch.Tensor, kernel: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    return linear(x, w, b).tanh(), (linear(signal[:, :, 0], w, b) - h).sigmoid(), conv1d(signal, kernel, b).tanh()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_no_result_is_further_off_than_that_of_torch(
    dtype: torch.dtype, hidden: tuple[Callable[..., tuple[torch.Tensor, ...]], ModuleType]
) -> None:
    """Biases cancel the products of a row, so that what was rounded before them would be all there is."""
    operator, runtime = hidden
    torch.manual_seed(0)
    x, w, h = torch.randn(4, 64), torch.randn(16, 64), torch.zeros(4, 16)
    kernel = torch.randn(16, 64, 1)
    x, w, kernel = (t.to(dtype) for t in (x, w, kernel))
    b = -linear(x[0].double(), w.double()).to(dtype)
    signal = torch.stack([x.T] * 4).contiguous()
    with torch.no_grad():
        kernel[:, :, 0] = w
    arguments = (x, w, b, h.to(dtype), signal, kernel)
    true = eager(*(t.double() for t in arguments))
    with runtime.use_backend("native"):
        found = operator(*arguments)
    for ours, torchs, want in zip(found, eager(*arguments), true, strict=True):
        limit = (torchs.double() - want).abs().max()
        assert (ours.double() - want).abs().max() <= 1.01 * limit + torch.finfo(dtype).tiny
