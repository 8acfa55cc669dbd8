"""One process of several that train a block of generated operators together; `test_training.py` starts them.

Every process writes what it found into a file of its own: the losses of all steps and the parameters at the end, as
tensor parallelism, FSDP2 or both give them, and as this process alone gives them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from processes import leave  # of the script's folder
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_module, distribute_tensor
from torch.distributed.tensor.parallel import ParallelStyle, parallelize_module
from torch.distributed.tensor.placement_types import Placement

BATCH, LENGTH, WIDTH, HIDDEN, STEPS = 4, 8, 12, 16, 4


class Block(nn.Module):
    """A norm and a gated unit, all of them generated."""

    def __init__(self, linear: type[nn.Module], norm: type[nn.Module], unit: Callable[..., Tensor]) -> None:
        super().__init__()
        self.unit = unit
        self.norm = norm(WIDTH)
        self.gate, self.up = linear(WIDTH, HIDDEN), linear(WIDTH, HIDDEN)
        self.down = linear(HIDDEN, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(x)
        return self.down(self.unit(self.gate(y), self.up(y)))


class Spread(ParallelStyle):
    """Parameters along these dims, whole where none is stated; what comes in and goes out is along dims as well."""

    def __init__(self, given: Placement, made: Placement | None = None, **dims: int) -> None:
        super().__init__()
        self.given, self.made, self.dims = given, made, dims
        self.seen: tuple[Placement, ...] = ()  # how the operator gives its result

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        return distribute_module(module, device_mesh, self._parameters, self._before, self._after)

    def _parameters(self, _name: str, module: nn.Module, mesh: DeviceMesh) -> None:
        for name, p in list(module.named_parameters(recurse=False)):
            placement = Shard(self.dims[name]) if name in self.dims else Replicate()
            module.register_parameter(name, nn.Parameter(distribute_tensor(p.detach(), mesh, [placement])))

    def _before(self, _module: nn.Module, inputs: tuple[Tensor, ...], mesh: DeviceMesh) -> Any:
        return tuple(
            x.redistribute(mesh, [self.given]) if isinstance(x, DTensor) else distribute_tensor(x, mesh, [self.given])
            for x in inputs
        )

    def _after(self, _module: nn.Module, result: DTensor, mesh: DeviceMesh) -> Any:
        self.seen = result.placements
        return result if self.made is None else result.redistribute(mesh, [self.made]).to_local()


def tensor_parallel(block: nn.Module, mesh: DeviceMesh) -> dict[str, Spread]:
    """Sequences are sliced in the norm, features in the gated unit; its last layer makes parts of a sum."""
    columns = Spread(Replicate(), weight=0, bias=0)
    plan = {"norm": Spread(Shard(1)), "gate": columns, "up": columns, "down": Spread(Shard(2), Replicate(), weight=1)}
    parallelize_module(block, mesh, plan)
    return plan


def check_slices(plan: dict[str, Spread]) -> None:
    """Did every process work on slices?"""
    assert plan["norm"].seen == (Shard(1),)
    assert plan["gate"].seen == (Shard(2),)
    assert plan["down"].seen == (Partial(),)


def samples() -> Iterator[tuple[Tensor, Tensor]]:
    generator = torch.Generator().manual_seed(1)
    for _ in range(STEPS):
        x, y = (torch.randn(BATCH, LENGTH, WIDTH, generator=generator, dtype=torch.float64) for _ in range(2))
        yield x, y


def train(block: nn.Module, part: slice) -> tuple[list[float], dict[str, list[float]]]:
    """Losses and final parameters, with this part of every batch."""
    optimiser = torch.optim.AdamW(block.parameters(), lr=0.05)
    losses = []
    for x, y in samples():
        optimiser.zero_grad()
        loss = (block(x[part]) - y[part]).square().mean()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    whole = {n: p.full_tensor() if isinstance(p, DTensor) else p for n, p in block.named_parameters()}
    return losses, {n: p.detach().flatten().tolist() for n, p in whole.items()}


def main(rank: int, world: int, folder: Path) -> None:
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", store=dist.FileStore(str(folder / "store"), world), rank=rank, world_size=world,
        timeout=timedelta(seconds=60),
    )  # fmt: skip
    from built.linear import Linear
    from built.rms_norm import RMSNorm
    from built.swiglu import swiglu

    def block() -> Block:
        torch.manual_seed(0)
        return Block(Linear, RMSNorm, swiglu).double()

    found = {"alone": train(block(), slice(None))}
    spread = block()
    if world == 2:  # the same processes one way, and then the other
        mesh = init_device_mesh("cpu", (2,))
        plan = tensor_parallel(spread, mesh)
        found["tensor parallel"] = train(spread, slice(None))
        check_slices(plan)
        spread, row = block(), rank
    else:
        both = init_device_mesh("cpu", (2, 2), mesh_dim_names=("rows", "features"))
        plan = tensor_parallel(spread, both["features"])
        mesh, row = both["rows"], rank // 2
    fully_shard(spread, mesh=mesh)
    part = BATCH // mesh.size()
    losses, parameters = train(spread, slice(row * part, (row + 1) * part))
    check_slices(plan)
    total = torch.tensor(losses, dtype=torch.float64)
    dist.all_reduce(total)
    found["fully sharded"] = (total / world).tolist(), parameters
    (folder / f"{rank}.json").write_text(json.dumps(found))
    leave()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
