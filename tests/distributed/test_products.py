"""A vector times a matrix of which every device has some columns: gradients of gradients are those of one device."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType

import pytest
import torch

pytest.importorskip("torch.distributed._local_tensor")
SPEC = """
op: vector_times_matrix
inputs: {w: {shape: [H, N]}, x: {shape: [H]}}
forward: y[n] = sum[h](w[h, n]*x[h])
"""


def test_a_vector_times_columns(build_operator: Callable[[str], ModuleType]) -> None:
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    package = build_operator(SPEC)
    sharding = importlib.import_module(f"{package.__name__.rpartition('.')[0]}._testing.sharding")
    alone = [torch.rand(3, 4).requires_grad_(), torch.rand(3).requires_grad_()]

    def twice(w: torch.Tensor, x: torch.Tensor) -> list[torch.Tensor]:
        y = package.vector_times_matrix(w, x)
        grads = torch.autograd.grad((y * y).sum(), (w, x), create_graph=True)
        return [y, *grads, *torch.autograd.grad(sum((g * g).sum() for g in grads), (w, x))]

    with sharding.simulated(2) as mesh:
        spread = [
            distribute_tensor(t.detach(), mesh, [p]).requires_grad_()
            for t, p in zip(alone, (Shard(1), Replicate()), strict=True)
        ]
        torch.testing.assert_close([sharding._whole(t) for t in twice(*spread)], twice(*alone))
