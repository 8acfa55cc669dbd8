"""Whether what a statement makes may end earlier: not where it is read beside something longer.

In go the name and an index of its statement with another end; out comes whether an access anywhere needs more places.
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.ir import text
from opgen.ir.scalar import Batch, Scalar
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Reduction
from opgen.lang.unparse import unparse
from opgen.lang.walk import names_read, nodes, statement_names
from opgen.lower.scope import Frame


def is_read_further(f: Frame, name: str, index: str, end: str, so_far: tuple[str, ...] = ()) -> bool:
    """Is a name read beside anything that does not certainly end where `index` of its statement ends?"""
    statements = (*f.decl.forward, *f.decl.backward)
    places = [_place(s, index) for s in statements if s.target.name == name]
    if not places or None in places or name in so_far:
        return not places or None not in places  # an index of a reduction ends where it likes
    for s in (s for s in statements if s.target.name != name and name in statement_names(s)):
        if any(isinstance(n, Name) and n.name == name for n in nodes(s.value)):
            if len(_tensors(f, s)) > 1:
                return True
            continue
        read = [n for n in nodes(s.value) if isinstance(n, Access) and n.name == name]
        items = [a.items[k] for a in read for k in places if k is not None and k < len(a.items)]
        if any(not isinstance(i, Dots) and unparse(i) == end for i in items):
            return True
        used = dict.fromkeys(n for i in items if not isinstance(i, Dots) for n in names_read(i))
        for moved in used:
            if any(extent != end for extent in _extents(f, s, moved, name)):
                return True
            if _place(s, moved) is not None and is_read_further(f, s.target.name, moved, end, (*so_far, name)):
                return True
    return False


def _place(s: Assign, index: str) -> int | None:
    """At which position of its target a statement introduces an index."""
    items = s.target.items or ()
    return next((k for k, i in enumerate(items) if isinstance(i, Binder) and i.name == index), None)


def _tensors(f: Frame, s: Assign) -> list[str]:
    return [n for n in names_read(s.value) if n in f.decl.inputs or n in f.decl.targets()]


def _extents(f: Frame, s: Assign, index: str, name: str) -> Iterator[str | None]:
    """How far an index runs in a statement by everything but `name`; None for what is not stated."""
    binders = [*(s.target.items or ()), *(b for r in nodes(s.value) if isinstance(r, Reduction) for b in r.binders)]
    for b in binders:
        if isinstance(b, Binder) and b.name == index and b.extent is not None:
            yield unparse(b.extent)
    place, shape = _place(s, index), f.decl.output_shapes.get(s.target.name, ())
    if place is not None and place < len(shape):
        yield _text(shape[place])
    for a in (n for n in nodes(s.value) if isinstance(n, Access) and n.name != name):
        for k, item in enumerate(a.items):
            if not isinstance(item, Dots) and index in names_read(item):
                yield _extent(f, a.name, k)


def _extent(f: Frame, name: str, place: int) -> str | None:
    shape = f.decl.shapes.get(name)
    if shape is not None:
        return _text(shape[place]) if place < len(shape) else None
    made = [s.target.items or () for s in f.decl.forward if s.target.name == name]
    own: Expr | Binder | Dots | None = made[0][place] if len(made) == 1 and place < len(made[0]) else None
    return unparse(own.extent) if isinstance(own, Binder) and own.extent is not None else None


def _text(extent: Scalar | Batch) -> str | None:
    return None if isinstance(extent, Batch) else text.scalar(extent)
