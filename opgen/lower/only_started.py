"""A read above the statement of a recurrence whose start may stand further up: which line belongs below which.

In go the statements and the read, out come labels and lines of help.
"""

from __future__ import annotations

from dataclasses import replace

from opgen.diagnostics.model import Label
from opgen.lang.circles import constant_part, shift_of
from opgen.lang.nodes import Access, Assign, Binder, Name
from opgen.lang.unparse import unparse_assign, unparse_target
from opgen.lang.walk import names_read, nodes, statement_at
from opgen.lower.declare import Declarations
from opgen.lower.recurrence_next import extent_along


def only_started(d: Declarations, e: Name | Access) -> tuple[str, tuple[Label, ...], tuple[str, ...]] | None:
    """What to say at the read, of other places, and to do; None where no such recurrence is read."""
    reader = statement_at(d.forward, e.span)
    own = [s for s in d.forward if s.target.name == e.name]
    if reader is None or not any(constant_part(s) is not None for s in own):
        return None
    above = [s for s in own if s.span.start < reader.span.start]
    bodies = [s for s in own if constant_part(s) is None and s not in above]
    if not bodies:
        return None
    body = bodies[0]
    made = _extended(d, reader, body)
    line = unparse_assign(made)
    between = d.forward[d.forward.index(reader) + 1 : d.forward.index(body)]
    if any(reader.target.name in names_read(s.value) for s in between):
        hint = f"move `{unparse_assign(body)}` above this line"
        hint += f", and write `{line}`" if made != reader else ""
    else:
        hint = f"put this line below `{unparse_target(body.target)} = …`: `{line}`"
    related = [Label(body.target.name_span, "assigned here")]
    related += [Label(s.target.name_span, "its start") for s in above[:1]]
    return "only its start stands above" if above else "not assigned yet", (*related,), (hint,)


def _extended(d: Declarations, reader: Assign, body: Assign) -> Assign:
    """The statement with the extents of indices at which nothing but other steps are read."""
    reads = [a for a in nodes(reader.value) if isinstance(a, Access)]
    alone = {i.name for a in reads for i in a.items if isinstance(i, Name)}
    sizes: dict[str, str] = {}
    for a in reads:
        for k, item in enumerate(a.items if a.name == body.target.name else ()):
            shift, along = shift_of(item), (body.target.items or ())[k : k + 1]
            if shift is not None and shift.index not in alone and along and isinstance(along[0], Binder):
                sizes.setdefault(shift.index, extent_along(d, body, k, along[0].name))
    items = reader.target.items
    if items is None or reader.target.name in d.output_shapes:
        return reader

    def stated(i: Binder) -> Binder:
        size = sizes.get(i.name, "…") if i.extent is None else "…"
        return i if size == "…" else replace(i, extent=Name(size, i.span))

    made = tuple(stated(i) if isinstance(i, Binder) else i for i in items)
    return replace(reader, target=replace(reader.target, items=made))
