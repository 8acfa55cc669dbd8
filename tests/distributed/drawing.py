"""One process of two that draw random numbers together; `test_random_numbers.py` starts them.

Every process compares, bit by bit, what an operator makes of tensors in two slices with what it makes of the whole
ones, values and gradients. It writes how many comparisons it made, and how many results came in slices.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from processes import leave  # of the script's folder
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.placement_types import Placement

SEED = 2**40 + 11
SHAPES = {  # of the float inputs; sizes of which half a vector is left over
    "dropout_residual": ((6, 10, 14), (6, 10, 14)),
    "gumbel_softmax": ((6, 10, 14),),
    "stochastic_round": ((6, 10, 14),),
    "all_places": ((6, 10, 14), (14,)),
    "few_places": ((6, 10, 14), (14,)),
}
PARAMS: dict[str, tuple[dict[str, Any], ...]] = {
    "dropout_residual": ({"p": 0.4}, {"training": False}),
    "gumbel_softmax": ({"tau": 0.7}, {"hard": True}),
    "stochastic_round": ({"step": 0.25},),
}


def ways(shapes: tuple[tuple[int, ...], ...]) -> Iterator[tuple[Placement, ...]]:
    """All tensors whole, or those of most dims in slices along each of them; the others slice the same dim."""
    most = max(map(len, shapes))
    yield tuple(Replicate() for _ in shapes)
    for dim in range(most):
        yield tuple(Shard(own) if (own := dim - most + len(s)) >= 0 else Replicate() for s in shapes)


def run(op: Callable[..., Any], inputs: list[Tensor], seed: Any, params: dict[str, Any]) -> list[Tensor]:
    """The results and the gradients of their sum."""
    leaves = [x.detach().requires_grad_() for x in inputs]
    made = op(*leaves, seed, **params)
    results = list(made) if isinstance(made, tuple) else [made]
    total = sum(r.sin().sum() for r in results if r.requires_grad)
    assert isinstance(total, Tensor)
    return [*results, *torch.autograd.grad(total, leaves)]


def whole(t: Tensor) -> Tensor:
    return t.full_tensor() if isinstance(t, DTensor) else t


def compare(name: str, op: Callable[..., Any], dtype: torch.dtype, mesh: DeviceMesh, found: dict[str, int]) -> None:
    generator = torch.Generator().manual_seed(1)
    inputs = [torch.randn(s, generator=generator, dtype=torch.float64).to(dtype) for s in SHAPES[name]]
    for params in PARAMS.get(name, ({},)):
        for given in (torch.tensor(SEED), None):
            torch.manual_seed(4)
            expected = run(op, inputs, given, params)
            for placements in ways(SHAPES[name]):
                spread = [distribute_tensor(x, mesh, [p]) for x, p in zip(inputs, placements, strict=True)]
                seed = None if given is None else distribute_tensor(given, mesh, [Replicate()])
                torch.manual_seed(4)
                made = run(op, spread, seed, params)
                what = f"{name} {params} of {dtype}, {placements}, seed {given}"
                for k, (a, b) in enumerate(zip_longest(made, expected)):
                    if k >= len(made) - len(inputs) and b.shape != inputs[0].shape:  # a sum, in another order
                        margin = 10 * torch.finfo(dtype).eps
                        torch.testing.assert_close(whole(a), b, rtol=margin, atol=margin)
                        continue
                    assert torch.equal(whole(a), b), f"{what}: result {k} is not the same"
                    found["compared"] += 1
                found[name] = found.get(name, 0) + sum(p.is_shard() for r in made for p in r.placements)  # type: ignore[attr-defined]


def main(rank: int, folder: Path, backend: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", store=dist.FileStore(str(folder / f"store_{backend}"), 2), rank=rank, world_size=2,
        timeout=timedelta(seconds=60),
    )  # fmt: skip
    runtime = import_module("drawn._runtime")
    mesh = init_device_mesh("cpu", (2,))
    found = {"compared": 0}
    before = runtime.calls("native")
    with runtime.use_backend(backend):
        for name in SHAPES:
            op = getattr(import_module(f"drawn.{name}"), name)
            for dtype in (torch.float32, torch.float64, torch.bfloat16):
                compare(name, op, dtype, mesh, found)
    found["native"] = runtime.calls("native") - before
    (folder / f"{backend}_{rank}.json").write_text(json.dumps(found))
    leave()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
