"""An axis that is split in parts of a size that no dim has: `x[n, c]` and `x[n, c + C]`, with `C` nowhere.

In go the name and the statements; out come the dim that the size is, and every statement with the extent that it lacks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from opgen.diagnostics.suggest import listed
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Number, Product, Reduction, Sum
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import nodes, transform
from opgen.lower.along import sizes_at
from opgen.lower.declare import Declarations


def split_by(d: Declarations, dim: str) -> tuple[str, ...]:
    """What to declare and to write where an unknown dim is only added to indices along one axis; else nothing."""
    places = [place for s in d.forward for place in _places(s, dim)]
    sizes = {size for a, k, _, _ in places for size in sizes_at(d, a, k)}
    read = sum(n == Name(dim, n.span) for s in d.forward for n in nodes(s.value) if isinstance(n, Name))
    if len(sizes) != 1 or not (size := next(iter(sizes))).isidentifier() or read != len(places):
        return ()
    indices = {index for _, _, index, _ in places}
    lines = [unparse_assign(made) for s in d.forward if (made := _bounded(d, s, indices, dim, size)) != s]
    if not lines or size not in d.known_dims():
        return ()
    parts = f"{size}//{1 + max(count for _, _, _, count in places)}"
    written = listed(lines, "and")
    return (f"where `{dim}` is the size of a part of `{size}`: `dims: {{{dim}: {parts}}}`, and write {written}",)


def _places(s: Assign, dim: str) -> Iterator[tuple[Access, int, str, int]]:
    """The accesses that read at an index and so many times the dim, with the position and the index."""
    for a in (n for n in nodes(s.value) if isinstance(n, Access)):
        for k, item in enumerate(a.items):
            terms = item.terms if isinstance(item, Sum) and len(item.terms) == 2 else ()
            added = [e for sign, e in terms if sign == "+"]
            for one, other in (added, added[::-1]) if len(added) == 2 else ():
                if isinstance(one, Name) and one.name.islower() and (count := _times(other, dim)):
                    yield a, k, one.name, count


def _times(e: Expr, dim: str) -> int:
    """How many times the dim an expression is; 0 for anything else."""
    match e:
        case Name(name=name) if name == dim:
            return 1
        case Product(factors=(("*", Number(value=int() as count)), ("*", Name(name=name)))) if name == dim:
            return count
        case Product(factors=(("*", Name(name=name)), ("*", Number(value=int() as count)))) if name == dim:
            return count
        case _:
            return 0


def _bounded(d: Declarations, s: Assign, indices: set[str], dim: str, size: str) -> Assign:
    """A statement in which indices that run along a part say so."""
    items = [(a, k, i) for a in nodes(s.value) if isinstance(a, Access) for k, i in enumerate(a.items)]
    along = {
        n.name
        for a, k, i in items
        if not isinstance(i, Dots) and sizes_at(d, a, k) == {size}
        for n in nodes(i)
        if isinstance(n, Name) and n.name in indices
    }

    def bound(binder: Binder | Dots | Expr) -> Binder | Dots | Expr:
        if isinstance(binder, Binder) and binder.name in along and binder.extent is None:
            return replace(binder, extent=Name(dim, binder.span))
        return binder

    def step(e: Expr) -> Expr | None:
        if isinstance(e, Reduction) and (made := tuple(map(bound, e.binders))) != e.binders:
            return replace(e, binders=made, body=transform(e.body, step))  # type: ignore[arg-type]
        return None

    target = s.target if s.target.items is None else replace(s.target, items=tuple(map(bound, s.target.items)))
    return replace(s, target=target, value=transform(s.value, step))
