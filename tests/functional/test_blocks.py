"""Plain formulas of large tensors on the CPU run a block of rows at a time, with the same results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from generated import _runtime
from generated._runtime import blocks
from generated.cross_entropy import cross_entropy
from generated.rms_norm import rms_norm
from generated.softmax import softmax
from generated.swiglu import swiglu

CALLS: dict[str, tuple[Callable[..., Any], tuple[int, ...], int]] = {
    "swiglu": (swiglu, (5, 1000), 2),
    "softmax": (softmax, (3, 7, 64), 1),
    "rms_norm": (rms_norm, (50, 40), 1),
}


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The sizes of the blocks; everything counts as large."""
    sizes: list[int] = []
    own = blocks._formula

    def formula(op: Any, args: Any) -> Any:
        sizes.append(args[0].shape[0])
        return own(op, args)

    monkeypatch.setattr(blocks, "_formula", formula)
    monkeypatch.setattr(blocks, "LARGE", 1)
    monkeypatch.setattr(blocks, "ELEMENTS", max(1, 1280 // torch.get_num_threads()))
    with _runtime.use_backend("torch"):
        yield sizes


def results(name: str, dtype: torch.dtype) -> list[torch.Tensor]:
    f, shape, count = CALLS[name]
    torch.manual_seed(0)
    args = [torch.randn(shape, dtype=dtype).requires_grad_() for _ in range(count)]
    y = f(*args)
    return [y, *torch.autograd.grad(y, args, torch.randn(shape, dtype=dtype))]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
@pytest.mark.parametrize("name", CALLS)
def test_blocks_give_the_same(
    name: str, dtype: torch.dtype, counted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = results(name, dtype)
    assert len(counted) >= 4
    monkeypatch.setattr(blocks, "LARGE", 1 << 30)
    del counted[:]
    want = results(name, dtype)
    assert len(counted) == 2
    for a, b in zip(found, want, strict=True):
        torch.testing.assert_close(a, b)
        assert a.stride() == b.stride()


def test_rows_that_need_one_another_stay_together(counted: list[int]) -> None:
    torch.manual_seed(0)
    logits, labels = torch.randn(300, 10, requires_grad=True), torch.randint(10, (300,))
    loss = cross_entropy(logits, labels)
    assert counted == [300]
    assert loss.item() == pytest.approx(torch.nn.functional.cross_entropy(logits, labels).item(), rel=1e-5)
    x, weight = torch.randn(300, 40), torch.randn(40, requires_grad=True)
    rms_norm(x, weight).sum().backward()  # the gradient of the weight is a sum over all rows
    assert counted[-1] == 300


def test_operands_that_broadcast_or_lie_otherwise_come_whole(counted: list[int]) -> None:
    a, b = torch.randn(40, 100), torch.randn(100)
    torch.testing.assert_close(swiglu(a, b), torch.nn.functional.silu(a) * b)
    t = torch.randn(100, 40).t()
    torch.testing.assert_close(swiglu(t, a), torch.nn.functional.silu(t) * a)
    assert counted == [40, 40]
