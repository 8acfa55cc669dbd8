"""How much memory an operator takes: what it saves for backward, and what it has at most beside arguments and results.

Also the two operators whose values over pairs of rows are never kept, as specs and as compositions of torch functions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

Operation = Callable[..., Tensor]

KERNEL_SUM = """
op: gaussian_rows
inputs: {x: {shape: [M, D]}, y: {shape: [N, D]}, b: {shape: [N, E]}}
params: {g: {type: float, default: 1.0}}
forward: |
  a[i, e] = sum[j](exp(-sum[d]((x[i, d] - y[j, d])**2)/(2*g**2))*b[j, e])
"""
ATTENTION = """
op: causal_rows
inputs: {q: {shape: [..., N, D]}, k: {shape: [..., N, D]}, v: {shape: [..., N, E]}}
forward: |
  o[..., i, e] = sum[j](softmax[j](where(j <= i, sum[d](q[..., i, d]*k[..., j, d])/sqrt(D), -inf))*v[..., j, e])
"""


@dataclass(frozen=True)
class Subject:
    """An operator to measure: its spec, the shapes of its inputs for N rows, and the composition it competes with."""

    spec: str
    widths: tuple[int, ...]
    composed: Operation

    def arguments(self, rows: int) -> list[Tensor]:
        torch.manual_seed(0)
        return [torch.randn(rows, width, requires_grad=True) for width in self.widths]

    def operation(self, folder: Path) -> tuple[Operation, Callable[[str], AbstractContextManager[None]]]:
        """The operator, generated under a folder and compiled, and what chooses its back end."""
        import opgen

        path = folder / "op.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.spec)
        found = opgen.load(path, compiled=True)
        assert callable(found)
        package = found.__module__.split(".", maxsplit=1)[0]
        return found, sys.modules[f"{package}._runtime"].use_backend


def kernel_sum(x: Tensor, y: Tensor, b: Tensor) -> Tensor:
    return torch.exp(-((x.unsqueeze(1) - y) ** 2).sum(-1) / 2) @ b


def causal_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = q @ k.mT / q.shape[-1] ** 0.5
    seen = torch.ones(scores.shape, dtype=torch.bool).tril()
    return torch.where(seen, scores, -torch.inf).softmax(-1) @ v


SUBJECTS = {
    "Gaussian kernel sum": Subject(KERNEL_SUM, (3, 3, 2), kernel_sum),
    "causal attention": Subject(ATTENTION, (64, 64, 64), causal_attention),
}


@dataclass(frozen=True)
class Memory:
    """Bytes: saved for backward beside inputs and outputs; and at most allocated beside results, by direction."""

    saved: int
    forward: int
    backward: int


def measure(operation: Operation, arguments: Sequence[Tensor]) -> Memory:
    """Run an operation and its gradient, and count."""
    saved: dict[int, int] = {}

    def note(t: Tensor) -> Tensor:
        saved[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes()
        return t

    with torch.autograd.graph.saved_tensors_hooks(note, lambda t: t):
        out = operation(*arguments)
    for t in (*arguments, out):
        saved.pop(t.untyped_storage().data_ptr(), None)
    grad = torch.ones_like(out)
    forward = _peak(lambda: [operation(*(a.detach() for a in arguments))])
    backward = _peak(lambda: list(torch.autograd.grad(out, arguments, grad)))
    return Memory(sum(saved.values()), forward, backward)


def _peak(run: Callable[[], list[Tensor]]) -> int:
    """The most that was allocated at a time, without what is given back."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    # torch 2.11 warns without acc_events
    with torch.profiler.profile(activities=activities, profile_memory=True, acc_events=True) as profiled:
        results = run()
    assert profiled.profiler is not None
    events = [e for e in profiled.profiler.kineto_results.events() if e.name() == "[memory]"]
    most = now = 0
    for e in sorted(events, key=lambda e: e.start_ns()):
        now += e.nbytes()
        most = max(most, now)
    return most - sum(t.untyped_storage().nbytes() for t in results)
