"""Operators on a CPU at sizes beyond the caches, against torch's own and against `torch.compile` of the formula.

    python benchmarks/cpu_peers.py [--write] [--threads N,…] [--dtypes DTYPE,…] [--no-compile] [--tiny] [CASE...]

Forward alone and a step of training, in one process; all contenders by turns, medians of ratios within rounds, with
their quartiles. `share` is the time of a copy of as many bytes as a call moves at least, by turns with it, over its
time. A row holds where the kernels take at most so much of the best peer as its case asks (0.8 for the most part), or
reach 85 % of the copy. `--write` keeps the rows under `benchmarks/results`, beside those that were measured before;
`--page` prints their page alone.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that wait let others run

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.cpu_peers_cases import CASES  # noqa: E402
from benchmarks.gpu import COMPILE, OURS, TORCH, Tensors, as_tuple, leaves, prepared  # noqa: E402
from benchmarks.gpu_cases import Call, Case, Make  # noqa: E402
from opgen.bench.machine import about, effort, keep_memory  # noqa: E402
from opgen.bench.timing import Contender, Effort, interleaved, quartiles, ratio  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "cpu_peers.json"
COPY, PEERS = "copy", (TORCH, COMPILE)
FORWARD, BOTH = "forward", "both"
NEAR_COPY = 0.85
MOST = {c.name: c.most for c in CASES}
Row = dict[str, Any]


def step(call: Call, operands: Tensors) -> Call:
    """A step of training: a call, and the gradients of its first result, for weights that are the same each time."""
    wanted = leaves(operands)
    grad = torch.randn_like(as_tuple(call(*operands))[0])

    def run() -> object:
        return torch.autograd.grad(as_tuple(call(*operands))[0], wanted, grad, allow_unused=True)

    return run


def moved(case: Case, direction: str, operands: Tensors) -> int | None:
    """The bytes that a call moves at least, where they are passes over its largest operand."""
    passes = (case.forward, case.backward)[: 1 + (direction == BOTH)]
    if None in passes:
        return None
    largest = max((t for t in operands if t.is_floating_point()), key=torch.Tensor.numel)
    return round(sum(p or 0 for p in passes) * largest.numel() * largest.element_size())


def copy_of(count: int) -> Call:
    """A call that reads half of these bytes and writes the other half."""
    source = torch.ones(max(1, count // 8))
    target = torch.empty_like(source)
    return lambda: target.copy_(source)


def rows(case: Case, ours: Call, runtime: Any, given: argparse.Namespace, dtype: str, time: Effort) -> Iterator[Row]:
    """The rows of a case: forward alone, and a step of training."""
    torch.manual_seed(0)
    made = case.operands(Make("cpu", given.tiny, getattr(torch, dtype)))
    operands = tuple(t.detach().requires_grad_(t.is_floating_point()) for t in made)
    torch._dynamo.reset()
    peers: dict[str, Call] = {TORCH: case.theirs}
    if given.compile:
        peers[COMPILE] = torch.compile(case.theirs)
    for direction in (FORWARD, BOTH):
        around = partial(_around, runtime, direction, "auto" if given.tiny else "native")
        contenders, notes = [], {}
        for name, call in {OURS: ours, **peers}.items():
            try:
                with around():
                    ready = step(call, operands) if direction == BOTH else partial(call, *operands)
                    ready()
            except (RuntimeError, TypeError, NotImplementedError) as e:
                if name == OURS:
                    raise
                notes[name] = str(e).strip().partition("\n")[0][:200]
                continue
            contenders.append(Contender(name, ready, around))
        least = moved(case, direction, operands)
        contenders += [Contender(COPY, copy_of(least))] if least else []
        spent = interleaved(contenders, time)
        first = spent[OURS]
        yield {
            "case": case.name,
            "dtype": dtype,
            "threads": torch.get_num_threads(),
            "direction": direction,
            "us": {n: round(1e6 * quartiles(t).median, 1) for n, t in spent.items()},
            "ratios": {n: _short(first, spent[n]) for n in PEERS if n in spent},
            "share": round(1 / ratio(first, spent[COPY]).median, 3) if least else None,
            "failed": notes,
        }


@contextmanager
def _around(runtime: Any, direction: str, backend: str) -> Iterator[None]:
    """Calls on a back end of ours, recorded where they are differentiated."""
    with runtime.use_backend(backend), torch.set_grad_enabled(direction == BOTH):
        yield


def _short(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    q = ratio(ours, theirs)
    return [round(x, 3) for x in (q.low, q.median, q.high)]


def best(r: Row) -> float:
    """The median ratio to the fastest peer."""
    return max((m for _, m, _ in r["ratios"].values()), default=float("nan"))


def holds(r: Row) -> bool:
    return best(r) <= MOST[r["case"]] or (r["share"] or 0) >= NEAR_COPY


def page(told: dict[str, Any]) -> str:
    """What was measured, and how many rows hold."""
    found = told["rows"]
    head = ("case", "dtype", "threads", "direction", "µs", f"/ {TORCH}", f"/ {COMPILE}", "asked", "of copy", "holds")
    table = [head, ("---",) * len(head), *map(words, found)]
    return "\n".join(
        [
            "# Compiled operators on a CPU against torch and torch.compile",
            "",
            f"torch {told['torch']}, {told['vectors']}. Medians of interleaved calls, ratios with their quartiles"
            " (`python benchmarks/cpu_peers.py`). A row holds at what is asked of it beside the best peer, or at 85 %"
            f" of a copy: {sum(map(holds, found))} of {len(found)} do.",
            "",
            *(f"| {' | '.join(row)} |" for row in table),
            "",
        ]
    )


def words(r: Row) -> tuple[str, ...]:
    ratios = ["{1:.2f} ({0:.2f}–{2:.2f})".format(*r["ratios"][n]) if n in r["ratios"] else "—" for n in PEERS]
    share = "—" if r["share"] is None else f"{100 * r['share']:.0f} %"
    first = (r["case"], r["dtype"], str(r["threads"]), r["direction"], f"{r['us'][OURS]:,.0f}")
    return *first, *ratios, f"{MOST[r['case']]:g}", share, "yes" if holds(r) else "no"


def key(r: Row) -> tuple[Any, ...]:
    return [c.name for c in CASES].index(r["case"]), r["dtype"] != "float32", r["threads"], r["direction"] != FORWARD


def kept(found: Sequence[Row]) -> dict[str, Any]:
    """What is written: new rows in place of those of the same name, which a machine of this kind has measured."""
    before = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
    old = before.pop("rows", []) if before else []
    merged = {key(r): r for r in [*(old if before == about() else []), *found]}
    return {**about(), "rows": [merged[k] for k in sorted(merged)]}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep the rows under benchmarks/results")
    parser.add_argument("--page", action="store_true", help="print the page of what was kept, and measure nothing")
    parser.add_argument("--threads", default="1,2", metavar="N,…")
    parser.add_argument("--dtypes", default="float32,bfloat16", metavar="DTYPE,…")
    parser.add_argument("--quick", action="store_true", help="a third of the time for each row")
    parser.add_argument("--no-compile", dest="compile", action="store_false", help="leave out torch.compile")
    parser.add_argument("--tiny", action="store_true", help="a 64th of each size, compiled or not: does it run?")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="the names of cases, or of operators")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    if given.page:
        print(page(json.loads(RESULT.read_text(encoding="utf-8"))), end="")
        return
    cases = [c for c in CASES if not given.cases or {c.name, c.op} & {*given.cases}]
    ops = prepared(cases, None if given.tiny else "_native.so")
    keep_memory()
    found: list[Row] = []
    for threads in map(int, given.threads.split(",")):
        time = effort(threads, "cpu", quick=given.quick)
        for case in cases:
            op, runtime = ops[case.op]
            for dtype in given.dtypes.split(","):
                for r in rows(case, case.ours(op), runtime, given, dtype, time):
                    print(" | ".join(words(r)), *r["failed"].items(), flush=True)
                    found.append(r)
                if given.write:
                    RESULT.write_text(json.dumps(kept(found), indent=1) + "\n", encoding="utf-8")
    print(f"\n{sum(map(holds, found))} of {len(found)} hold")


if __name__ == "__main__":
    main()
