"""Where compiled kernels are faster than the same operators in plain torch: forward and backward, on a CPU.

    python benchmarks/backends.py [--write] [--rounds N] [OP...]

Measures the compiled operators of `generated` (default: all in `backends_subjects` that are compiled) at three sizes,
with one thread and with two (`--threads`), and prints a row for each. In each round the kernel and the plain form run
in turn, for as many calls as take a few milliseconds; a ratio is the median over rounds of kernel / plain within a
round, and what comes out within 10 % of 1 gets three times as many rounds. With one thread it is of the time that the
processor spent, which other programs on the machine disturb little, with two of the time on the clock. A gradient
includes what autograd itself takes. The last table says how often the choice of `auto` (`opgen.plan.speed`) is the
faster one; `--write` puts the rows into `benchmarks/results/backends.json`, beside those that were not measured now.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that wait let others run

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.backends_subjects import SUBJECTS, Subject, operands, params  # noqa: E402
from generated import _runtime  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "backends.json"
SIZES = ("small", "medium", "large")
LEAST, MOST = 2e-3, 1.0  # seconds of calls in a round, and of rounds after the first five
Call = Callable[[], Any]


@dataclass(frozen=True)
class Row:
    """Kernel / plain at one size; `low` and `high` are the quartiles of the rounds, times those of one call."""

    op: str
    direction: str
    size: str
    threads: int
    ratio: float
    low: float
    high: float
    kernel_us: float
    plain_us: float
    auto: str  # what `auto` chooses

    @property
    def cost(self) -> float:
        """The time of what is chosen / that of the other one."""
        return self.ratio if self.auto == "native" else 1 / max(self.ratio, 1e-3)


def calls(function: Callable[..., Any], given: Sequence[Any], stated: dict[str, Any]) -> dict[str, Call]:
    """The forward and, if there is one, the backward call."""
    plain = [g if g is None else g.detach() for g in given]
    found: dict[str, Call] = {"forward": lambda: function(*plain, **stated)}
    leaves = [g for g in given if g is not None and g.requires_grad]
    outputs = function(*given, **stated)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    smooth = [y for y in outputs if y.requires_grad]
    if smooth and leaves:
        grads = [torch.randn_like(y) for y in smooth]
        found["backward"] = lambda: torch.autograd.grad(smooth, leaves, grads, retain_graph=True, allow_unused=True)
    return found


def seconds(call: Call, count: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(count):
        call()
    return (clock() - start) / count


def rounds(call: Call, number: int, clock: Callable[[], float]) -> list[tuple[float, float]]:
    """The times of kernel and plain form in each round."""
    counts = {}
    for back_end in ("native", "torch"):
        with _runtime.use_backend(back_end):
            call()
            counts[back_end] = max(1, min(1000, round(LEAST / max(seconds(call, 2, time.perf_counter), 1e-7))))
    found: list[tuple[float, float]] = []
    begun = time.perf_counter()
    for k in range(number):
        if k >= 5 and time.perf_counter() - begun > MOST:
            break
        taken = {}
        for back_end in ("native", "torch") if k % 2 else ("torch", "native"):
            with _runtime.use_backend(back_end):
                taken[back_end] = seconds(call, counts[back_end], clock)
        found.append((taken["native"], taken["torch"]))
    return found


def chosen(call: Call) -> str:
    """What runs where nothing is asked for."""
    before = _runtime.calls("native")
    call()
    return "native" if _runtime.calls("native") > before else "torch"


def row(name: str, direction: str, size: str, threads: int, call: Call, number: int) -> Row:
    clock = time.process_time if threads == 1 else time.perf_counter
    taken = rounds(call, number, clock)
    if 0.9 < statistics.median(a / b for a, b in taken) < 1.1:
        taken += rounds(call, 2 * number, clock)
    low, middle, high = (round(q, 3) for q in statistics.quantiles([a / b for a, b in taken], n=4))
    kernel, plain = (round(statistics.median(t[k] for t in taken) * 1e6, 1) for k in (0, 1))
    return Row(name, direction, size, threads, middle, low, high, kernel, plain, chosen(call))


def measured(name: str, subject: Subject, threads: Sequence[int], number: int) -> list[Row]:
    """The rows of one operator, in order of sizes."""
    function, found = getattr(import_module(f"generated.{name}"), name), []
    for k, size in enumerate(SIZES):
        torch.manual_seed(0)
        chosen = subject.sizes[k]
        made = calls(function, operands(name, subject, chosen), params(subject, chosen))
        for count in threads:
            torch.set_num_threads(count)
            for direction, call in made.items():
                found.append(row(name, direction, size, count, call, number))
                print(line(found[-1]), flush=True)
    return found


def line(r: Row) -> str:
    figures = f"{r.ratio:.2f} | {r.low:.2f} … {r.high:.2f} | {r.kernel_us:.0f} | {r.plain_us:.0f}"
    return f"| {r.op} | {r.direction} | {r.size} | {r.threads} | {figures} | {r.auto} |"


def confusion(found: Sequence[Row]) -> str:
    """How often the choice is the faster one; what is within 10 % is no mistake either way."""
    lines = ["| size | choice | faster | within 10 % | slower | the worst |", "|---|---|---|---|---|---|"]
    for size in SIZES:
        for chosen in ("native", "torch"):
            mine = [r for r in found if r.size == size and r.auto == chosen]
            faster, slower = sum(r.cost < 1 / 1.1 for r in mine), sum(r.cost > 1.1 for r in mine)
            worst = max(mine, key=lambda r: r.cost, default=None)
            shown = "—"
            if worst is not None and slower:
                shown = f"{worst.cost:.2f}: {worst.op}, {worst.direction}, threads: {worst.threads}"
            lines.append(f"| {size} | {chosen} | {faster} | {len(mine) - faster - slower} | {slower} | {shown} |")
    return "\n".join(lines)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep the rows under benchmarks/results")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("ops", nargs="*", metavar="OP")
    return parser.parse_args()


def keep_memory() -> None:
    """Let the allocator keep what is freed: on some machines, new pages cost more than what is computed in them."""
    library = ctypes.CDLL(None)
    most_mapped, least_trimmed = -4, -1
    library.mallopt(most_mapped, 0)
    library.mallopt(least_trimmed, 2**31 - 1)


def main() -> None:
    given = arguments()
    keep_memory()
    found: list[Row] = []
    print("| operator | direction | size | threads | kernel / plain | quartiles | kernel, µs | plain, µs | auto |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in given.ops or SUBJECTS:
        import_module(f"generated.{name}")
        if _runtime.kernel(name, "forward") is not None:
            found += measured(name, SUBJECTS[name], given.threads, given.rounds)
    print(f"\n{confusion(found)}")
    if given.write:
        kept = {row_key(r): r for r in [*known(), *found]}
        text = ",\n".join(f"  {json.dumps(asdict(kept[k]))}" for k in sorted(kept))
        RESULT.write_text(f'{{\n "torch": "{torch.__version__}",\n "rows": [\n{text}\n ]\n}}\n', encoding="utf-8")


def known() -> list[Row]:
    """The rows that were kept before."""
    if not RESULT.exists():
        return []
    rows = json.loads(RESULT.read_text(encoding="utf-8"))["rows"]
    return [Row(**r) for r in rows]


def row_key(r: Row) -> tuple[str, str, int, int]:
    return r.op, r.direction, -SIZES.index(r.size), r.threads


if __name__ == "__main__":
    main()
