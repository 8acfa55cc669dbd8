"""Curves of an element-wise operator: its value, its slope and its curvature along one input, and where they kink.

In goes an operator with what was derived of it; out come points, as the reference interpreter of programs has them. The
other inputs are 1, and so are params without a default.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from opgen.diff.adjoint import adjoint
from opgen.ir.interp import Array, run
from opgen.ir.program import Kind, Program, Role
from opgen.ir.scalar import BATCH
from opgen.opt.derive import Derived
from opgen.package.sample_numbers import default_value

_FROM, _TO, _POINTS = -4.0, 4.0, 201
_STEPS = 30  # of bisection
_JUMP = 12.0  # so many times the usual difference of neighbours is a jump

Curve = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """The curves of one input: what each is called, its points, and places where it jumps, just behind each jump."""

    along: str
    curves: tuple[tuple[str, Curve, tuple[float, ...]], ...]


def plots(d: Derived) -> tuple[Plot, ...]:
    """The curves along every float input; none where the operator is not element-wise."""
    p = d.primal
    surface = [(t.shape, t.kind) for t in p.inputs] + [(o.shape, o.kind) for o in p.outputs]
    whole = all(shape == (BATCH,) for shape, _ in surface) and len(p.outputs) == 1
    plain = all(kind is Kind.FLOAT for _, kind in surface) and not p.functions
    if not whole or not plain or not p.inputs or not p.statements:
        return ()
    found = (_plot(d, t.name) for t in p.inputs)
    return tuple(f for f in found if f is not None)


def _plot(d: Derived, along: str) -> Plot | None:
    programs: list[tuple[str, Program, str]] = [("f", d.primal, d.primal.outputs[0].name)]
    if d.gradient is not None:
        programs += [("f′", d.gradient, n) for n in _gradient_of(d.gradient, along)]
        second = adjoint(d.gradient)
        programs += [("f″", second, n) for n in _gradient_of(second, along)]
    curves = []
    for name, program, result in programs:
        f = _function(program, along, result)
        try:
            values = f([_FROM + (_TO - _FROM) * k / (_POINTS - 1) for k in range(_POINTS)])
        except (ArithmeticError, ValueError, IndexError):
            return None
        curves.append((name, values, tuple(_jumps(f, values))))
    return Plot(along, tuple(curves))


def _gradient_of(p: Program, name: str) -> list[str]:
    return [o.name for o in p.outputs if o.of == name][:1]


def _function(p: Program, along: str, result: str) -> Callable[[Sequence[float]], Curve]:
    """A result of a program as a function of one input; the cotangent that is asked about is 1, as that of f is."""
    params = {a.name: 1.0 if (v := default_value(a)) is None else v for a in p.params if a.type != "bool"}
    switches = {a.name: True for a in p.params if a.type == "bool"}

    def values(xs: Sequence[float]) -> Curve:
        arrays = {}
        for t in p.inputs:
            if t.name == along:
                data: list[float] = list(xs)
            else:
                other = t.role is Role.COTANGENT and t.name.startswith("grad_grad_") and t.name != f"grad_grad_{along}"
                data = [0.0 if other else 1.0] * len(xs)
            arrays[t.name] = Array((len(xs),), [*data])
        return tuple(zip(xs, map(float, run(p, arrays, params | switches)[result].data), strict=True))

    return values


def _jumps(f: Callable[[Sequence[float]], Curve], curve: Curve) -> list[float]:
    """Where neighbours differ far more than elsewhere, found out by bisection."""
    steps = [abs(b - a) for (_, a), (_, b) in pairwise(curve)]
    finite = sorted(s for s in steps if math.isfinite(s))
    if not finite:
        return []
    values = [y for _, y in curve if math.isfinite(y)]
    least = max(_JUMP * finite[len(finite) // 2], 0.04 * (max(values) - min(values)))
    found: list[float] = []
    for k, size in enumerate(steps):
        if not math.isfinite(size) or size <= least:
            continue
        (a, low), (b, high) = curve[k], curve[k + 1]
        for _ in range(_STEPS):
            middle = (a + b) / 2
            ((_, value),) = f((middle,))
            if abs(value - low) < abs(high - value):
                a, low = middle, value
            else:
                b, high = middle, value
        if abs(high - low) > size / 2:  # a slope that is only steep is less so from nearby
            found.append(b)
    return found
