"""How accurate float32 results are: every scalar function and every element-wise spec, value and first derivative.

    python benchmarks/accuracy.py [--write] [points per octave] [names]

Compares the compiled CPU kernels, the generated torch code, and torch's own function and autograd (where it has none,
the formula step by step in torch) with mpmath, on a log-spaced grid over everything float32 holds with special values
and within the domains that specs state. A nan or an infinity is listed where a number is due. `--write` puts the table
of all functions and specs into `benchmarks/results/accuracy.md` and `.json`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.accuracy import measure, operators  # noqa: E402
from tests.accuracy.kernels import Library, torch_form  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"
COLUMNS = {"cpp": "compiled C++", "form": "generated torch", "torch": "torch, or the formula in eager torch"}


def table(found: list[measure.Line]) -> str:
    """Markdown: the largest error in ulp and where, then the first nan and the first infinity that are wrong."""
    rows = [f"| function | of | {' | '.join(COLUMNS.values())} |", "|---|---|" + "---|" * len(COLUMNS)]
    for line in found:
        cells = [_cell(line.scores.get(name)) for name in COLUMNS]
        rows.append(f"| {line.name.removeprefix('f_')} | {line.of} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def summary(found: list[measure.Line]) -> str:
    """How many rows of ours are within 4 ulp, worse than torch's, or nan where the true value is a number."""
    lines: list[str] = []
    for name in ("cpp", "form"):
        scores = [(line, line.scores[name]) for line in found if name in line.scores]
        near = sum(s.ulp <= 4 for _, s in scores)
        worse = sum(s.ulp > line.bound for line, s in scores)
        undefined = sum(bool(s.nan) for _, s in scores)
        shared = sum(bool(s.excused) for _, s in scores)
        lines.append(
            f"{COLUMNS[name]}: {len(scores)} rows, {near} within 4 ulp, {worse} above 4 ulp and above torch; "
            f"{undefined} with a nan for a number where torch has none, {shared} with one where torch has it too."
        )
    return "\n\n".join(lines) + "\n"


def _cell(s: measure.Score | None) -> str:
    if s is None:
        return "–"
    parts = [f"{s.ulp:.3g} at {_point(s.where)}" if s.ulp else "0"]
    parts += [f"nan at {_point(at)}" for at in (s.nan or s.excused,) if at]
    parts += [f"nan for an infinity at {_point(s.endless)}"] if s.endless else []
    parts += [f"inf at {_point(s.infinite)}"] if s.infinite else []
    return ", ".join(parts)


def _point(xs: tuple[float, ...]) -> str:
    return f"({', '.join(f'{x:.4g}' for x in xs)})" if len(xs) > 1 else f"{xs[0]:.4g}"


def arguments(known: Collection[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep the table under benchmarks/results")
    parser.add_argument("per_octave", metavar="points per octave", type=int, nargs="?", default=1)
    parser.add_argument("names", nargs="*", help="functions and specs; all of them where none is named")
    found = parser.parse_args()
    if found.per_octave < 0:
        parser.error("there are no fewer than 0 points per octave")
    if unknown := [name for name in found.names if name not in known]:
        parser.error(f"nothing is called {', '.join(unknown)}; there are {', '.join(known)}")
    if found.write and found.names:
        parser.error("--write keeps the table of everything, so that it takes no names")
    return found


def main() -> None:
    every = {c.name: c for c in (*operators.functions(), *operators.specs())}
    given = arguments(every)
    cases = [every[name] for name in given.names or every]
    found: list[measure.Line] = []
    with tempfile.TemporaryDirectory() as folder:
        library = Library(cases, Path(folder))
        implementations = {**library.implementation(), "form": torch_form, "torch": measure.torch_own}
        for c in cases:
            truth = measure.sampled(c, measure.grid(c, given.per_octave), measure.bits(c))
            found += measure.lines(c, truth, implementations)
    text = f"{summary(found)}\n{table(found)}"
    print(text)
    if given.write:
        write(text, found)


def write(text: str, found: list[measure.Line]) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "accuracy.md").write_text(f"# {__doc__.splitlines()[0]}\n\n{text}", encoding="utf-8")
    rows = [{"name": x.name, "of": x.of, **{k: asdict(s) for k, s in x.scores.items()}} for x in found]
    (RESULTS / "accuracy.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
