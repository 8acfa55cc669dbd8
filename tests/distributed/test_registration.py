"""When the rules reach DTensor: not before it is imported, and in time for the first call."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.thorough

LOSS = """
op: spread_loss
inputs: [x, y]
params: {reduction: {choices: [mean, sum, none]}}
forward: loss = reduction[...]((x - y)**2)
"""
SCAN = """
op: spread_scan
inputs: {x: {shape: [T]}}
forward: y[t] = cumsum[t](x[t])
"""
CODE = """
import sys
import torch
from PACKAGE.spread_loss import spread_loss
from PACKAGE.spread_scan import spread_scan
assert "torch.distributed.tensor" not in sys.modules
import torch.distributed as dist
from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
mesh = dist.init_device_mesh("cpu", (1,))
x, y = torch.randn(4, 6), torch.randn(4, 6)
a, b = (distribute_tensor(t, mesh, [Shard(0)]) for t in (x, y))
expected = {"none": (Shard(0),), "sum": (Partial(),), "mean": (Partial("avg"),)}
whole_mean = (Replicate(),)  # in inference mode there is no autograd on the way
for mode in (torch.inference_mode, torch.enable_grad):
    with mode():
        for reduction in ("none", "sum", "mean", "none", "sum"):
            found = spread_loss(a, b, reduction=reduction)
            inference = reduction == "mean" and torch.is_inference_mode_enabled()
            assert found.placements == (whole_mean if inference else expected[reduction]), (reduction, found.placements)
            torch.testing.assert_close(found.full_tensor(), spread_loss(x, y, reduction=reduction))
a.requires_grad_(), b.requires_grad_()  # masks of needed gradients are told apart
first, second = spread_loss(a, b, reduction="none"), spread_loss(a, b.detach(), reduction="none")
assert all(g.placements == (Shard(0),) for g in torch.autograd.grad(first.sum(), (a, b)))
(only,) = torch.autograd.grad(second.sum(), (a,))
torch.testing.assert_close(only.full_tensor(), 2 * (x - y))
long = distribute_tensor(x[0], mesh, [Shard(0)])
whole = spread_scan(long)
assert whole.placements == (Replicate(),)
torch.testing.assert_close(whole.full_tensor(), x[0].cumsum(0))
batched = torch.vmap(spread_scan)(distribute_tensor(x, mesh, [Shard(1)]))
torch.testing.assert_close(batched.full_tensor(), x.cumsum(1))
"""


def test_rules_are_handed_over_with_the_first_call(build_operator: Callable[[str], ModuleType]) -> None:
    module = build_operator(LOSS)
    build_operator(SCAN)
    package, root = module.__name__.rsplit(".", 1)[0], Path(str(module.__file__)).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", CODE.replace("PACKAGE", package)],
        env=os.environ | {"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
