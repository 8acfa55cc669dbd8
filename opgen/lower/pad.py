"""`pad(x[…], fill)`: an access that may leave its tensor, and what it reads there.

A constant fill becomes part of the access. One that is computed, or of another kind than the tensor, becomes the other
branch of a choice, so that derivatives see it.
"""

from __future__ import annotations

from opgen.diagnostics.suggest import counted
from opgen.ir.point import in_bounds
from opgen.ir.program import Kind
from opgen.ir.scalar import BATCH, Lit, Read, is_constant, where
from opgen.lang.joins import LIST
from opgen.lang.nodes import Access, Call, Expr, Power, Product, Unary
from opgen.lang.unparse import respelled, unparse
from opgen.lang.walk import literal, nodes
from opgen.lower.access import access
from opgen.lower.kinds import condition, numeric, promote
from opgen.lower.pad_mode import by_position, mode_of
from opgen.lower.pad_width import padded_by_width
from opgen.lower.scope import BAD, Frame, Typed

_OF_0 = (
    "abs",
    "square",
    "sqrt",
    "cbrt",
    "sin",
    "tan",
    "asin",
    "atan",
    "sinh",
    "tanh",
    "asinh",
    "relu",
    "expm1",
    "log1p",
)


def padded(f: Frame, e: Call) -> Typed:
    """Lower a `pad` on the right side."""
    listed = any(isinstance(a, Call) and a.name == LIST for a in e.args)
    whole = len(e.args) != 2 or listed or not isinstance(e.args[0], Access)
    if (mode := mode_of(f.decl, e)) is not None:
        message = f"`pad` reads one number outside, and {mode.value!r} is none"
        f.error("OPG210", message, mode.span, by_position(f.decl, e.args[0], mode))
        return access(f, e.args[0], padded=True) if isinstance(e.args[0], Access) else BAD  # extents may be missing
    if whole and (hints := padded_by_width(f, e)):
        return f.error("OPG210", "`pad` takes an access and a fill, and no width", e.span, *hints)
    if len(e.args) != 2 or listed:
        other = "a list" if listed else counted(len(e.args), "argument")
        message = f"`pad` takes an access and a fill, not {other}"
        if not e.args or not isinstance(e.args[0], Access):
            return f.error("OPG210", message, e.span, "it is written `pad(x[i - 1], 0)`")
        f.error(
            "OPG210", message, e.span, f"write `pad({unparse(e.args[0])}, 0)`, or what there is outside in place of 0"
        )
        return access(f, e.args[0], padded=True)  # goes on, as extents may be missing as well
    inner, outside = e.args
    if not isinstance(inner, Access):
        line = _padded_inside(inner, outside)
        hint = f"it covers one access: {f'write `{line}`' if line else '`pad(x[i - 1], 0)`'}"
        return f.error("OPG206", "`pad` takes an access with positions", inner.span, hint)
    fill = f.lower(outside)
    value = access(f, inner, padded=True)
    if value.kind is None or fill.kind is None:
        return BAD
    if not isinstance(value.scalar, Read):
        return value
    if value.kind is Kind.BOOL:
        fill = _as_condition(f, fill, outside)
        if fill.kind is None:
            return BAD
    else:
        fill = numeric(fill)
    kind = promote((value.kind, fill.kind))
    if kind is value.kind and is_constant(fill.scalar):
        return Typed(Read(value.scalar.tensor, value.scalar.at, fill.scalar), kind)
    known = f.state.tensors[value.scalar.tensor]
    assert known.shape is not None
    shape = tuple(BATCH if k in known.running else n for k, n in enumerate(known.shape))  # before it is the start
    return Typed(where(in_bounds(value.scalar, shape), value.scalar, fill.scalar), kind)


def _padded_inside(e: Expr, fill: Expr) -> str:
    """`square(pad(x[i - 1], 0))` for the square of an access, padded: what of 0 is 0 again; empty for anything else."""
    reads = [n for n in nodes(e) if isinstance(n, Access)]
    if len(reads) != 1 or literal(fill) != 0 or not _keeps_0(e):
        return ""
    return respelled(e, (reads[0], f"pad({respelled(reads[0])}, {respelled(fill)})"))


def _keeps_0(e: Expr) -> bool:
    """Whether a function of an access is 0 where that is 0."""
    match e:
        case Access():
            return True
        case Unary(op="-", operand=of):
            return _keeps_0(of)
        case Power(base=base, exponent=exponent):
            return (literal(exponent) or 0) > 0 and _keeps_0(base)
        case Product(factors=factors):
            rest = [(op, f) for op, f in factors if op != "*" or not _keeps_0(f)]
            return len(rest) == len(factors) - 1 and all(op in ("*", "/") and literal(f) for op, f in rest)
        case Call(name=name, args=(of,)):
            return name in _OF_0 and _keeps_0(of)
        case _:
            return False


def _as_condition(f: Frame, fill: Typed, outside: Expr) -> Typed:
    if fill.scalar in (Lit(0), Lit(1)):
        return Typed(Lit(fill.scalar == Lit(1)), Kind.BOOL)
    return condition(f, fill, outside)
