"""An index that leaves an input because it goes on to the next step: the input may have a step more than others.

In goes a position that leaves its tensor; out comes how the tensor is declared, with the statements that go with it.
"""

from __future__ import annotations

from opgen.diagnostics.suggest import listed
from opgen.ir import text
from opgen.ir.scalar import Batch, Dim
from opgen.lower.earlier import shift
from opgen.lower.one_longer import ending_before
from opgen.lower.scope import Check, Frame
from opgen.schema.formula import Formula


def declared_longer(f: Frame, c: Check) -> tuple[str, ...]:
    """How an input is declared that has a step more than what is read beside it, at whose end a position leaves it."""
    far, own = shift(c), c.site.tensor
    shape = f.decl.shapes.get(own, ()) if own in f.decl.inputs else ()
    if not far or far < 0 or not isinstance(c.extent, Dim) or list(shape).count(c.extent) != 1:
        return ()
    along = [o for o in f.checks if o.extent == c.extent and o.indices == c.indices]
    reads = [shift(o) for o in along if o.site.tensor == own]
    beside = [o for o in along if o.site.tensor != own and o.site.tensor in f.decl.inputs and shift(o) == 0]
    if not beside or any(by is None or not 0 <= by <= far for by in reads):
        return ()
    place = list(shape).index(c.extent) - len(shape)
    formulas = f.decl.spec.forward.text if isinstance(f.decl.spec.forward, Formula) else ""
    lines = ending_before(formulas, own, place, c.extent.name)
    if not lines:
        return ()
    size = next(n for n in ("R", "S", *(f"Size{k}" for k in range(1, 1000))) if n not in f.decl.known_dims())
    items = ", ".join("..." if isinstance(s, Batch) else size if s == c.extent else text.position(s) for s in shape)
    return (
        f"or, where `{own}` has {far} more than `{beside[0].site.tensor}`: `{own}: {{shape: [{items}]}}` and"
        f" `dims: {{{size}: {c.extent.name} + {far}}}`, with {listed(lines, 'and')}",
    )
