"""`opgen bench` over the catalogue on a CPU: where kernels are slower than plain torch, and whether `auto` knows.

    python benchmarks/cpu.py [--write] [--quick] [--threads N] [--sizes 1k,100k,10M] [OP...]

Measures the compiled operators of `generated` (default: all), forward alone and a step of training, in float32. Behind
the rows it prints those in which the kernels are slower than the operator's own plain form, and how often the choice of
`auto` (`opgen.plan.speed`) is the faster one. `--write` puts the rows into `benchmarks/results/cpu.json`, beside those
that were measured before, with the same torch and vectors. Where these are others, some operators alone are refused.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that wait let others run

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from opgen.bench.machine import about, effort, keep_memory  # noqa: E402
from opgen.bench.measure import Measured, Wanted, rows  # noqa: E402
from opgen.bench.subject import KERNEL, PLAIN, REFERENCE, subject  # noqa: E402
from opgen.bench.table import as_json, head, line  # noqa: E402
from opgen.bench.timing import Quartiles  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "cpu.json"
SPECS, OUT = ROOT / "specs", ROOT / "generated"
SIZES = {"1k": 1_000, "100k": 100_000, "10M": 10_000_000}
PEERS = (PLAIN, REFERENCE)
NOISE = 0.1


def compared(found: Iterable[Measured]) -> list[Measured]:
    """The rows that compare the kernels with the plain form."""
    return [r for r in found if r.subject == KERNEL and PLAIN in r.ratios]


def slower(found: Iterable[Measured]) -> list[Measured]:
    """The rows in which kernels are slower than the plain form beyond noise, the worst first."""
    slow = [r for r in compared(found) if r.ratios[PLAIN].median > 1 + NOISE and r.ratios[PLAIN].low > 1]
    return sorted(slow, key=lambda r: -r.ratios[PLAIN].median)


def choices(found: Iterable[Measured]) -> str:
    """How often what `auto` runs is the faster one; what is within the noise is no mistake either way."""
    lines = ["| size | auto runs | faster | within 10 % | slower | the worst |", "|---|---|---|---|---|---|"]
    known = compared(found)
    for size, auto in sorted({(r.size, r.auto) for r in known}):
        own = [(r.ratios[PLAIN].median, r) for r in known if (r.size, r.auto) == (size, auto)]
        costs = [(1 / max(ratio, 1e-3) if auto == "torch" else ratio, r) for ratio, r in own]
        better, worse = sum(c < 1 / (1 + NOISE) for c, _ in costs), sum(c > 1 + NOISE for c, _ in costs)
        cost, r = max(costs, key=lambda c: c[0])
        worst = f"{cost:.2f}: {r.op}, {r.direction}" if worse else "—"
        lines.append(f"| {size} | {auto} | {better} | {len(costs) - better - worse} | {worse} | {worst} |")
    return "\n".join(lines)


def known() -> tuple[list[Measured], bool]:
    """The rows that were kept before, and whether they are those of this kind of machine."""
    kept = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else about()
    return [row(r) for r in kept.pop("rows", ())], kept == about()


def row(record: dict[str, Any]) -> Measured:
    ratios = {n: Quartiles(**q) for n, q in record["ratios"].items()}
    shapes = {n: tuple(s) for n, s in record["shapes"].items()}
    return Measured(**{**record, "ratios": ratios, "shapes": shapes})


def key(r: Measured) -> tuple[str, str, str, int, int]:
    return r.op, r.dtype, r.direction, r.threads, r.size


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep the rows under benchmarks/results")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=[*SIZES])
    parser.add_argument("--quick", action="store_true", help="a third of the time for each row")
    parser.add_argument("ops", nargs="*", metavar="OP")
    return parser.parse_args()


def measured(ops: Sequence[str], wanted: Wanted, *, write: bool) -> list[Measured]:
    found: list[Measured] = []
    print(head(PEERS), flush=True)
    for op in ops:
        s = subject(SPECS / f"{op}.yaml", OUT)
        for r in rows(s, wanted) if s.compiled else ():
            print(line(r, PEERS), flush=True)
            found.append(r)
        if write:
            before, here = known()
            kept = {key(r): r for r in [*(before if here else ()), *found]}
            RESULT.write_text(as_json([kept[k] for k in sorted(kept)], about()), encoding="utf-8")
    return found


def main() -> None:
    given = arguments()
    keep_memory()
    sizes = tuple(SIZES[n] for n in given.sizes)
    time = effort(given.threads, "cpu", quick=given.quick)
    wanted = Wanted(sizes, directions=("forward", "both"), threads=given.threads, effort=time)
    if given.write and given.ops and not known()[1]:
        raise SystemExit(f"{RESULT.name} has rows of another machine: measure all operators, or without --write")
    ops = given.ops or sorted(p.stem for p in SPECS.glob("*.yaml"))
    found = measured(ops, wanted, write=given.write)
    print(f"\nslower than their plain form:\n{head(PEERS)}")
    print(*(line(r, PEERS) for r in slower(found)), sep="\n")
    print(f"\n{choices(found)}")


if __name__ == "__main__":
    main()
