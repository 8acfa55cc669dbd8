"""Random specs as whole operators: packages with compiled libraries, called with batch dims and layouts of every kind.

The other checks of this folder call kernels. What stands around these in an operator (sizes and strides that are read,
what is allocated and kept, which gradients are asked for, how a call is routed) is compared with plain torch here.
"""

from __future__ import annotations

import importlib
import random
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from opgen import build, use_backend
from opgen.ir.program import Tensor
from opgen.ir.scalar import Batch
from opgen.toolchain.library import compile_op, without_kernels
from tests.random_programs.calls import check
from tests.random_programs.specs import Case

FULL = (2, 3)
BATCHES = ((2, 3), (), (3,), (1,), (2, 1), (1, 3), (1, 1))  # which broadcast to the first
CALLS = 6
TOLERANCE = 1e-7


@dataclass(frozen=True)
class Operator:
    """A spec, the package and the name that it was built under, and its inputs."""

    case: Case
    package: str
    name: str
    inputs: dict[str, Tensor]

    def declared(self, name: str) -> str:
        """The line of an input in the spec."""
        found = re.search(rf"^  {name}: .*", self.case.text, re.MULTILINE)
        assert found is not None
        return found[0]

    def batch_of(self, name: str, rng: random.Random) -> tuple[int, ...]:
        """The shape of an input in a call: batch dims of its own."""
        shape, t = self.case.shapes[name], self.inputs.get(name)
        if t is None or not any(isinstance(x, Batch) for x in t.shape):
            return shape
        at, own = [isinstance(x, Batch) for x in t.shape].index(True), len(shape) - (len(t.shape) - 1)
        return (*shape[:at], *rng.choice(BATCHES), *shape[at + own :])


def built(cases: Sequence[Case], folder: Path, package: str) -> list[Operator]:
    """The operators of some specs that have kernels, in one package, compiled."""
    made = []
    for k, case in enumerate(cases):
        name = f"made{k}"
        spec = folder / f"{name}.yaml"
        spec.write_text(re.sub(r"\Aop: made$", f"op: {name}", case.text, flags=re.MULTILINE))
        result = build(spec, folder / package)
        assert not result.failed, (result, case)
        if without_kernels(folder / package, name) is not None:
            continue
        compile_op(folder / package, name)
        operator = check(case).operator
        made.append(Operator(case, package, name, {t.name: t for v in operator.variants for t in v.program.inputs}))
    return made


def compare(o: Operator) -> None:
    """Values, gradients and gradients of these, in calls of mixed batch dims, layouts and inputs left out.

    The folder of the package is on the path.
    """
    rng = random.Random(zlib.crc32(o.case.text.encode()))
    f = getattr(importlib.import_module(f"{o.package}.{o.name}"), o.name)
    for k in range(CALLS):
        given = _arguments(o, rng, k)
        found = []
        for name in ("torch", "native"):
            with use_backend(name):
                found.append(_called(f, given))
        _same(o, given, *found)


@dataclass
class Arguments:
    """What a call is made with."""

    tensors: dict[str, torch.Tensor | None]
    wanted: tuple[str, ...]  # those whose gradients are asked for
    params: dict[str, object]

    def __repr__(self) -> str:
        shapes = {n: None if t is None else (tuple(t.shape), t.stride()) for n, t in self.tensors.items()}
        return f"{shapes}, gradients of {self.wanted}, {self.params}"


def _arguments(o: Operator, rng: random.Random, turn: int) -> Arguments:
    torch.manual_seed(rng.randrange(2**31))
    tensors: dict[str, torch.Tensor | None] = {}
    for name, shape in o.case.shapes.items():
        declared = o.declared(name)
        if "optional: true" in declared and rng.random() < 0.3:
            tensors[name] = None
            continue
        sizes = shape if turn == 0 else o.batch_of(name, rng)
        if "dtype: bool" in declared:
            t = torch.rand(sizes) < 0.5
        elif name in o.case.ranges:
            t = torch.randint(*o.case.ranges[name], sizes)
        else:
            t = torch.rand(sizes, dtype=torch.float64) * 2.8 - 1.4
        tensors[name] = _laid_out(t, rng)
    floats = [n for n, t in tensors.items() if t is not None and t.is_floating_point()]
    wanted = tuple(n for n in floats if turn < 2 or rng.random() < 0.6)
    return Arguments(tensors, wanted, {n: v for n, v in o.case.values.items() if f"\n  {n}:" in o.case.text})


def _laid_out(t: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """The same values with other strides."""
    how = rng.randrange(4)
    if how == 1 and t.dim() > 1:
        a, b = rng.sample(range(t.dim()), 2)
        return t.transpose(a, b).contiguous().transpose(a, b)
    if how == 2 and t.dim():
        return torch.stack((t, t), -1)[..., 0]
    if how == 3 and t.dim():
        return torch.cat((t, t))[: len(t)]
    return t


def _called(f: Callable[..., Any], given: Arguments) -> list[torch.Tensor] | Exception:
    own = {n: None if t is None else t.detach().requires_grad_(n in given.wanted) for n, t in given.tensors.items()}
    try:
        out = f(**own, **given.params)
        values = list(out) if isinstance(out, tuple) else [out]
        held = [v for v in values if v.requires_grad]
        inputs = [t for n, t in own.items() if t is not None and n in given.wanted]
        if not held or not inputs:
            return values
        once = _grad(held, inputs)
        twice = _grad([g for g in once if g.requires_grad], inputs)
        return [*values, *once, *twice]
    except (IndexError, RuntimeError) as e:
        return e


def _grad(of: Sequence[torch.Tensor], inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    if not of:
        return []
    weights = [torch.sin(torch.arange(v.numel(), dtype=v.dtype) + 1).view(v.shape) for v in of]
    found = torch.autograd.grad(of, inputs, weights, create_graph=True, allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for g, x in zip(found, inputs, strict=True)]


def _same(o: Operator, given: Arguments, ours: Any, theirs: Any) -> None:
    told = f"{o.case!r}{given!r}"
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        assert type(ours) is type(theirs), f"{ours!r} in torch, {theirs!r} compiled: {told}"
        return
    assert len(ours) == len(theirs), told
    for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        assert a.shape == b.shape, f"result {k}: {a.shape} in torch, {b.shape} compiled: {told}"
        assert a.dtype is b.dtype, f"result {k}: {a.dtype} in torch, {b.dtype} compiled: {told}"
        plain, compiled = a.detach().double(), b.detach().double()
        finite = plain[plain.isfinite()].abs()
        margin = TOLERANCE * (1 + float(finite.max() if len(finite) else 0))
        same = torch.allclose(plain, compiled, rtol=0, atol=margin, equal_nan=True)
        assert same, f"result {k}: {plain} in torch, {compiled} compiled: {told}"
