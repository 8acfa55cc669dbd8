"""The same operator by the usual routes and by opgen, against what a first-class operator does.

    python -m benchmarks.routes [--write]

Prints a Markdown table; `--write` puts it, with the reasons of failures, into `benchmarks/results/routes.md` and the
table into the README. Needs a C++ compiler; the C++ route alone takes a minute.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

import torch

import opgen

from . import written
from .checks import CHECKS, Operation, failure

ROOT = Path(__file__).resolve().parent.parent.parent
MARKS = ("<!-- routes: python -m benchmarks.routes --write -->\n", "<!-- end of routes -->\n")


def routes() -> dict[str, Operation]:
    return {
        "`Function`": written.Combined.apply,
        "`Function`, `setup_context`": written.Separate.apply,
        "`custom_op`": written.custom,
        "C++ `Function`": written.cpp(),
        "composition": written.composition,
        "**opgen**": opgen.load(ROOT / "specs" / "silu.yaml"),
    }


def table(found: Mapping[str, Mapping[str, str]]) -> str:
    names = list(found)
    lines = [f"| | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    for check in CHECKS:
        lines.append(f"| {check} | {' | '.join('—' if found[n][check] else 'yes' for n in names)} |")
    passed = (sum(not why for why in found[n].values()) for n in names)
    lines.append(f"| of {len(CHECKS)} | {' | '.join(map(str, passed))} |")
    return "\n".join(lines) + "\n"


def reasons(found: Mapping[str, Mapping[str, str]]) -> str:
    lines = [f"- {name}: {check}: {why}" for name, all_ in found.items() for check, why in all_.items() if why]
    return "\n".join(lines) + "\n"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.routes", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/results and the README")
    return parser.parse_args()


def main() -> None:
    write = arguments().write
    found = {name: {c: failure(f, check) for c, check in CHECKS.items()} for name, f in routes().items()}
    text = table(found)
    print(text, reasons(found), sep="\n")
    if write:
        results = ROOT / "benchmarks" / "results" / "routes.md"
        head = f"# `y = x * sigmoid(x)` by the usual routes and by opgen, torch {torch.__version__.split('+')[0]}\n"
        results.write_text(f"{head}\n{text}\nWhy not:\n\n{reasons(found)}", encoding="utf-8")
        readme = ROOT / "README.md"
        before, _, rest = readme.read_text(encoding="utf-8").partition(MARKS[0])
        after = rest.partition(MARKS[1])[2]
        readme.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
