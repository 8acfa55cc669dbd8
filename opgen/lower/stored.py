"""Values that are stored in few bits: rounded to the nearest even, the last number there is for what is beyond."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from opgen.diagnostics.model import Bag, Span
from opgen.ir.point import positions
from opgen.ir.program import Axis, Compute, Kind, Loop, Output, Statement
from opgen.ir.scalar import ZERO, Apply, Batch, Lit, Read, Scalar, where
from opgen.ir.storage import STORED, Stored

_IN_16_BITS = range(2**16)


def rounded(e: Scalar, kind: Kind, to: Stored) -> Scalar:
    """A value as it reads when it was stored; what is no number is 0 as an integer."""
    if to.kind is Kind.FLOAT:
        return Apply(to.rounding, (e,))
    if kind is Kind.INT:
        return e if to.name == "int64" else Apply("clamp", (e, Lit(to.least), Lit(to.most)))
    return where(Apply("isnan", (e,)), ZERO, _whole(Apply("round", (e,)), to))


def _whole(near: Scalar, to: Stored) -> Scalar:
    """A whole number that is a float, as an integer within its limits."""
    least = Lit(Fraction(to.least))
    if to.most in _IN_16_BITS:
        return Apply("int", (Apply("clamp", (near, least, Lit(Fraction(to.most)))),))
    end = Lit(Fraction(to.most + 1))  # a power of two: float32 holds it, and not the number before it
    return where(Apply("ge", (near, end)), Lit(to.most), Apply("int", (Apply("max", (near, least)),)))


def stored_results(
    outputs: tuple[Output, ...], fresh: Callable[[str], str], bag: Bag, span: Span
) -> tuple[tuple[Statement, ...], tuple[Output, ...]]:
    """The statements that round results to what they are stored in, and the results; these have no derivative."""
    made: list[Statement] = []
    found: list[Output] = []
    for o in outputs:
        to = STORED.get(o.dtype)
        if to is None or not to.quantised:
            found.append(o)
            continue
        if o.kind is Kind.COMPLEX:
            bag.error("OPG223", f"`{o.name}` is complex, and {o.dtype} holds real numbers", span)
            continue
        if o.kind is Kind.INT and o.dtype == "int64":
            found.append(replace(o, dtype=""))
            continue
        axes: tuple[Loop, ...] = tuple(s if isinstance(s, Batch) else Axis(fresh("i"), s) for s in o.shape)
        value: Scalar = Read(o.value, positions(axes))
        if o.kind is Kind.BOOL:
            value = where(value, Lit(1), ZERO)
        name = fresh(f"{o.name}_{o.dtype}")
        body = rounded(value, Kind.INT if o.kind is Kind.BOOL else o.kind, to)
        made.append(Compute(name, axes, body, kind=to.kind))
        found.append(replace(o, value=name, kind=to.kind, differentiable=False))
    return tuple(made), tuple(found)
