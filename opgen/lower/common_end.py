"""An index along several axes of which the shortest is known: the statement with the end of that axis.

In go what is read at the index, out comes the line that says where it ends: `d[t < T] = v[t + 1] - v[t] + r[t]` with
one more in `v`.
"""

from __future__ import annotations

from dataclasses import replace

from opgen.diagnostics.model import Span
from opgen.ir import text
from opgen.ir.polynomial import Polynomial, number, polynomial
from opgen.ir.ranges import Facts, facts_of, is_nonnegative
from opgen.ir.scalar import Apply, Dim, Lit, Param
from opgen.lang.nodes import Binder, Name, Reduction
from opgen.lang.unparse import respelled, unparse, unparse_target
from opgen.lang.walk import nodes, statement_at
from opgen.lower.furthest import is_guarded, places, step_and_room
from opgen.lower.scope import Frame, IndexInfo


def common_end(f: Frame, info: IndexInfo) -> str:
    """How far an index runs on all axes that are read at it; empty where none of them is provably the shortest."""
    ends = [polynomial(s.extent) for s in info.sites if not s.padded]
    for c in f.checks:
        if any(i is info for _, i in c.indices) and not is_guarded(c, info):
            parts = step_and_room(f, c, info)
            if parts is None or parts[0] != number(1):
                return ""
            ends.append(parts[1])
    sizes = [a for e in ends for a in e.atoms() if isinstance(a, Dim | Param)]
    facts = facts_of((), f.state.dims, positive=sizes)
    least = next((e for e in ends if all(_is_within(e, other, facts) for other in ends)), None)
    if least is None:
        return ""
    return text.scalar(next((s.extent for s in info.sites if polynomial(s.extent) == least), places(least)))


def _is_within(end: Polynomial, other: Polynomial, facts: Facts) -> bool:
    """Whether one size is at most another; halves of sizes are compared as these are."""
    match end.scalar(), other.scalar():
        case Apply("floordiv", (a, Lit() as parts)), Apply("floordiv", (b, same)) if parts == same:
            return is_nonnegative(polynomial(b) - polynomial(a), facts)
    return is_nonnegative(other - end, facts)


def ended(f: Frame, info: IndexInfo, place: Span, end: str) -> str:
    """The statement around a place with an end where it binds an index; empty where it states one, or is not found."""
    s = statement_at((*f.decl.forward, *f.decl.backward), place)
    if s is None or s.op != "=":
        return ""
    guard = "" if s.guard is None else f" if {respelled(s.guard)}"
    left = tuple(_sized(i, info.name, end) if isinstance(i, Binder) else i for i in s.target.items or ())
    if left != (s.target.items or ()):
        return f"{unparse_target(replace(s.target, items=left))} = {respelled(s.value)}{guard}"
    for r in (n for n in nodes(s.value) if isinstance(n, Reduction)):
        binders = tuple(_sized(b, info.name, end) if isinstance(b, Binder) else b for b in r.binders)
        if binders != r.binders and r.span.start <= place.start and place.end <= r.span.end:
            sized = unparse(replace(r, binders=binders))
            return f"{unparse_target(s.target)} = {respelled(s.value, (r, sized))}{guard}"
    return ""


def _sized(b: Binder, index: str, end: str) -> Binder:
    return replace(b, extent=Name(end, b.span)) if b.name == index and b.extent is None else b
