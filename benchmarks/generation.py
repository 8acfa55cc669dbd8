"""How long generation takes: start-up against bare imports, and long compositions against short ones.

    python benchmarks/generation.py [--long]

Prints, as Markdown: the wall time of a cold and of an up-to-date build of one spec, each next to the imports
it cannot do without; and the time per statement for chains of statements, which has to stay flat (`--long` adds one
of 1000).
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REPEATS = 9
LENGTHS = (10, 30, 100, 300)


def seconds(*arguments: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, capture_output=True)
    return time.perf_counter() - started


def start_up(folder: Path) -> list[tuple[str, float, float]]:
    """Rows of (what, median seconds, median seconds of the bare imports), measured in turn."""
    opgen = ("-m", "opgen", "build", "specs/linear.yaml", "--out")
    samples: dict[str, list[float]] = {"cold": [], "imports": [], "fresh": [], "click": []}
    for i in range(REPEATS):
        out = str(folder / f"generated_{i}")
        samples["imports"].append(seconds("-c", "import sympy, jinja2, pydantic, yaml, click"))
        samples["cold"].append(seconds(*opgen, out))
        samples["click"].append(seconds("-c", "import click"))
        samples["fresh"].append(seconds(*opgen, out))
    median = {name: statistics.median(times) for name, times in samples.items()}
    return [("cold", median["cold"], median["imports"]), ("up to date", median["fresh"], median["click"])]


def chain(length: int) -> str:
    """A composition in which every statement reads the one before it and the input."""
    lines = ["  a0 = tanh(x)"]
    lines += [f"  a{i} = tanh(a{i - 1})*exp(-square(x)) + a{i - 1}" for i in range(1, length)]
    return "\n".join(["op: chain", "inputs: [x]", "forward: |", *lines, f"  y = a{length - 1}", ""])


def composition(folder: Path, length: int) -> float:
    spec = folder / f"chain_{length}.yaml"
    spec.write_text(chain(length))
    return seconds("-m", "opgen", "build", str(spec), "--out", str(folder / f"chain_{length}"))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true", help="measure a chain of 1000 statements as well")
    return parser.parse_args()


def main() -> None:
    long = arguments().long
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("| build of one spec | seconds | bare imports | ratio |\n|---|---|---|---|")
        for what, build, imports in start_up(folder):
            print(f"| {what} | {build:.3f} | {imports:.3f} | {build / imports:.2f} |")
        print("\n| statements | seconds | ms per statement |\n|---|---|---|")
        base = composition(folder, 1)
        for length in (*LENGTHS, *((1000,) if long else ())):
            taken = composition(folder, length)
            print(f"| {length} | {taken:.2f} | {(taken - base) / length * 1000:.1f} |")


if __name__ == "__main__":
    main()
