"""Powers, which are integers or floats by what their exponent can be, and constants within the bounds of float64.

Derived programs hold numbers exactly, so that `2.0` and `2` are the same there. Where a power is a float only for such
a reason, its base says so itself (`tofloat`); otherwise integers would be multiplied, and `2.0**-n` be 0.
"""

from __future__ import annotations

from fractions import Fraction

from opgen.diagnostics.model import Span
from opgen.ir.functions import row
from opgen.ir.numbers import is_beyond, rational, size_of_power
from opgen.ir.program import Kind
from opgen.ir.scalar import ONE, Apply, Cast, Const, Dim, Index, Lit, Param, Read, Scalar, div, power
from opgen.lower.declare import Declarations
from opgen.lower.domain import is_at_least
from opgen.lower.kinds import promote
from opgen.lower.scope import Frame, Typed

_INT64 = 63  # bits of a magnitude
_FLOAT64 = 1024


def within_bounds(f: Frame, t: Typed, span: Span) -> Typed:
    """A sum or product whose constants float64 can hold, or a mistake."""
    parts = t.scalar.args if isinstance(t.scalar, Apply) and t.scalar.fn in ("add", "mul", "sub") else (t.scalar,)
    beyond = any(isinstance(p, Lit) and is_beyond(p.value) for p in parts)
    return _too_large(f, span) if beyond else t


def _too_large(f: Frame, span: Span) -> Typed:
    return f.error("OPG245", "this constant is beyond float64", span, "write `inf` if infinity is meant")


def power_of(f: Frame, base: Typed, exponent: Typed, span: Span) -> Typed:
    """A power; of integers a float, unless the exponent is never negative."""
    kind = promote((base.kind, exponent.kind))
    if kind is None or kind is Kind.COMPLEX:
        return Typed(power(base.scalar, exponent.scalar), kind)
    size = size_of_power(rational(base.scalar), rational(exponent.scalar))
    if size is not None and size > _FLOAT64:
        return _too_large(f, span)
    if kind is Kind.INT and (size is None or size < _INT64):
        if _never_negative(f.decl, exponent.scalar):
            return Typed(power(base.scalar, exponent.scalar), kind)
        if isinstance(exponent.scalar, Lit) and (size is None or size > -_INT64):
            return Typed(div(ONE, power(base.scalar, Lit(-exponent.scalar.value))), Kind.FLOAT)
    if _stays_float(f, base.scalar) or _stays_float(f, exponent.scalar):
        return Typed(power(base.scalar, exponent.scalar), Kind.FLOAT)
    return Typed(power(Apply("tofloat", (base.scalar,)), exponent.scalar), Kind.FLOAT)


def _never_negative(d: Declarations, e: Scalar) -> bool:
    """Whether an integer is at least 0 by what it is made of."""
    match e:
        case Lit(value):
            return value >= 0
        case Dim() | Index():
            return True
        case Param(name):
            return name in d.params and is_at_least(name, d.params[name], 0)
        case Apply("max", args):
            return any(_never_negative(d, a) for a in args)
        case Apply("add" | "mul" | "min" | "floordiv" | "pow", args):
            return all(_never_negative(d, a) for a in args)
        case Apply("mod" | "remainder", (_, b)):
            return _never_negative(d, b)
        case Apply("where", (_, a, b)):
            return _never_negative(d, a) and _never_negative(d, b)
        case Apply(fn):
            return fn in ("abs", "square", "relu")
        case _:
            return False


def _stays_float(f: Frame, e: Scalar) -> bool:
    """Whether an expression is a float even where whole literals are integers."""
    match e:
        case Lit(value):
            return isinstance(value, Fraction) and value.denominator != 1
        case Const() | Cast():
            return True
        case Read(tensor=name):
            return _kind_of(f, name) is Kind.FLOAT
        case Param(name):
            return f.decl.params[name].type == "float" if name in f.decl.params else True
        case Apply("where", (_, *branches)):
            return any(_stays_float(f, b) for b in branches)
        case Apply(fn, args):
            result = row(fn).result
            return result == "float" or (result == "same" and any(_stays_float(f, a) for a in args))
        case _:
            return False


def _kind_of(f: Frame, name: str) -> Kind | None:
    """The kind of a tensor, or of a reduction that was taken out of this statement."""
    known = f.state.tensors.get(name)
    return known.kind if known is not None else next((p.kind for p in f.pending if p.target == name), Kind.FLOAT)
