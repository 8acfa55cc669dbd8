"""Axes of size 1 that are read along an index as if they broadcast: the statement with a 0 there.

In go an index that clashes and the places at which it does, out comes what to write.
"""

from __future__ import annotations

from dataclasses import replace

from opgen.diagnostics.model import Hint
from opgen.diagnostics.suggest import listed
from opgen.ir.program import Shape
from opgen.ir.scalar import ONE, Batch
from opgen.lang.nodes import Access, Assign, Dots, Expr, Name, Number
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.walk import nodes, rebuild, statement_at
from opgen.lower.scope import Frame, IndexInfo, Site


def of_size_one(f: Frame, info: IndexInfo, *sites: Site) -> tuple[str, ...]:
    """A hint where one of them is read along a dim of size 1: all such reads of the statement at 0."""
    if all(site.extent != ONE for site in sites):
        return ()
    s = statement_at((*f.decl.forward, *f.decl.backward), sites[0].span)
    if s is None:
        return ()
    longer = _longer(f, s)
    if info.name not in longer:
        return ()

    def at_0(e: Expr) -> Expr:
        made = rebuild(e, at_0)
        shape = _shape(f, made) if isinstance(made, Access) else None
        if not isinstance(made, Access) or shape is None:
            return made
        pairs = zip(made.items, shape, strict=True)
        items = (Number(0, i.span) if size == ONE and _index(i) in longer else i for i, size in pairs)
        return replace(made, items=tuple(items))

    read = [(n, unparse(own)) for n in nodes(s.value) if isinstance(n, Access) and (own := at_0(n)) != n]
    if not read:
        return ()
    line = unparse_assign(replace(s, value=at_0(s.value)))
    told = f"a size of 1 does not broadcast: read it at 0, {listed(dict.fromkeys(r for _, r in read), 'and')}: `{line}`"
    ((first, at),) = read[:1]
    return (Hint(told, first.span.text, at, first.span) if len(read) == 1 else told,)


def _longer(f: Frame, s: Assign) -> list[str]:
    """The indices of a statement that run over another size than 1."""
    found = list[str]()
    for a in (n for n in nodes(s.value) if isinstance(n, Access)):
        found += [_index(i) for i, size in zip(a.items, _shape(f, a) or (), strict=False) if size != ONE]
    declared = f.decl.output_shapes.get(s.target.name) or ()
    found += [i.span.text for i, size in zip(s.target.items or (), declared, strict=False) if size != ONE]
    return [i for i in found if i]


def _index(item: Expr | Dots) -> str:
    return item.name if isinstance(item, Name) else ""


def _shape(f: Frame, a: Access) -> Shape | None:
    """The shape of what is read, if it has as many dims as it is read at."""
    known = f.state.tensors.get(a.name)
    shape = known.shape if known is not None else None
    dots = [isinstance(i, Dots) for i in a.items]
    return shape if shape is not None and dots == [isinstance(n, Batch) for n in shape] else None
