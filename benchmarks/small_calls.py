"""What the choice by size is worth: operators whose loops are slower in kernels, from small calls to medium ones.

    python benchmarks/small_calls.py [--write] [--rounds N] [OP...]

Measures the compiled operators of `generated` with a direction that `auto` leaves to torch on a CPU unless a call is
small, on one thread, at sizes between the small and the medium one of `backends_subjects`. In each round the back ends
`auto`, `native` and `torch` run in turn, for as many calls as take some milliseconds, by the time that the processor
spent; a ratio is the median over rounds of ratios within a round, with its quartiles. Where `auto` runs what torch
runs, its ratio is what the machine disturbs. `--write` keeps the table under
`benchmarks/results`.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402

from benchmarks.backends import LEAST, Call, calls, chosen, keep_memory, seconds  # noqa: E402
from benchmarks.backends_subjects import SUBJECTS, Size, operands, params  # noqa: E402
from generated import _runtime  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "small_calls.md"
STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)
BACK_ENDS = ("auto", "native", "torch")
HEAD = """| operator | direction | elements | auto runs | auto / torch | kernel / torch | torch, µs |
|---|---|---|---|---|---|---|"""


def between(small: Size, medium: Size, step: float) -> dict[str, Any]:
    """A size on the way: powers of two times the small one, so that dims that hang together still do."""

    def grown(a: Any, b: Any) -> Any:
        if isinstance(a, tuple):
            return tuple(map(grown, a, b))
        return b if step == 1.0 or a == b else a * 2 ** round(step * math.log2(b / a))

    return {k: grown(v, medium[k]) for k, v in small.items()}


def taken(call: Call, number: int) -> dict[str, list[float]]:
    """The times of each back end, by round."""
    counts = {}
    for name in BACK_ENDS:
        with _runtime.use_backend(name):
            call()
            counts[name] = max(1, min(1000, round(LEAST / max(seconds(call, 2, time.perf_counter), 1e-7))))
    found: dict[str, list[float]] = {name: [] for name in BACK_ENDS}
    for k in range(number):
        for name in BACK_ENDS[:: 1 if k % 2 else -1]:
            with _runtime.use_backend(name):
                call()  # what the change of back ends left in the caches is not to count
                found[name].append(seconds(call, counts[name], time.process_time))
    return found


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> str:
    low, middle, high = statistics.quantiles([a / b for a, b in zip(ours, theirs, strict=True)], n=4)
    return f"{middle:.2f} ({low:.2f} … {high:.2f})"


def lines(name: str, number: int) -> Iterator[str]:
    """The rows of one operator."""
    function, subject = getattr(import_module(f"generated.{name}"), name), SUBJECTS[name]
    definition = _runtime.entry(name).definition
    sized = {w: getattr(definition, f"{w}_excess") is not None for w in ("forward", "backward")}
    if _runtime.kernel(name, "forward") is None or not any(sized.values()):
        return
    for step in STEPS:
        torch.manual_seed(0)
        size = between(subject.sizes[0], subject.sizes[1], step)
        given = operands(name, subject, size)
        most = max(g.numel() for g in given if g is not None)
        for direction, call in calls(function, given, params(subject, size)).items():
            if sized[direction]:
                t = taken(call, number)
                ratios = f"{ratio(t['auto'], t['torch'])} | {ratio(t['native'], t['torch'])}"
                plain = 1e6 * statistics.median(t["torch"])
                yield f"| {name} | {direction} | {most} | {chosen(call)} | {ratios} | {plain:.0f} |"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep the table under benchmarks/results")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("ops", nargs="*", metavar="OP")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    keep_memory()
    torch.set_num_threads(1)
    print(HEAD)
    found = []
    for name in given.ops or SUBJECTS:
        for row in lines(name, given.rounds):
            print(row, flush=True)
            found.append(row)
    if given.write:
        RESULT.write_text("\n".join((HEAD, *found, "")), encoding="utf-8")


if __name__ == "__main__":
    main()
