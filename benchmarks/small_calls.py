"""What the choice by size is worth: operators whose loops are slower in kernels, from small calls to medium ones.

    python benchmarks/small_calls.py [--write] [OP...]

Measures the compiled operators of `generated` with a direction that `auto` leaves to torch on a CPU unless a call is
small, on one thread. In each round the back ends `auto`, `native` and `torch` run in turn; a ratio is the median over
rounds of ratios within a round, with its quartiles. Where `auto` runs what torch runs, its ratio is what the machine
disturbs. `--write` keeps the table under `benchmarks/results`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402

from opgen.bench.machine import effort, keep_memory  # noqa: E402
from opgen.bench.subject import PLAIN, Subject, contender, functions, operands, subject  # noqa: E402
from opgen.bench.table import shown  # noqa: E402
from opgen.bench.timing import Contender, interleaved, quartiles, ratio  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "small_calls.md"
SIZES = (32, 250, 2_000, 16_000, 130_000)
BACK_ENDS = ("auto", "native", "torch")
HEAD = """| operator | direction | elements | auto runs | auto / torch | kernel / torch | torch, µs |
|---|---|---|---|---|---|---|"""


def lines(s: Subject) -> Iterator[str]:
    """The rows of one operator."""
    definition, growth = s.runtime.entry(s.name).definition, s.growth()
    sized = [w for w in ("forward", "backward") if getattr(definition, f"{w}_excess") is not None]
    if not s.compiled or not sized or growth is None:
        return
    for case in map(growth.at, SIZES):
        torch.manual_seed(0)
        given = operands(case, torch.float32, "cpu", definition.differentiable)
        function = next(f for name, f, _ in functions(s, case, ()) if name == PLAIN)
        for direction in sized:
            found = [contender(s, direction, (name, function, name), given) for name in BACK_ENDS]
            contenders = [c for c in found if c is not None]
            times = interleaved(contenders, effort(1, "cpu"))
            ratios = " | ".join(shown(ratio(times[name], times["torch"])) for name in BACK_ENDS[:2])
            plain = 1e6 * quartiles(times["torch"]).median
            ran = chosen(s, contenders[0])
            yield f"| {s.name} | {direction} | {s.elements(case)} | {ran} | {ratios} | {plain:.0f} |"


def chosen(s: Subject, auto: Contender) -> str:
    """What runs where nothing is asked for."""
    before = s.runtime.calls("native")
    auto.call()
    return "native" if s.runtime.calls("native") > before else "torch"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep the table under benchmarks/results")
    parser.add_argument("ops", nargs="*", metavar="OP")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    keep_memory()
    print(HEAD)
    found = []
    for op in given.ops or sorted(p.stem for p in (ROOT / "specs").glob("*.yaml")):
        for row in lines(subject(ROOT / "specs" / f"{op}.yaml", ROOT / "generated")):
            print(row, flush=True)
            found.append(row)
    if given.write:
        RESULT.write_text("\n".join((HEAD, *found, "")), encoding="utf-8")


if __name__ == "__main__":
    main()
