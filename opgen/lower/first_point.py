"""Positions that leave their tensor at the first point or the last one, whatever values the domains of inputs allow.

`best[w - weight[i]]` with `weight >= 1` is in front of its tensor where `w` is 0: every call that has that point fails.
In goes a position of a statement with the extents of its indices; out comes a warning, with the statement that asks.
"""

from __future__ import annotations

from opgen.diagnostics.model import Diagnostic, Severity
from opgen.ir import text
from opgen.ir.polynomial import Polynomial, number, polynomial
from opgen.ir.program import Axis
from opgen.ir.ranges import corner, facts_of, is_nonnegative
from opgen.ir.scalar import Lit, Read
from opgen.lang.nodes import Expr, Sum
from opgen.lang.unparse import respelled
from opgen.lang.walk import nodes, statement_at
from opgen.lower.domain import ends_of
from opgen.lower.guarded import conditioned
from opgen.lower.outside import left_out
from opgen.lower.scope import Check, Frame


def leaves_at_an_end(f: Frame, c: Check) -> bool:
    """Whether a position is outside at the first point or the last one with all values of its inputs: a warning."""
    position, last = polynomial(c.position), polynomial(c.extent) - number(1)
    least, most = _bounded(f, position, least=True), _bounded(f, position, least=False)
    axes = tuple(Axis(name, i.extent if i.extent is not None else Lit(1)) for name, i in c.indices)
    facts = facts_of(axes, f.state.dims)
    first = None if most is None else corner(most, facts, least=True)  # the greatest value at the first point
    end = None if least is None else corner(least, facts, least=False)
    below = first is not None and is_nonnegative(number(-1) - first, facts)
    if not below and (end is None or not is_nonnegative(end - last - number(1), facts)):
        return False
    bound = most if below else least
    other = None if bound is None else corner(bound, facts, least=not below)
    both = other is None or not is_nonnegative(last - other if below else other, facts)
    names = dict.fromkeys(n.tensor for n in position.atoms() if isinstance(n, Read))
    domains = " and ".join(f"`{str(f.decl.inputs[n].domain).strip()}`" for n in names)
    point = "in front of its tensor at the first point" if below else "behind its tensor at the last point"
    verb = "written" if c.site.written else "read"
    message = f"`{c.site.tensor}` is {verb} at `{c.span.text}`, which is {point}, as {domains}"
    note = f"positions run from 0 to {text.scalar(last.scalar())}, and negative ones do not wrap"
    hints = _asked(f, c, below=below or both, above=not below or both)
    f.bag.add(Diagnostic("OPG260", message, c.span, notes=(note,), hints=hints, severity=Severity.WARNING))
    return True


def _bounded(f: Frame, p: Polynomial, *, least: bool) -> Polynomial | None:
    """A bound over all values of the integers that a position is computed from; None where it has none, or no such."""
    read = [a for a in p.atoms() if isinstance(a, Read)]
    for a in read:
        parts = p.split(a)
        given = f.decl.inputs.get(a.tensor)
        factor = None if parts is None else parts[0].constant
        if factor is None or given is None:
            return None
        end = ends_of(a.tensor, given.domain)[(factor > 0) is not least]
        if end is None:
            return None
        p = p.replaced(a, end)
    return p if read else None


def _asked(f: Frame, c: Check, *, below: bool, above: bool) -> tuple[str, ...]:
    """The statement with a condition around what is read, or the access with what there is outside."""
    if c.site.written:
        return (f"write `pad({c.site.span.text})`, which drops what is outside",)
    s = statement_at((*f.decl.forward, *f.decl.backward), c.span)
    line = "" if s is None else conditioned(s, _condition(f, c, s.value, below=below, above=above), [c.site.span])
    if line:
        return (f"write `{line}`, or what there is outside in its last branch",)
    return (left_out(f, c, below=below, above=above),)


def _condition(f: Frame, c: Check, value: Expr, *, below: bool, above: bool) -> str:
    """That a position is in its tensor, at the ends at which it may leave."""
    size, written = text.scalar(c.extent), c.span.text
    if above:
        return f"0 <= {written} < {size}" if below else f"{written} < {size}"
    own = next((n for n in nodes(value) if isinstance(n, Sum) and n.span == c.span), None)
    if own is not None and [sign for sign, _ in own.terms] == ["+", "-"]:
        return f"{respelled(own.terms[0][1])} >= {respelled(own.terms[1][1])}"
    return f"{written} >= 0"
