"""What is read outside of a tensor, where a reduction goes over places some of which are none.

In go a position that leaves its tensor and at which ends it does; out comes what to write so that what is outside does
not count: `pad` with a value that the reduction around passes over, or a condition around all of its body.
"""

from __future__ import annotations

from dataclasses import replace

from opgen.ir import text
from opgen.ir.program import Kind
from opgen.ir.reductions import REDUCTIONS
from opgen.ir.scalar import INF, NEG_INF, ZERO, Scalar
from opgen.lang.nodes import Access, Binder, Call, Dots, Expr, Name, Product, Reduction, Sum, Unary
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.walk import names_read, nodes, statement_at
from opgen.lower.scope import Check, Frame, IndexInfo


def left_out(f: Frame, c: Check, *, below: bool, above: bool, of_0: str = "", alone: bool = False) -> str:
    """What to write for a read that leaves its tensor in front of it, behind it, or at both ends.

    `of_0`: what is said where 0 is the likely value of what is outside. `alone`: other terms of a reduction
    around count at such places.
    """
    shown = c.site.span.text if not c.site.span.text.startswith("pad") else f"{c.site.tensor}[…]"
    plain = of_0 or f"write `pad({shown}, 0)`, or what there is outside in place of 0"
    r = over(f, c)
    if r is None or alone:
        return plain
    size = text.scalar(c.extent)
    inside = f"{'0 <= ' if below else ''}{c.span.text}{f' < {size}' if above else ''}"
    if not above:
        inside = f"{c.span.text} >= 0"
    row = REDUCTIONS.get(r.name)
    if r.name == "mean":
        total = _where(replace(r, name="sum"), inside, "0")
        count = unparse(replace(r, name="count", body=Name(inside, r.span)))
        return f"write `{total}/{count}` for the mean of what is inside, or `pad({shown}, 0)` where 0 counts as well"
    neutral = row.neutral if row is not None else None
    integers = c.site.tensor in f.state.tensors and f.state.tensors[c.site.tensor].kind is Kind.INT
    if neutral is None or (integers and neutral in (INF, NEG_INF)):
        return f"write `pad({shown}, …)` with what there is outside in place of `…`, which counts in `{r.name}`"
    if _passes(r.body, c, neutral) or (neutral == ZERO and len(c.indices) == 1):
        fill = text.scalar(neutral)
        return plain if neutral == ZERO else f"write `pad({shown}, {fill})`, so that what is outside does not count"
    return f"write `{_where(r, inside, text.scalar(neutral))}`, so that what is outside does not count"


def scattered_apart(f: Frame, c: Check, info: IndexInfo, end: str) -> str | None:
    """How an index ends earlier that stands in the position of a scatter, which states no extent: the position has a
    statement of its own. Empty where it cannot; None where the index is introduced elsewhere.
    """
    s = statement_at((*f.decl.forward, *f.decl.backward), c.span)
    loops = f.scope.root().loops if f.scope is not None else []
    items = () if s is None else s.target.items or ()
    alone = any(isinstance(i, Binder) and i.name == info.name for i in items)
    if s is None or s.op == "=" or alone or not any(i is info for i in loops):
        return None
    inside = [i for i in items if not isinstance(i, Binder | Dots) and i.span.start <= c.span.start < i.span.end]
    rest = [n for i in (*items, s.value) if not isinstance(i, Binder | Dots) and i not in inside for n in nodes(i)]
    taken = {*f.decl.targets(), *f.decl.inputs, *f.decl.params, *f.decl.functions, *f.index_names}
    name = next((n for n in ("at", "place", "position") if n not in taken), "")
    read = [n for n in rest if isinstance(n, Access) and any(_is(i, info.name) for i in n.items)]
    if not inside or not name or read:
        return ""
    item = inside[0]
    used = [i.name for i in loops if isinstance(i, IndexInfo) and i.name in names_read(item)]
    accesses = [n for n in nodes(item) if isinstance(n, Access)]
    if not all(n == info.name or any(_is(i, n) for a in accesses for i in a.items) for n in used):
        return ""
    sized = ", ".join(f"{n} < {end}" if n == info.name else n for n in used)
    place = Access(name, tuple(Name(n, item.span) for n in used), item.span, item.span)
    target = replace(s.target, items=tuple(place if i is item else i for i in items))
    moved = f"`{name}[{sized}] = {unparse(item)}`, `{unparse_assign(replace(s, target=target))}`"
    return f"or let `{info.name}` end earlier, in a statement before: {moved}"


def _is(item: Expr | Dots, index: str) -> bool:
    return isinstance(item, Name) and item.name == index


def over(f: Frame, c: Check) -> Reduction | None:
    """The innermost reduction around a position that goes over an index in it."""
    own = statement_at((*f.decl.forward, *f.decl.backward), c.span)
    around = [n for n in nodes(own.value) if isinstance(n, Reduction)] if own is not None else []
    around = [r for r in around if r.body.span.start <= c.span.start and c.span.end <= r.body.span.end]
    moved = {i.name for _, i in c.indices}
    return next(
        (r for r in reversed(around) if any(isinstance(b, Binder) and b.name in moved for b in r.binders)), None
    )


def _where(r: Reduction, inside: str, other: str) -> str:
    """A reduction of its body under a condition."""
    made = Call("where", (Name(inside, r.span), r.body, Name(other, r.span)), r.span, r.span)
    return unparse(replace(r, body=made))


def _passes(e: Expr, c: Check, value: Scalar) -> bool:
    """Whether a body is a value where the access that it reads at a position is."""
    match e:
        case Access(span=span):
            return span == c.site.span
        case Unary(op="-", operand=of):
            return value == ZERO and _passes(of, c, value)
        case Product(factors=factors):
            return value == ZERO and any(op == "*" and _passes(x, c, value) for op, x in factors)
        case Sum(terms=terms):
            return value in (INF, NEG_INF) and any(sign == "+" and _passes(x, c, value) for sign, x in terms)
        case _:
            return False
