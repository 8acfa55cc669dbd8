"""Do samples lie at kinks? Rounding puts values on a lattice, of which points may be where a formula has no slope.

`sign(c)*(exp(abs(c)) - 1)` of a rounded `c` is smooth, but at 0 the derivative of what is written there is 0 times one
of `abs`, and finite differences say something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from opgen.ir.interp import Array, run
from opgen.ir.kinds import kind_of
from opgen.ir.program import Compute, Kind, Loop, Output, Program, parts
from opgen.ir.scalar import Apply, Batch, Scalar, walk
from opgen.opt.dce import dce

_ROUNDED = frozenset({"round", "floor", "ceil", "trunc"})
_NEAR = 1e-9


def at_kink(p: Program, arrays: Mapping[str, Array], values: Mapping[str, object]) -> bool:
    """Where a program rounds: is the operand of an `abs` or `sign` zero somewhere, or are those of a `max` equal?"""
    bodies = [(s, n) for s in parts(p.statements) for n in walk(s.body)]
    if not any(isinstance(n, Apply) and n.fn in _ROUNDED for _, n in bodies):
        return False
    return any(
        any(abs(v) < _NEAR for v in found.data)
        for s, n in bodies
        if isinstance(s, Compute) and kind_of(p.kind_of, p.params, n) is Kind.FLOAT  # what is an integer has no slope
        for operand in _turns(n)
        for found in _values(p, s, operand, arrays, values)
    )


def _turns(e: Scalar) -> Iterator[Scalar]:
    """What is zero where an expression has a kink."""
    match e:
        case Apply("abs" | "sign", (a,)):
            yield a
        case Apply("max" | "min", (a, b)):
            yield Apply("sub", (a, b))


def _values(
    p: Program, s: Compute, e: Scalar, arrays: Mapping[str, Array], values: Mapping[str, object]
) -> Iterator[Array]:
    """An expression of a statement at all its points; nothing where a condition around it kept it inside of tensors."""
    axes: tuple[Loop, ...] = tuple(dict.fromkeys((*s.axes, *s.over)))
    probe = Compute("operand of a kink", axes, e)
    shape = tuple(a if isinstance(a, Batch) else a.extent for a in axes)
    watched = replace(p, statements=(*p.statements, probe), outputs=(Output("operand", probe.target, shape),))
    try:
        yield run(dce(watched), arrays, values)["operand"]
    except (IndexError, OverflowError, ValueError, ZeroDivisionError):
        return
