"""Reductions of very many terms of float32, judged by float64: compiled, in generated torch code, by torch's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

import opgen

ROUNDING = 2.0**-23
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

    @property
    def worse(self) -> list[str]:
        """The forms whose error is above both torch's own and two units in the last place."""
        most = max(self.torch, 2 * ROUNDING)
        return [form for form in ("compiled", "generated") if getattr(self, form) > most]


def loaded(folder: Path, name: str) -> Any:
    """The operator of a reduction, compiled."""
    path = folder / f"{name.replace(' ', '_')}_of_many.yaml"
    path.write_text(f"op: {path.stem}\n{REDUCTIONS[name].spec}\n", encoding="utf-8")
    return opgen.load(path, compiled=True)


def samples(terms: int, r: Reduction) -> dict[str, torch.Tensor]:
    """Random numbers, and one number again and again; `var` of the latter is 0."""
    rows = max(1, min(64, 2**24 // terms))
    made = {"random": torch.rand(rows, terms), "0.1": torch.full((1, terms), 0.1)}
    return {k: v.t().contiguous() if r.columns else v for k, v in made.items()}


def lines(name: str, op: Any, counts: Iterable[int]) -> list[Line]:
    """The errors of sums of so many terms."""
    r = REDUCTIONS[name]
    use_backend = import_module(f"{op.__module__.rsplit('.', 2)[0]}._runtime").use_backend
    found: list[Line] = []
    for terms in counts:
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
