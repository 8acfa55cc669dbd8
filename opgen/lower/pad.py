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
from opgen.lang.nodes import Access, Call, Expr
from opgen.lang.unparse import unparse
from opgen.lower.access import access
from opgen.lower.kinds import condition, numeric, promote
from opgen.lower.pad_mode import by_position, mode_of
from opgen.lower.pad_width import padded_by_width
from opgen.lower.scope import BAD, Frame, Typed


def padded(f: Frame, e: Call) -> Typed:
    """Lower a `pad` on the right side."""
    listed = any(isinstance(a, Call) and a.name == LIST for a in e.args)
    whole = len(e.args) != 2 or listed or not isinstance(e.args[0], Access)
    if (mode := mode_of(e)) is not None:
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
        hint = "it covers one access: `pad(x[i - 1], 0)`"
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


def _as_condition(f: Frame, fill: Typed, outside: Expr) -> Typed:
    if fill.scalar in (Lit(0), Lit(1)):
        return Typed(Lit(fill.scalar == Lit(1)), Kind.BOOL)
    return condition(f, fill, outside)
