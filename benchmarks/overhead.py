"""What a call costs: compiled operators on 32 elements against torch's own, in one process.

    python benchmarks/overhead.py [--write]

Prints a Markdown table of ratios; `--write` puts it into `benchmarks/results/overhead.json`. In each round every
function runs in turn, for as many calls as take some milliseconds; a ratio is the median over rounds of the ratios
within a round, its spread the distance of the quartiles.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

import opgen

ROOT = Path(__file__).resolve().parent.parent
ROUNDS, CALLS = 61, 1000
Call = Callable[[], Any]


def subjects() -> dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[torch.Tensor, ...]]]:
    """Of each operator: the generated one, torch's own, and operands of 32 elements in all."""
    vector, matrix = torch.randn(32), torch.randn(4, 8)
    return {
        "silu": (load("silu"), functional.silu, (vector,)),
        "gelu": (load("gelu"), functional.gelu, (vector,)),
        "softmax": (load("softmax"), lambda x: functional.softmax(x, -1), (matrix,)),
        "linear": (load("linear"), functional.linear, (torch.randn(2, 8), torch.randn(4, 8))),
        "rms_norm": (load("rms_norm"), lambda x, w: functional.rms_norm(x, (8,), w, 1e-6), (matrix, torch.randn(8))),
    }


def load(name: str) -> Callable[..., Any]:
    return opgen.load(ROOT / "specs" / f"{name}.yaml").function


def forms(f: Callable[..., Any], tensors: tuple[torch.Tensor, ...]) -> dict[str, Call]:
    leaves = tuple(t.clone().requires_grad_() for t in tensors)
    weight = torch.ones_like(f(*tensors))

    def no_grad() -> Any:
        return f(*tensors)

    def with_grad() -> Any:
        return f(*leaves)

    def both() -> Any:
        return torch.autograd.grad(f(*leaves), leaves, weight)

    return {"forward": no_grad, "forward with grad": with_grad, "forward and backward": both}


def seconds(call: Call) -> float:
    start = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - start) / CALLS


def ratios(pairs: dict[str, tuple[Call, Call]]) -> dict[str, dict[str, float]]:
    """Of each pair: the median time of both, and the ratio with its quartiles."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in pairs}
    for _ in range(ROUNDS):
        for name, (ours, theirs) in pairs.items():
            taken[name].append((seconds(ours), seconds(theirs)))
    found = {}
    for name, times in taken.items():
        low, middle, high = statistics.quantiles([a / b for a, b in times], n=4)
        ours, theirs = (statistics.median(t[k] for t in times) * 1e6 for k in (0, 1))
        found[name] = {"ours_us": ours, "torch_us": theirs, "ratio": middle, "low": low, "high": high}
    return found


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep the figures under benchmarks/results")
    return parser.parse_args()


def main() -> None:
    write = arguments().write
    torch.set_num_threads(1)
    pairs = {}
    for name, (ours, theirs, tensors) in subjects().items():
        for form, call in forms(ours, tensors).items():
            pairs[f"{name}, {form}"] = (call, forms(theirs, tensors)[form])
    found = ratios(pairs)
    print("| call | opgen, µs | torch, µs | ratio | quartiles |\n|---|---|---|---|---|")
    for name, r in found.items():
        times = f"{r['ours_us']:.2f} | {r['torch_us']:.2f}"
        print(f"| {name} | {times} | {r['ratio']:.2f} | {r['low']:.2f} … {r['high']:.2f} |")
    if write:
        path = ROOT / "benchmarks" / "results" / "overhead.json"
        rounded = {name: {k: round(v, 3) for k, v in r.items()} for name, r in found.items()}
        path.write_text(json.dumps({"torch": torch.__version__, "calls": rounded}, indent=1) + "\n")


if __name__ == "__main__":
    main()
