"""Scatters into rows that an argument names: most rows of a large table are named by none of few numbers.

In goes a step of a plan, out comes what a host has to know to sum up the named rows alone, in a table that has no
others: the kernel runs as ever, with other numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from opgen.ir.program import Axis, Loop, Role
from opgen.ir.scalar import ZERO, Batch, Dim, Index, Param, Read, Scalar, walk
from opgen.plan.build import reads_of, step_scalars, written
from opgen.plan.model import KernelPlan, ScatterStep, Step, Storage


@dataclass(frozen=True, slots=True)
class FewRows:
    """The argument that says which rows of a table are added to, and how many rows that has."""

    numbers: str
    rows: Dim | Param


def few_rows(plan: KernelPlan, s: Step) -> FewRows | None:
    """What a step adds to, where that is rows with numbers of a table that becomes a result of its own dtype."""
    if not isinstance(s, ScatterStep) or s.op != "sum" or s.base != ZERO or s.padded or not s.at:
        return None
    number, rows = s.at[0], _extent(s.axes[0])
    if not isinstance(number, Read) or not isinstance(rows, Dim | Param):
        return None
    if any(not isinstance(p, Index | Batch) for p in (*number.at, *s.at[1:])):
        return None
    numbers = next((b for b in plan.arguments if b.name == number.tensor), None)
    if numbers is None or numbers.role is not Role.INPUT or numbers.storage is not Storage.INT64:
        return None
    others = [*(e for e in step_scalars(s) if e != number), *map(_extent, (*s.axes[1:], *s.loops))]
    told = {b.name for b in plan.buffers if rows in b.shape} | {number.tensor}
    if any(n == rows or (isinstance(n, Read) and n.tensor in told) for e in others for n in walk(e)):
        return None
    results = [r for r in plan.results if r.buffer == s.out]
    converted = [r.storage is Storage.SCALAR and r.like is None and not r.dtype for r in results] == [True]
    alone = [t for t in plan.steps if s.out in (*reads_of(t), *written(t))] == [s]
    whole = alone and plan.buffer(s.out).storage is Storage.COMPUTE
    return FewRows(number.tensor, rows) if converted and whole else None


def _extent(a: Loop) -> Scalar:
    return a.extent if isinstance(a, Axis) else Dim("...")
