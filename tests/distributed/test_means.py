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
    from torch.distributed.tensor import Shard, distribute_tensor
    from torch.distributed.tensor.debug import CommDebugMode

    package = build_operator(spec)
    loss = getattr(package, package.__name__.rpartition(".")[2])
    sharding = importlib.import_module(f"{package.__name__.rpartition('.')[0]}._testing.sharding")
    x, y = torch.randn(8, 3).requires_grad_(), torch.randn(8, 3).requires_grad_()
    expected = loss(x, y)
    grads = torch.autograd.grad(expected, (x, y))
    with sharding.simulated(2) as mesh:
        spread = [distribute_tensor(t.detach(), mesh, [Shard(0)]).requires_grad_() for t in (x, y)]
        with CommDebugMode() as talk:
            found = loss(*spread)
            made = torch.autograd.grad(found, spread, torch.ones_like(found))
        assert not any("gather" in str(name) for name in talk.get_comm_counts())
        assert all(g.placements == (Shard(0),) for g in made)
        torch.testing.assert_close([sharding._whole(t) for t in (found, *made)], [expected.detach(), *grads])
