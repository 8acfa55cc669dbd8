"""A last element that is written as the start of a recurrence, and so is none of its result: a warning.

`y[T - 1] = x[T - 1]` with `y[t < T - 1] = a*y[t + 1] + x[t]` has T - 1 elements, and the last one of `x` makes no own
one. In: the statements as they are written. Told where the start reads a tensor at its own place, which the step reads
at each of its elements: all elements of it are meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from opgen.diagnostics.model import Diagnostic
from opgen.lang.nodes import Access, Assign, Binder, Call, Compare, Dots, Name, Number, Sum
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.walk import names_read, nodes
from opgen.lower.declare import Declarations
from opgen.lower.doubts import doubt


def last_lost(d: Declarations) -> Iterator[Diagnostic]:
    """A warning for each such start."""
    for s in (s for s in d.forward if s.target.name in names_read(s.value)):
        for place, index in enumerate(s.target.items or ()):
            if isinstance(index, Binder) and index.extent is not None:
                for start in (o for o in d.forward if o is not s and o.target.name == s.target.name):
                    if (size := _size(d, s, start, place)) is not None:
                        yield _told(s, start, place, size)


def _size(d: Declarations, s: Assign, start: Assign, place: int) -> Name | None:
    """The dim of which a start stands at the last place, where it is one more than the index runs to."""
    index, items = (s.target.items or ())[place], start.target.items or ()
    if len(items) != len(s.target.items or ()) or not isinstance(index, Binder) or index.extent is None:
        return None
    match items[place]:
        case Sum(terms=(("+", Name() as size), ("-", Number(value=1)))) as at if unparse(at) == unparse(index.extent):
            read = [n for n in nodes(s.value) if isinstance(n, Access)]
            for a in (n for n in nodes(start.value) if isinstance(n, Access)):
                for k, (item, dim) in enumerate(zip(a.items, d.words.shapes.get(a.name, ()), strict=False)):
                    same = not isinstance(item, Dots) and unparse(item) == unparse(at) and dim == size.name
                    if same and any(_is_at(r, a, k, index.name) for r in read):
                        return size
    return None


def _is_at(r: Access, a: Access, k: int, index: str) -> bool:
    """Whether an access reads the tensor of another one at an index in the place of one of its positions."""
    item = r.items[k] if r.name == a.name and len(r.items) == len(a.items) else None
    return isinstance(item, Name) and item.name == index


def _told(s: Assign, start: Assign, place: int, size: Name) -> Diagnostic:
    items = s.target.items or ()
    index, at = items[place], (start.target.items or ())[place]
    assert isinstance(index, Binder)
    assert not isinstance(at, Binder | Dots)
    is_last = Compare((Name(index.name, at.span), at), ("==",), at.span)
    value = Call("where", (is_last, start.value, s.value), s.span, s.span)
    whole = (*items[:place], replace(index, extent=size), *items[place + 1 :])
    line = unparse_assign(replace(s, value=value, target=replace(s.target, items=whole)))
    name = s.target.name
    message = f"`{name}` has no element at `{unparse(at)}`, where it only starts"
    hint = f"for all of `{size.name}` write both as one: `{line}`"
    return doubt("OPG291", message, at, "just outside of its extent", hint)
