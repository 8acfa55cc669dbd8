"""The transpose of an access in gather form: every element sums what reaches it, without atomics.

The solver says which loops are left and under which condition; whether that is cheaper than walking the forward loops
and adding (a scatter) is a question of estimated sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.diff.algebra import product
from opgen.diff.conditions import decided
from opgen.diff.sizes import Sizes, estimate
from opgen.diff.solve import solve
from opgen.diff.structure import extent
from opgen.ir.point import positions
from opgen.ir.program import Axis, Compute, Loop
from opgen.ir.scalar import ONE, ZERO, Batch, Index, Read, Scalar, transform, walk, where

_SCATTER_COST = 2  # an atomic addition against a plain one
_TOO_MUCH = 4  # so many times the work of a scatter is still preferred to its atomics


def gathered(
    target: str,
    access: Read,
    axes: tuple[Loop, ...],
    loops: tuple[Loop, ...],
    value: Scalar,
    active: Scalar,
    sizes: Sizes,
    *,
    forced: bool = False,
) -> Compute | None:
    """`target[axes] = sum[free](where(guard, value, 0))`; None where a scatter is better (unless `forced`)."""
    rest = tuple(a for a in loops if a not in axes)
    pairs = [
        (p, Index(a.name))
        for p, a in zip(access.at, axes, strict=True)
        if isinstance(a, Axis) and not isinstance(p, Batch) and p != Index(a.name)
    ]
    found = solve(pairs, rest, axes, active, sizes)
    if found is None and forced:
        found = solve(pairs, rest, axes, active, sizes, quotients=False)
    if found is None:
        return None
    if not forced:
        looks = any(isinstance(n, Read) for n in walk(found.guard))
        mine = _count((*axes, *found.free), sizes) * (2 if looks and found.free else 1)
        if mine > _TOO_MUCH * (_count(axes, sizes) + _SCATTER_COST * _count(loops, sizes)):
            return None
    facts = sizes.facts((*axes, *found.free))
    here = replace(access, at=positions(axes))
    body = transform(decided(found.put(value), facts), lambda n: replace(here, fill=None) if n == here else n)
    body = product(where(found.guard, ONE, ZERO), body)
    return Compute(target, axes, body, "sum" if found.free else None, found.free)


def _count(loops: Sequence[Loop], sizes: Sizes) -> int:
    total = 1
    for a in loops:
        total *= max(estimate(extent(a), sizes.dims), 1)
    return total
