"""How far results are from the truth: units in the last place of float32, and where a nan or an infinity is wrong.

In go a case and a grid of points, out come rows of a table: one per function, order of derivative and implementation.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tests.accuracy.kernels import Arrays, Floats, Results
from tests.accuracy.operators import Case
from tests.accuracy.truth import Formula

SPECIAL = (0.0, -0.0, math.inf, -math.inf, 88.0, -88.0, 104.0, -104.0, 1e30, -1e30, 1e-45, -1e-45, 1e-40, -1e-40)
_DRAWN = 3000  # points of functions of more than two numbers
_LARGEST = float(np.finfo(np.float32).max)
_OVERFLOW = 2.0**128 - 2.0**103  # what rounds to infinity
Doubles = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Score:
    """The largest error and where it is; the first points where a nan or an infinity stands for a number.

    `excused`: the first point where there is a nan for a finite number, and torch has one there, too; `endless`: the
    same for an infinity, or at an infinite coordinate, where a small factor beside it may have underflown to 0.
    """

    ulp: float = 0.0
    where: tuple[float, ...] = ()
    nan: tuple[float, ...] = ()
    infinite: tuple[float, ...] = ()
    excused: tuple[float, ...] = ()
    endless: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Sampled:
    """Points and the truth there. `slopes` has a row per input; what is unknown is nan."""

    arrays: Arrays
    value: Doubles
    slopes: tuple[Doubles, ...]


def axis(per_octave: int) -> Floats:
    """Both signs of a log-spaced grid over everything that float32 holds, denormals included, and special values."""
    exponents = np.arange(-149 * per_octave, 128 * per_octave) / per_octave if per_octave else np.arange(-149.0, 128, 7)
    positive = np.unique(np.exp2(exponents).astype(np.float32))
    return np.concatenate([positive, -positive, np.array(SPECIAL, np.float32)])


def coarse(arguments: int) -> Floats:
    """What one of several arguments takes."""
    exponents = [*range(-149, 128, 20 if arguments == 2 else 60), -3, -0.5, 0, 0.3, 1.7, 3]
    positive = np.unique(np.exp2(np.array(exponents)).astype(np.float32))
    special = SPECIAL if arguments == 2 else (0.0, -0.0, math.inf, -math.inf)
    return np.concatenate([positive, -positive, np.array(special, np.float32)])


def grid(c: Case, per_octave: int) -> Arrays:
    """The points of a case: log-spaced along each of its inputs. None per octave: one in seven octaves."""
    if len(c.inputs) == 1:
        return {c.inputs[0]: axis(per_octave)}
    each = [_within(c, n, coarse(len(c.inputs))) for n in c.inputs]
    if len(c.inputs) > 2:
        rng = np.random.default_rng(0)
        found = np.stack([rng.choice(one, _DRAWN) for one in each], axis=1)
    else:
        found = np.array(list(itertools.product(*each)), np.float32)
    return {n: np.ascontiguousarray(found[:, k]) for k, n in enumerate(c.inputs)}


def some(arrays: Arrays, most: int) -> Arrays:
    """So many of the points, the same ones every time."""
    size = len(next(iter(arrays.values())))
    chosen = np.sort(np.random.default_rng(1).permutation(size)[:most])
    return {n: np.ascontiguousarray(x[chosen]) for n, x in arrays.items()}


def _within(c: Case, name: str, xs: Floats) -> Floats:
    """Those that the spec allows, and 1, the edge of most domains."""
    condition = c.domains.get(name)
    if condition is None:
        return xs
    return np.array([x for x in (*xs, np.float32(1)) if Formula.holds(condition, {name: float(x)})], np.float32)


def sampled(c: Case, arrays: Arrays, bits: int) -> Sampled:
    """The truth at every point."""
    f = Formula(c.body, c.inputs, {k: v for k, v in c.params.items() if not isinstance(v, str)}, bits)
    columns = [arrays[n].tolist() for n in c.inputs]
    found = [f.at(dict(zip(c.inputs, point, strict=True))) for point in zip(*columns, strict=True)]
    return Sampled(arrays, _column(t.value for t in found), tuple(
        _column(t.slopes[k] for t in found) for k in range(len(c.inputs))
    ))  # fmt: skip


def _column(values: Any) -> Doubles:
    return np.array([math.nan if v is None else v for v in values], np.float64)


def score(got: Floats | None, true: Doubles, arrays: Arrays, own: Floats | None = None) -> Score:
    """The worst of all points at which there is a truth. `own`: what torch has there."""
    assert got is not None
    names = tuple(arrays)

    def point(k: int) -> tuple[float, ...]:
        return tuple(float(arrays[n][k]) for n in names)

    def first(mask: Any) -> tuple[float, ...]:
        return point(int(np.argmax(mask))) if mask.any() else ()

    error = ulps(got, true)
    known = ~np.isnan(true)
    finite = known & (np.abs(true) <= _LARGEST)
    wrong = known & np.isnan(got)
    outside = np.any([np.isinf(x) for x in arrays.values()], axis=0)
    shared = np.zeros_like(wrong) if own is None else np.isnan(own)
    excused = np.where(finite, shared, shared | outside)
    above = finite & np.isinf(got) & (error > 4)
    measured = known & ~np.isnan(error)
    worst = int(np.argmax(np.where(measured, error, -1.0)))
    largest = float(error[worst]) if measured.any() else 0.0
    nan, forgiven = first(wrong & ~excused), wrong & excused
    return Score(largest, point(worst), nan, first(above), first(forgiven & finite), first(forgiven & ~finite))


def ulps(got: Floats, true: Doubles) -> Doubles:
    """The distance in units in the last place of the true value as a float32; nan where one of them is."""
    with np.errstate(all="ignore"):
        limited = np.clip(true, -(2.0**128), 2.0**128)
        seen = np.clip(got.astype(np.float64), -(2.0**128), 2.0**128)
        seen = np.where(np.abs(limited) >= _OVERFLOW, np.where(seen >= _OVERFLOW, limited, seen), seen)
        exponent = np.where(limited == 0, -126, np.frexp(limited)[1] - 1)
        unit = np.exp2(np.clip(exponent, -126, 127) - 23.0)
        error = np.abs(seen - limited) / unit
        both = (np.abs(limited) >= _OVERFLOW) & (np.sign(seen) == np.sign(limited)) & (np.abs(seen) >= _OVERFLOW)
        return np.where(np.isnan(true) | np.isnan(got), np.nan, np.where(both, 0.0, error))


def torch_own(c: Case, arrays: Arrays) -> Results | None:
    """Torch's own function and autograd; where it has none, the formula written in torch."""
    given = [torch.from_numpy(arrays[n]).clone().requires_grad_(n not in c.constants) for n in c.inputs]
    y = _called(c, given)
    if not y.requires_grad:
        return Results(y.detach().numpy(), tuple(np.zeros(len(y), np.float32) for _ in given))
    slopes: list[Floats] = []
    for x in given:
        try:
            found = torch.autograd.grad(y, x, torch.ones_like(y), retain_graph=True, allow_unused=True)
            g = torch.zeros_like(x) if found[0] is None else found[0]
        except (RuntimeError, NotImplementedError):  # it has no derivative by this one
            g = torch.full_like(x, math.nan)
        slopes.append(g.numpy())
    return Results(y.detach().numpy(), tuple(slopes))


