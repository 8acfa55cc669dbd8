"""Longer calls of random programs: rows and batches that reach the vectors, teams and tiles of kernels."""

from __future__ import annotations

import random
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from opgen.ir.interp import Machine, results_of
from opgen.ir.program import Compute, Loop, Program, Recurrence, Scatter, Statement
from opgen.ir.scalar import Batch
from tests.random_programs.calls import Arrays, Called, Checked
from tests.random_programs.sizes import resized, told

WHOLE = (16, 64)  # whole vectors of every type for which there are some
OTHER = (20, 33, 130)  # what is left of vectors and warps
POINTS = 4200  # at most, in all loops of a stage together
VARIANTS = 2
INT64 = 2**63


def lengthen(done: Checked) -> None:
    """Each call of a program again with each of its dims longer, with all of them, and with a longer batch."""
    rng = random.Random(zlib.crc32(done.case.text.encode()))
    dims = list(dict.fromkeys(d for v in done.surface.derived for d in told(v.variant.program)))
    calls = {(c.stage, id(c.program)): c for c in done.calls}
    for longer in [[d] for d in dims] + [dims] * (len(dims) > 1) + [["..."]]:
        for lengths in (WHOLE, OTHER) if rng.random() < 0.5 else (WHOLE,):
            tries = (_called(done, longer, length) for length in rng.sample(lengths, len(lengths)))
            for c in next((found.calls for found in tries if found is not None), []):
                calls[c.stage, id(c.program)].longer.append(c)


def _called(done: Checked, dims: Sequence[str], length: int) -> Checked | None:
    """The calls of some variants with other sizes; None where these are none, are out of range, or unfit."""
    derived = done.surface.derived
    tensors = {t.name: t for d in derived for t in d.variant.program.inputs}
    shapes = dict(done.case.shapes)
    for dim in dims:
        shapes = {n: resized(s, tensors[n], dim, length) if n in tensors else s for n, s in shapes.items()}
    if shapes == done.case.shapes or any(prod(s) == 0 for s in shapes.values()):
        return None
    found = Checked(replace(done.case, shapes=shapes), done.surface)
    for d in derived[:VARIANTS]:
        called = _Longer(found, d)
        try:
            called.record_all()
        except (IndexError, ZeroDivisionError, ValueError, _UnfitError):
            return None
    return found


class _UnfitError(Exception):
    """A call takes long, or comes to what is no integer of 64 bits."""


class _Longer(Called):
    def run(self, p: Program) -> Arrays:
        if _points(p, self.given(p), self.params) > POINTS:
            raise _UnfitError
        machine = Machine(p, self.given(p), self.params)
        found = results_of(machine)
        if any(isinstance(v, int) and abs(v) >= INT64 for a in machine.arrays.values() for v in a.data):
            raise _UnfitError
        return found


def _points(p: Program, arrays: Arrays, params: Mapping[str, object]) -> int:
    """How many points the loops of a program have."""
    machine = Machine(p, arrays, params)

    def of(loops: tuple[Loop, ...]) -> int:
        return prod(prod(machine.batch) if isinstance(a, Batch) else max(machine.extent(a), 0) for a in loops)

    def points(s: Statement) -> int:
        match s:
            case Compute():
                return of(s.axes) * of(s.over)
            case Scatter():
                return of(s.axes) + of(s.loops)
            case Recurrence():
                return sum(map(points, s.steps))

    return sum(map(points, p.statements))
