"""What can be said about the values and gradients of an operator before it runs.

In go an operator or one of its programs. A function that another library computes has no value here, unless the spec
gives a formula beside it; a gradient that the spec states need not be that of its formula.
"""

from __future__ import annotations

import math
from dataclasses import replace

from opgen.ir.interp import Array
from opgen.ir.operator import Operator
from opgen.ir.program import Program
from opgen.ir.scalar import Apply, Param, Scalar


def states_gradients(operator: Operator) -> bool:
    """Does the spec state a gradient that need not be that of a formula, so that finite differences say nothing?"""
    programs = [v.program for v in operator.variants]
    functions = (f for p in programs for f in p.functions)
    return any(p.override.inputs for p in programs) or any(f.partials and f.value is not None for f in functions)


def is_rounded(operator: Operator) -> bool:
    """Is an output stored in so low a precision that finite differences say nothing?"""
    outputs = (o for v in operator.variants for o in v.program.outputs)
    return any(o.dtype not in ("", "float64") and o.differentiable for o in outputs)


def is_known(p: Program) -> bool:
    """Do formulas alone lead to the values?"""
    return bool(p.statements) and all(f.value is not None for f in p.functions)


def stand_in(p: Program) -> Program:
    """The program to find samples with: where a value is not known, another one takes its place."""
    functions = tuple(f if f.value is not None else replace(f, value=Param(f.params[0])) for f in p.functions)
    return replace(p, functions=functions, outputs=p.outputs if p.statements else ())


def conjuncts(e: Scalar) -> tuple[Scalar, ...]:
    return e.args if isinstance(e, Apply) and e.fn == "and" else (e,)


def inside(low: float, high: float, width: float) -> tuple[float, float]:
    """A bounded interval strictly inside a domain."""
    if math.isfinite(width):
        return low + 0.05 * width, high - 0.05 * width
    if math.isfinite(low):
        return low + 0.1, low + 3.0
    return (high - 3.0, high - 0.1) if math.isfinite(high) else (-2.0, 2.0)


def finite(a: Array) -> bool:
    return all(math.isfinite(v) for v in a.data)
