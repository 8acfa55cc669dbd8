"""Along which sizes the indices of a statement are read: what its target has for a shape, before it is lowered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from opgen.diagnostics.model import Bag, Span
from opgen.ir import text
from opgen.ir.scalar import BATCH
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Product
from opgen.lang.unparse import unparse
from opgen.lang.walk import names_read, nodes, statement_at
from opgen.lower.declare import Declarations
from opgen.lower.scope import Frame

T = TypeVar("T")
_Place = tuple[str, int]  # a tensor and one of its axes, counted from the end where that is negative


def size_of(d: Declarations, s: Assign, index: str) -> str:
    """The one size along which a statement reads an index, as a shape writes it; empty where there is none."""
    found = _sizes(d, _places(s, index))
    return found.pop() if len(found) == 1 else ""


def sizes_at(d: Declarations, a: Access, k: int) -> set[str]:
    """The sizes of the axis at which the `k`-th position of an access stands, as far as they are clear."""
    return _sizes(d, (_place(a, k),))


def _sizes(d: Declarations, places: Iterable[_Place]) -> set[str]:
    """The sizes that tensors have at places, each looked at once: those of inputs, and for others what these read."""
    found: set[str] = set()
    seen: set[_Place] = set()
    left = [*places]
    while left:
        if (at := left.pop()) in seen:
            continue
        seen.add(at)
        name, place = at
        if name in d.shapes:
            shape = [text.position(size) for size in d.shapes[name]]
            found |= {*_at(shape, place)} - {"..."}
            continue
        for s in (s for s in d.forward if s.target.name == name):
            for item in _at(s.target.items or (), place):
                if isinstance(item, Binder) and item.extent is None:
                    left += _places(s, item.name)
                elif isinstance(item, Binder):
                    found.add(_stated(d, item.extent))
    return found - {""}


def _places(s: Assign, index: str) -> Iterator[_Place]:
    """The tensors that a statement reads at an index, and where in them."""
    for a in (n for n in nodes(s.value) if isinstance(n, Access)):
        yield from (_place(a, k) for k, i in enumerate(a.items) if isinstance(i, Name) and i.name == index)


def _place(a: Access, k: int) -> _Place:
    """The place of the `k`-th position of an access in its tensor, counted from the end behind `...`."""
    rank = len(a.items)
    dots = next((n for n, i in enumerate(a.items) if isinstance(i, Dots)), rank)
    return a.name, k if k < dots else k - rank


def _at(items: Sequence[T], place: int) -> tuple[T, ...]:
    """What stands at a place, if there is such a one."""
    return (items[place],) if -len(items) <= place < len(items) else ()


def _stated(d: Declarations, extent: Expr | None) -> str:
    """An extent that is a dim or a number; empty where it is neither."""
    shown = "" if extent is None else unparse(extent)
    return shown if shown in d.known_dims() or shown.isdigit() else ""


def _extent(d: Declarations, s: Assign, item: Binder) -> str:
    return size_of(d, s, item.name) if item.extent is None else _stated(d, item.extent)


def shape_of_target(d: Declarations, s: Assign) -> str:
    """The shape of what a statement assigns, as its indices have it; empty where one of them is not clear."""
    sizes = [
        _extent(d, s, i) if isinstance(i, Binder) else "..." if isinstance(i, Dots) else ""
        for i in s.target.items or ()
    ]
    return f"[{', '.join(sizes)}]" if sizes and all(sizes) else ""


def as_indexed(d: Declarations, bag: Bag) -> None:
    """Say of dims of outputs that are unknown which ones are meant, where their statements tell."""
    for o in d.spec.outputs or ():
        own = [s for s in d.forward if s.target.name == o.name]
        shape = shape_of_target(d, own[0]) if own else ""
        for item in o.shape or () if shape else ():
            if item.text.strip() not in d.known_dims():
                bag.amend(
                    "OPG238", item.whole, f"its indices have the shape {shape}: write `{o.name}: {{shape: {shape}}}`"
                )


def of_its_index(f: Frame, dim: str, span: Span) -> tuple[str, ...]:
    """The size that an index runs over whose letter is that of a dim which does not exist, `n` for `N`."""
    own = statement_at(f.decl.forward, span)
    size = "" if own is None else size_of(f.decl, own, dim.lower())
    return (f"`{dim.lower()}` runs over `{size}`: write `{size}`",) if size.isidentifier() else ()


def as_quotient(f: Frame, dim: str, span: Span) -> tuple[str, ...]:
    """How many neighbours share an element where an index is divided by an unknown dim, `G` of `key[j, h // G]`."""
    own = statement_at(f.decl.forward, span)
    for a in _around(own.value, span) if own is not None else ():
        for k, item in enumerate(a.items):
            match item:
                case Product(factors=(("*", Name(name=index)), ("//", Name(name=name)))) if own and name == dim:
                    size, other = size_of(f.decl, own, index), [*sizes_at(f.decl, a, k)]
                    if size.isidentifier() and len(other) == 1 and other[0] != size:
                        shown = f"`{index}` runs over `{size}`, and `{a.name}` has `{other[0]}` there"
                        return (f"{shown}: `dims: {{{dim}: {size}//{other[0]}}}` reads all of them",)
                case _:
                    pass
    return ()


def as_batch(f: Frame, span: Span) -> tuple[str, ...]:
    """What is meant by an index where other tensors have `...`: batch dims, of this tensor too."""
    own = statement_at(f.decl.forward, span)
    if own is None or not any(isinstance(i, Dots) for i in own.target.items or ()):
        return ()
    for a in _around(own.value, span):
        shape = f.decl.shapes.get(a.name, (BATCH,))
        free = [k for k, i in enumerate(a.items) if isinstance(i, Name) and f.scope and f.scope.find(i.name) is None]
        if not free or BATCH in shape or free != [*range(len(free))] or len(shape) != len(a.items):
            continue
        beside = (n for n in nodes(own.value) if isinstance(n, Access) and n is not a)
        own_names = {i.name for i in a.items[: len(free)] if isinstance(i, Name)}
        if any(own_names & names_read(x).keys() for x in beside):
            continue  # it says which elements go together
        named = [text.position(size) for size in shape[: len(free)]]
        others = {text.position(size) for n, own_shape in f.decl.shapes.items() if n != a.name for size in own_shape}
        if [unparse(i).upper() for i in a.items[: len(free)] if isinstance(i, Name)] != named or others & {*named}:
            continue  # another letter is meant
        sizes = ", ".join(["...", *(text.position(size) for size in shape[len(free) :])])
        read = ", ".join(["...", *(unparse(i) for i in a.items[len(free) :] if not isinstance(i, Dots))])
        declared = f"`{a.name}: {{shape: [{sizes}]}}`"
        return (f"if `{', '.join(named)}` is what `...` stands for: {declared}, read as `{a.name}[{read}]`",)
    return ()


def _around(e: Expr, span: Span) -> Iterator[Access]:
    """The accesses of a formula around a place."""
    return (n for n in nodes(e) if isinstance(n, Access) and n.span.start <= span.start and span.end <= n.span.end)
