"""Losses that are means over a batch that is spread over devices: parts are averaged, and no slice is gathered."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType

import pytest
import torch

pytest.importorskip("torch.distributed._local_tensor")
MEAN = """
op: mean_loss
inputs: {x: {shape: [N, C]}, y: {shape: [N, C]}}
forward: loss = mean[n, c]((x[n, c] - y[n, c])**2)
"""
RATIO = """
op: ratio_loss
inputs: {x: {shape: [N, C]}, y: {shape: [N, C]}}
forward: loss = sum[n, c](x[n, c]**2)/sum[n, c](y[n, c]**2)
"""


@pytest.mark.parametrize("spec", [MEAN, RATIO])
def test_nothing_is_gathered(build_operator: Callable[[str], ModuleType], spec: str) -> None:
    package = build_operator(spec)
    loss = getattr(package, package.__name__.rpartition(".")[2])
    sharding = importlib.import_module(f"{package.__name__.rpartition('.')[0]}._testing.sharding")
    check(loss, sharding, [torch.randn(8, 3).requires_grad_(), torch.randn(8, 3).requires_grad_()], 2)


@pytest.mark.parametrize("ignored", [0, 3])
def test_no_logits_are_gathered(ignored: int) -> None:
    """A weighted mean over the elements that count, whose number is spread as well."""
    from generated._testing import sharding
    from generated.cross_entropy import cross_entropy

    x, target, weight = torch.randn(8, 5).requires_grad_(), torch.arange(8) % 5, torch.rand(5)
    target[:ignored] = -100  # more in one part than in the other
    check(cross_entropy, sharding, [x, target, weight], 2)


def check(loss: Callable[..., torch.Tensor], sharding: ModuleType, tensors: list[torch.Tensor], spread: int) -> None:
    """Values and gradients are those of whole tensors; the first `spread` tensors are split along their first dim."""
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor
    from torch.distributed.tensor.debug import CommDebugMode

    expected = loss(*tensors)
    grads = torch.autograd.grad(expected, [t for t in tensors if t.requires_grad])
    with sharding.simulated(2) as mesh:
        placed = [Shard(0) if k < spread else Replicate() for k in range(len(tensors))]
        parts = [
            distribute_tensor(t.detach(), mesh, [p]).requires_grad_(t.requires_grad)
            for t, p in zip(tensors, placed, strict=True)
        ]
        with CommDebugMode() as talk:
            found = loss(*parts)
            made = torch.autograd.grad(found, [t for t in parts if t.requires_grad], torch.ones_like(found))
        assert not any("gather" in str(name) for name in talk.get_comm_counts())
        assert all(g.placements == (Shard(0),) for g in made)
        torch.testing.assert_close([sharding._whole(t) for t in (found, *made)], [expected.detach(), *grads])
