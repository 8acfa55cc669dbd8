"""A training step of a small Llama with generated operators in place of torch's functions: eager and `torch.compile`.

    python benchmarks/llama.py [--write] [--threads 1]

Generated operators are the norms with their residuals, the rotary embedding, attention, the gate and the loss; matrix
products are torch's own throughout. Prints a Markdown table; `--write` puts it into `benchmarks/results/llama.json`.
In each round every form runs in turn; a ratio is the median over rounds of the ratios within a round to the stock
model, eager to eager and compiled to compiled, with the quartiles. `compiled, inlined` has the formulas of the
operators in the graph (`set_inline`), `compiled` their kernels as opaque calls.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

import opgen
from opgen.bench.timing import Contender, Effort, interleaved, ratio

ROOT = Path(__file__).resolve().parent.parent
LAYERS, WIDTH, HIDDEN, HEADS, WORDS, BATCH, LENGTH = 4, 256, 704, 4, 4096, 2, 256
EPS = 1e-6
Call = Callable[[], Any]


@dataclass(frozen=True)
class Parts:
    """What the two models do differently."""

    added_norm: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
    rope: Callable[[Tensor, Tensor, Tensor], Tensor]
    attention: Callable[[Tensor, Tensor, Tensor], Tensor]
    gate: Callable[[Tensor, Tensor], Tensor]
    loss: Callable[[Tensor, Tensor], Tensor]


def stock() -> Parts:
    def added_norm(x: Tensor, residual: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
        hidden = x + residual
        return functional.rms_norm(hidden, (WIDTH,), weight, EPS), hidden

    def rope(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        low, high = x.chunk(2, dim=-1)
        return torch.cat((low * cos - high * sin, high * cos + low * sin), dim=-1)

    return Parts(
        added_norm,
        rope,
        lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True),
        lambda gate, up: functional.silu(gate) * up,
        functional.cross_entropy,
    )


def generated(folder: Path) -> tuple[Parts, ModuleType]:
    """The generated operators, compiled in a package of their own, and its runtime."""
    names = ("rms_norm_residual", "rope", "attention", "swiglu", "cross_entropy")
    package = folder / "llama_ops"
    opgen.build([ROOT / "specs" / f"{n}.yaml" for n in names], package)
    opgen.compile(out=package)
    sys.path.insert(0, str(folder))
    norm, rope, attention, gate, loss = (getattr(importlib.import_module(f"llama_ops.{n}"), n) for n in names)
    parts = Parts(
        lambda x, residual, weight: norm(x, residual, weight, eps=EPS),
        rope,
        lambda q, k, v: attention(q, k, v, is_causal=True),
        gate,
        loss,
    )
    return parts, importlib.import_module("llama_ops._runtime")


class Block(nn.Module):
    """Attention and a gated network, each behind a norm that adds the residual first."""

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.parts = parts
        self.first, self.second = (nn.Parameter(torch.ones(WIDTH)) for _ in range(2))
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.gate, self.up = (nn.Linear(WIDTH, HIDDEN, bias=False) for _ in range(2))
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x: Tensor, residual: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
        p = self.parts
        normed, hidden = p.added_norm(x, residual, self.first)
        q, k, v = self.qkv(normed).view(*x.shape[:-1], 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        mixed = p.attention(p.rope(q, cos, sin), p.rope(k, cos, sin), v)
        normed, hidden = p.added_norm(self.out(mixed.transpose(1, 2).flatten(-2)), hidden, self.second)
        return self.down(p.gate(self.gate(normed), self.up(normed))), hidden


class Llama(nn.Module):
    """Its mean loss for the next words."""

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.parts = parts
        self.words = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.ModuleList(Block(parts) for _ in range(LAYERS))
        self.last = nn.Parameter(torch.ones(WIDTH))
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        planes = WIDTH // HEADS // 2
        angles = torch.arange(LENGTH)[:, None] * 10000.0 ** (-torch.arange(planes) / planes)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, ids: Tensor) -> Tensor:
        x = self.words(ids[:, :-1])
        residual = torch.zeros_like(x)
        for block in self.blocks:
            x, residual = block(x, residual, self.cos, self.sin)
        x, _ = self.parts.added_norm(x, residual, self.last)
        return self.parts.loss(self.head(x).flatten(0, 1), ids[:, 1:].flatten())


def step(model: nn.Module, ids: Tensor) -> Call:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def run() -> None:
        optimizer.zero_grad()
        model(ids).backward()
        optimizer.step()

    return run


def model(parts: Parts) -> Llama:
    torch.manual_seed(0)
    return Llama(parts)


def agree(ids: Tensor, ours: Parts) -> None:
    """The two models compute the same loss and gradients."""
    losses = [m(ids) for m in (model(stock()), model(ours))]
    torch.testing.assert_close(losses[1], losses[0], rtol=1e-5, atol=1e-5)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep the figures under benchmarks/results")
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    asked = arguments()
    torch.set_num_threads(asked.threads)
    with tempfile.TemporaryDirectory() as name:
        rows = measured(*generated(Path(name)))
    if asked.write:
        path = ROOT / "benchmarks" / "results" / "llama.json"
        path.write_text(json.dumps({"threads": asked.threads, "forms": rows}, indent=1) + "\n", "utf-8")


def measured(ours: Parts, runtime: ModuleType) -> list[dict[str, Any]]:
    """The rows of the table, printed as well."""
    ids = torch.randint(WORDS, (BATCH, LENGTH + 1))
    agree(ids, ours)
    forms: list[tuple[str, str, Parts, bool, Callable[[], AbstractContextManager[Any]]]] = [
        ("stock", "", stock(), False, nullcontext),
        ("generated", "stock", ours, False, nullcontext),
        ("stock, compiled", "", stock(), True, nullcontext),
        ("generated, compiled", "stock, compiled", ours, True, nullcontext),
        ("generated, compiled, inlined", "stock, compiled", ours, True, lambda: runtime.set_inline(True)),
    ]
    contenders = []
    for name, _, parts, compiled, around in forms:
        made = model(parts)
        contenders.append(Contender(name, step(torch.compile(made) if compiled else made, ids), around))
    found = interleaved(contenders, Effort(rounds=21, seconds=120))
    rows = []
    print("| form | ms a step | against stock |\n|---|---|---|")
    for name, against, *_ in forms:
        q = ratio(found[name], found[against]) if against else None
        shown = f"{q.median:.2f} ({q.low:.2f}–{q.high:.2f})" if q else ""
        ms = 1e3 * sorted(found[name])[len(found[name]) // 2]
        print(f"| {name} | {ms:.1f} | {shown} |")
        rows.append({"form": name, "ms": round(ms, 2), "ratio": q and [round(v, 3) for v in (q.low, q.median, q.high)]})
    return rows


if __name__ == "__main__":
    main()
