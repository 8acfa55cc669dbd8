"""How accurate long sums of float32 are: reductions of 10³ to 2²⁶ terms against float64.

    python benchmarks/reductions.py [--write] [largest power of 2]

Compares the compiled CPU kernels, the generated torch code and torch's own function on random numbers in [0, 1) and on
the number 0.1 throughout, which float32 rounds the same way every time. A cell is the largest relative error of some
rows; `--write` keeps the table under `benchmarks/results`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.accuracy.reductions import REDUCTIONS, Line, lines, loaded  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"
POWERS = (10, 13, 16, 20, 23, 26)


def table(found: list[Line]) -> str:
    rows = ["| reduction | terms | of | compiled C++ | generated torch | torch |", "|---|---|---|---|---|---|"]
    for x in found:
        errors = " | ".join(f"{e:.1e}" for e in (x.compiled, x.generated, x.torch))
        rows.append(f"| {x.reduction} | {x.terms} | {x.values} | {errors} |")
    return "\n".join(rows) + "\n"


def summary(found: list[Line]) -> str:
    """What is worse than torch's own, beyond the rounding of the result itself."""
    worse = [(x, form) for x in found for form in x.worse]
    named = "; ".join(f"{x.reduction} of {x.terms} ({x.values}), {form}: {getattr(x, form):.1e}" for x, form in worse)
    top, second = (max(getattr(x, form) for x in found) for form in ("compiled", "generated"))
    return (
        f"{len(found)} rows; the largest error is {top:.1e} compiled and {second:.1e} in generated torch code; "
        f"{len(worse)} are above both torch's and 2 units in the last place{': ' + named if named else ''}.\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep the table under benchmarks/results")
    parser.add_argument("largest", metavar="largest power of 2", type=int, nargs="?", default=POWERS[-1])
    given = parser.parse_args()
    torch.manual_seed(0)
    found: list[Line] = []
    with tempfile.TemporaryDirectory() as folder:
        counts = (1000, *(2**p for p in POWERS if p <= given.largest))
        for name in REDUCTIONS:
            found += lines(name, loaded(Path(folder), name), counts)
    text = f"{summary(found)}\n{table(found)}"
    print(text)
    if given.write:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "reductions.md").write_text(f"# {__doc__.splitlines()[0]}\n\n{text}", encoding="utf-8")
        (RESULTS / "reductions.json").write_text(json.dumps([asdict(x) for x in found], indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
