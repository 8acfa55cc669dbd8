"""Results that only their own recurrence reads, beside others: a warning, since one is often meant.

In: what is declared. Reads within a recurrence do not count when outputs are inferred, so that all of its names are
returned, also those that are steps on the way. A spec that lists its outputs means what it says.
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.diagnostics.model import Diagnostic, Severity
from opgen.diagnostics.suggest import listed
from opgen.lang.circles import accesses, circles, shift_of
from opgen.lang.walk import statement_names
from opgen.lower.declare import Declarations


def together(d: Declarations) -> Iterator[Diagnostic]:
    """A warning for each recurrence with several results of which one is read by another, or a step on the way."""
    if d.spec.outputs is not None:
        return
    for group in circles(d.forward):
        own = [s for s in d.forward if s.target.name in group]
        results = [n for n in group if n in d.outputs]
        inside = [n for n in results if any(n in statement_names(s) for s in own if s.target.name != n)]
        carried = {a.name for a in accesses(own, group) if any(shift_of(i) for i in a.items)}
        others = [n for n in d.outputs if n not in group]
        on_the_way = bool(others) and len(results) < len(group) and bool({*inside} - carried)
        if not inside or not (len(results) > 1 or on_the_way):
            continue
        first = next(s for s in own if s.target.name == inside[0]).target.name_span
        meant = others if on_the_way else [next((n for n in results if n not in carried), results[-1])]
        label = "one of them" if len(results) > 1 else "a result, too"
        are, their, them = ("is a result", "its", "it") if len(results) == 1 else ("are results", "their", "them")
        message = f"{listed(results, 'and')} {are}, as nothing outside of {their} recurrence reads {them}"
        hints = (
            f"list those that are meant: `outputs: [{', '.join(meant)}]`",
            f"or all of them: `outputs: [{', '.join(d.outputs)}]`",
        )
        yield Diagnostic("OPG255", message, first, label, hints=hints, severity=Severity.WARNING)
