"""Kinds of elements: how they combine, and how one becomes another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from opgen.diagnostics.model import Span
from opgen.ir.operator import Variant
from opgen.ir.program import Kind
from opgen.ir.scalar import Lit, where
from opgen.lang.nodes import Access, Call, Expr, Name
from opgen.lang.unparse import respelled, unparse
from opgen.lang.walk import nodes
from opgen.lower.scope import Frame, Typed

_LONG = 60  # characters of a formula that a message does not repeat
WIDER = (Kind.BOOL, Kind.INT, Kind.FLOAT, Kind.COMPLEX)  # what holds a kind stands behind it


def promote(kinds: Iterable[Kind | None]) -> Kind | None:
    """The kind of an arithmetic result; None as soon as one is unknown."""
    found = tuple(kinds)
    if None in found:
        return None
    if Kind.COMPLEX in found:
        return Kind.COMPLEX
    if Kind.FLOAT in found:
        return Kind.FLOAT
    return Kind.INT if Kind.INT in found else Kind.BOOL


def common_kinds(variants: Sequence[Variant]) -> tuple[tuple[str, Kind], ...]:
    """The kind of each output that is not the same in all variants: one that holds them all."""
    kinds: dict[str, dict[Kind, None]] = {}
    for v in variants:
        for o in v.program.outputs:
            kinds.setdefault(o.name, {})[o.kind] = None
    return tuple((n, common) for n, k in kinds.items() if len(k) > 1 and (common := promote(k)) is not None)


def numeric(t: Typed) -> Typed:
    """A condition as 0 or 1; numbers as they are."""
    if t.kind is not Kind.BOOL:
        return t
    if isinstance(t.scalar, Lit):
        return Typed(Lit(int(t.scalar.value)), Kind.INT)
    return Typed(where(t.scalar, Lit(1), Lit(0)), Kind.INT)


def condition(f: Frame, t: Typed, e: Expr, *hints: str) -> Typed:
    """What `e` has become as a condition, or a mistake; `hints` say what is meant instead, where that is known."""
    if t.kind is None or t.kind is Kind.BOOL:
        return t
    what = "an integer" if t.kind is Kind.INT else "a number"
    hints = hints or _conditions(f, t, e)
    return f.error("OPG223", f"a condition is needed here, and this is {what}", e.span, *hints)


def _conditions(f: Frame, t: Typed, e: Expr) -> tuple[str, ...]:
    """How a number becomes a condition: where it is compared, or where it is declared."""
    if not isinstance(e, Name | Access):
        slips = any(isinstance(n, Call) and n.name_span.text != n.name for n in nodes(e))  # `a & b`
        shown = unparse(e) if slips else respelled(e)
        return (f"compare it, for example `{shown if len(shown) <= _LONG else '…'} != 0`",)
    compared = f"compare it, for example `{unparse(e)} != 0`"
    if t.kind is Kind.FLOAT and e.name in f.decl.inputs and e.name not in f.args:
        return (f"declare what it holds: `{e.name}: {{…, dtype: bool}}`", f"or {compared}")
    return (compared,)


ARTICLES = {
    Kind.FLOAT: "a float",
    Kind.INT: "an integer",
    Kind.BOOL: "a condition",
    Kind.COMPLEX: "a complex number",
}


def real_number(f: Frame, t: Typed, span: Span, what: str) -> Typed:
    """A number that is not complex, or a mistake."""
    if t.kind is not Kind.COMPLEX:
        return t
    hint = "take `real(…)`, `imag(…)` or `abs(…)` of it"
    return f.error("OPG223", f"{what} takes real numbers, and this is complex", span, hint, label="complex")
