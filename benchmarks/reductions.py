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
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import opgen  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"
POWERS = (10, 13, 16, 20, 23, 26)
ROWS = "inputs: {x: {shape: [..., N]}}\nforward: y[...] = "
COLUMNS = "inputs: {x: {shape: [N, D]}}\nforward: y[d] = "

Function = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Reduction:
    """A spec and torch's own function for it; `columns` are reduced over the leading dim."""

    spec: str
    own: Function
    columns: bool = False


REDUCTIONS = {
    "sum": Reduction(f"{ROWS}sum[n](x[..., n])", lambda x: x.sum(-1)),
    "mean": Reduction(f"{ROWS}mean[n](x[..., n])", lambda x: x.mean(-1)),
    "norm": Reduction(f"{ROWS}norm[n](x[..., n])", lambda x: torch.linalg.vector_norm(x, dim=-1)),
    "var": Reduction(f"{ROWS}var[n](x[..., n])", lambda x: x.var(-1, correction=0)),
    "logsumexp": Reduction(f"{ROWS}logsumexp[n](x[..., n])", lambda x: x.logsumexp(-1)),
    "column sum": Reduction(f"{COLUMNS}sum[n](x[n, d])", lambda x: x.sum(0), columns=True),
    "column mean of squares": Reduction(f"{COLUMNS}mean[n](x[n, d]**2)", lambda x: x.square().mean(0), columns=True),
}


@dataclass(frozen=True)
class Line:
    """The largest relative errors of a reduction of so many terms."""

    reduction: str
    terms: int
    values: str
    compiled: float
    generated: float
    torch: float


def loaded(folder: Path, name: str, r: Reduction) -> Any:
    """The operator of a reduction, compiled."""
    path = folder / f"{name.replace(' ', '_')}_of_many.yaml"
    path.write_text(f"op: {path.stem}\n{r.spec}\n", encoding="utf-8")
    return opgen.load(path, compiled=True)


def samples(terms: int, r: Reduction) -> dict[str, torch.Tensor]:
    """Random numbers, and one number again and again; `var` of the latter is 0."""
    rows = max(1, min(64, 2**24 // terms))
    made = {"random": torch.rand(rows, terms), "0.1": torch.full((1, terms), 0.1)}
    return {k: v.t().contiguous() if r.columns else v for k, v in made.items()}


def lines(name: str, r: Reduction, op: Any, largest: int) -> list[Line]:
    from importlib import import_module

    use_backend = import_module(f"{op.__module__.rsplit('.', 2)[0]}._runtime").use_backend
    found: list[Line] = []
    for terms in (1000, *(2**p for p in POWERS if p <= largest)):
        for values, x in samples(terms, r).items():
            exact = r.own(x.double())
            if not bool((exact.abs() > 1e-6).all()):
                continue  # the variance of one number
            results: list[float] = []
            for back_end in ("native", "torch", None):
                if back_end is None:
                    y = r.own(x)
                else:
                    with use_backend(back_end):
                        y = op(x)
                results.append(((y.double() - exact) / exact).abs().max().item())
            found.append(Line(name, terms, values, *results))
    return found


def table(found: list[Line]) -> str:
    rows = ["| reduction | terms | of | compiled C++ | generated torch | torch |", "|---|---|---|---|---|---|"]
    for x in found:
        errors = " | ".join(f"{e:.1e}" for e in (x.compiled, x.generated, x.torch))
        rows.append(f"| {x.reduction} | {x.terms} | {x.values} | {errors} |")
    return "\n".join(rows) + "\n"


def summary(found: list[Line]) -> str:
    """What is worse than torch's own, beyond the rounding of the result itself."""
    rounding = 2.0**-23
    worse = [x for x in found if x.compiled > max(x.torch, 2 * rounding)]
    named = "; ".join(f"{x.reduction} of {x.terms} ({x.values}): {x.compiled:.1e}" for x in worse)
    top = max(x.compiled for x in found)
    return (
        f"Compiled: {len(found)} rows, the largest error {top:.1e}; {len(worse)} above both torch's and 2 units in the "
        f"last place{': ' + named if named else ''}.\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep the table under benchmarks/results")
    parser.add_argument("largest", metavar="largest power of 2", type=int, nargs="?", default=POWERS[-1])
    given = parser.parse_args()
    torch.manual_seed(0)
    found: list[Line] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, r in REDUCTIONS.items():
            found += lines(name, r, loaded(Path(folder), name, r), given.largest)
    text = f"{summary(found)}\n{table(found)}"
    print(text)
    if given.write:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "reductions.md").write_text(f"# {__doc__.splitlines()[0]}\n\n{text}", encoding="utf-8")
        (RESULTS / "reductions.json").write_text(json.dumps([asdict(x) for x in found], indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