def _called(c: Case, given: list[torch.Tensor]) -> torch.Tensor:
    if c.reference is None:
        return c.composed(*given)
    found = c.reference(*given)
    assert isinstance(found, torch.Tensor)
    return found


def bits(c: Case) -> int:
    """The precision at which nothing cancels: table functions are evaluated as such, formulas as they are written."""
    if c.name.startswith("f_"):
        return 256 if len(c.inputs) == 1 else 400
    return 700 if len(c.inputs) == 1 else 590  # mpmath takes its time for exponentials of more than 600 bits


Implementation = Callable[[Case, Arrays], Results | None]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table: what is measured, and the score of each implementation that has it."""

    name: str
    of: str  # "value", or the input that it is the derivative by
    scores: dict[str, Score]

    @property
    def bound(self) -> float:
        """What no form of ours may exceed."""
        own = self.scores.get("torch")
        return 4.0 if own is None else max(4.0, own.ulp)


def _column_of(r: Results | None, k: int) -> Floats | None:
    return None if r is None else r.value if k == 0 else r.slopes[k - 1]


def lines(c: Case, truth: Sampled, implementations: dict[str, Implementation]) -> list[Line]:
    """The table of one case."""
    results = {name: run(c, truth.arrays) for name, run in implementations.items()}
    found: list[Line] = []
    for k, of in enumerate(("value", *c.inputs)):
        if of in c.constants:
            continue
        true = truth.value if k == 0 else truth.slopes[k - 1]
        scores: dict[str, Score] = {}
        for name, r in results.items():
            if r is not None and (k == 0 or r.slopes):
                own = None if name == "torch" else _column_of(results.get("torch"), k)
                scores[name] = score(_column_of(r, k), true, truth.arrays, own)
        found.append(Line(c.name, of, scores))
    return found
