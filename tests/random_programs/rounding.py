"""How far from the interpreter a kernel of float32 may be: as far as its rounding can lead, and a little.

The interpreter computes once more with every number moved by some units in the last place of float32. A result that
moves far, or to something else altogether, says nothing about a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import copysign, inf, isfinite
from typing import Any

from opgen.ir.evaluate import Value
from opgen.ir.interp import Array, Machine, results_of
from opgen.ir.program import Program
from tests.random_programs.calls import Arrays, Call, near

TIMES = 2
UNITS = 8  # in the last place
EPSILON, LEAST, MOST = 2.0**-24, 2.0**-126, 3.4e38
TOLERANCE, SAFETY, STEADY = 1e-5, 8, 1e-2
# What is as exact as its arguments, or of bits.
EXACT = (
    "where", "and", "or", "neg", "abs", "max", "min", "clamp", "relu", "copysign", "detach", "tofloat", "magnitude",
    "uniform_of", "to_float8_e4m3fn", "to_float8_e5m2",
)  # fmt: skip


def tolerances(c: Call) -> dict[str, float]:
    """By results that float32 determines, how far they may be off, relative to the largest of their numbers."""
    moved = [m for k in range(TIMES) if (m := _moved(c.program, c.arrays, c.params, k)) is not None]
    if len(moved) < TIMES:
        return {}
    found = {}
    for name, want in c.expected.items():
        size = 1 + max((abs(v) for v in want.data if isfinite(v)), default=0)
        off = max(_distance(m[name], want) for m in moved) / size
        if off * SAFETY <= STEADY and size < MOST:
            found[name] = TOLERANCE + off * SAFETY
    return found


def _distance(a: Array, b: Array) -> float:
    """Between two results; infinite where one is no such number or condition as the other."""
    pairs = list(zip(a.data, b.data, strict=True))
    exact = all(isinstance(y, int) or not isfinite(y) or not isfinite(x) for x, y in pairs)
    if exact:
        return 0 if all(near(x, y, 0) for x, y in pairs) else inf
    apart = [0 if near(x, y, 0) else abs(x - y) if isfinite(x) and isfinite(y) else inf for x, y in pairs]
    return max(apart, default=0)


def _moved(p: Program, arrays: Arrays, params: Mapping[str, object], seed: int) -> Arrays | None:
    """The results of numbers that are moved; None where there are none."""
    given = {n: Array(a.shape, [_beside(v, seed) for v in a.data]) for n, a in arrays.items()}
    machine = _Moved(p, given, params)
    machine.seed = seed
    try:
        return results_of(machine)
    except (IndexError, ZeroDivisionError):
        return None


class _Moved(Machine):
    seed = 0

    def _applied(self, fn: str, args: list[Callable[[Any], Value]]) -> Callable[[Any], Value]:
        exact = super()._applied(fn, args)
        return exact if fn in EXACT else lambda point: _beside(exact(point), self.seed)


def _beside(value: Value, seed: int) -> Value:
    """A number that is moved, alike wherever it occurs, within the range of float32; whole numbers stay."""
    if not isinstance(value, float) or not isfinite(value) or (value.is_integer() and abs(value) < 1 / EPSILON):
        return value
    if abs(value) > MOST:
        return copysign(inf, value)
    if abs(value) < LEAST:
        return copysign(0.0, value)
    share = hash((value, seed)) % 2**16 / 2**15 - 1
    return value * (1 + UNITS * EPSILON * share)
