"""Divisions by a sum that is scattered, which is 0 where nothing is scattered to: warnings.

A mean over the edges of each node divides by their number, and a node without edges has none. A read at a computed
place (`total[to[e]]`) is one that something was scattered to, and what `where` chooses is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opgen.diagnostics.model import Diagnostic, Severity
from opgen.ir.operator import Variant
from opgen.ir.program import Compute, Program, Scatter
from opgen.ir.scalar import ZERO, Apply, Batch, Index, Read, Scalar, children
from opgen.lang.nodes import Access, Expr, Name, Product
from opgen.lang.unparse import unparse
from opgen.lang.walk import nodes, statement_at
from opgen.lower.declare import Declarations


def nowhere(d: Declarations, variants: Sequence[Variant]) -> Iterator[Diagnostic]:
    """A warning for each statement that divides by such a sum as it is, once for all variants."""
    told: set[int] = set()
    for v in variants:
        sums = _sums(v.program)
        for s in v.program.statements:
            if not isinstance(s, Compute) or s.span is None or s.span.start in told or not sums:
                continue
            if any(_is_sum(b, sums) for b in _divisors(s.body)):
                told.add(s.span.start)
                yield _warning(d, s)


def _sums(p: Program) -> set[str]:
    """The sums that are scattered into zeros, and into those again."""
    zeros = {s.target for s in p.statements if isinstance(s, Compute) and s.op is None and s.body == ZERO}
    found: set[str] = set()
    for s in (s for s in p.statements if isinstance(s, Scatter) and s.op == "sum"):
        if s.base == ZERO or (isinstance(s.base, Read) and s.base.tensor in zeros | found):
            found.add(s.target)
    return found


def _divisors(e: Scalar) -> Iterator[Scalar]:
    """What an expression divides by, whatever the values are."""
    if isinstance(e, Apply) and e.fn == "where":
        return
    if isinstance(e, Apply) and e.fn in ("div", "reciprocal"):
        yield e.args[-1]
    for child in children(e):
        yield from _divisors(child)


def _is_sum(e: Scalar, sums: set[str]) -> bool:
    return isinstance(e, Read) and e.tensor in sums and all(isinstance(p, Index | Batch) for p in e.at)


def _warning(d: Declarations, s: Compute) -> Diagnostic:
    assert s.span is not None
    scattered = {a.target.name for a in d.forward if a.op == "+="}
    own = statement_at(d.forward, s.span)
    found = next((b for b in _written(own.value) if b.name in scattered), None) if own is not None else None
    shown = "the divisor" if found is None else f"`{unparse(found)}`"
    span = s.span if found is None else found.span
    hint = "one that counts is kept from 0 by `max(…, 1)`, any other by `max(…, eps)`"
    if found is not None:
        hint = f"keep it from 0: `max({unparse(found)}, 1)` of a count, or `max({unparse(found)}, 1e-12)` of other sums"
    message = f"where nothing is scattered to, {shown} is 0, and this divides by it"
    return Diagnostic("OPG265", message, span, "may be 0", hints=(hint,), severity=Severity.WARNING)


def _written(value: Expr) -> Iterator[Access | Name]:
    """The tensors that a formula divides by."""
    products = (n for n in nodes(value) if isinstance(n, Product))
    return (x for p in products for op, x in p.factors if op == "/" and isinstance(x, Access | Name))
