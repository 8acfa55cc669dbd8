"""Dims of size 1 that other libraries keep, `mu[..., 1] = mean[d](x[..., d])`: here they are left out,
or have an index of their own, `mu[..., i < 1]`.

In go the statements of a block, out comes a line of help with all of them that change.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from opgen.ir.scalar import ONE
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Number
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import names_read, statement_names, transform
from opgen.lower.declare import Declarations

_Items = tuple[Binder | Dots | Expr, ...]
_Item = TypeVar("_Item")


def kept_dims(d: Declarations, s: Assign) -> tuple[str, ...]:
    """A result with an index for each dim of size 1 that it keeps, and the block without them; which of both is meant
    is certain where the name is read, or where its shape is declared."""
    name, shape = s.target.name, d.output_shapes.get(s.target.name)
    items, places = s.target.items or (), _places(d, name)
    left_out = without_kept(d)
    if not places or any(name in names_read(o.value) for o in (*d.forward, *d.backward)):
        return left_out
    taken = {*statement_names(s), *d.inputs, *d.params, *d.targets(), *d.functions}
    free = (c for c in "ijklmnpqrstuvw" if c not in taken)
    at = {len(items) + place: Binder(c, Number(1, s.span), s.span) for place, c in zip(places, free, strict=False)}
    made = tuple(at.get(k, i) for k, i in enumerate(items))
    line = unparse_assign(replace(s, target=replace(s.target, items=made)))
    if shape is not None and len(shape) == len(items):
        if any(shape[place] != ONE for place in places):
            return ()
        return (f"a dim of size 1 has an index of its own: write `{line}`",)
    if shape is not None:
        return left_out
    return (
        f"a dim of size 1 that is kept has an index of its own: write `{line}`",
        *(f"or without it: {h.partition(': ')[2]}" for h in left_out),
    )


def without_kept(d: Declarations) -> tuple[str, ...]:
    """The statements without the positions at which nothing but 1 is assigned; nothing where there is none."""
    kept = {name: places for name in d.targets() if (places := _places(d, name))}
    lines = [(s, _without(s, kept)) for s in d.forward]
    shown = ", ".join(f"`{unparse_assign(made)}`" for s, made in lines if made != s)
    return (f"a dim of size 1 is not kept: write {shown}",) if shown else ()


def _places(d: Declarations, name: str) -> tuple[int, ...]:
    """Where a name, counted from behind, is assigned at 1 alone, or at several numbers that are 1 or 0 alike."""
    own = [s for s in (*d.forward, *d.backward) if s.target.name == name]
    found = {_ones(s.target.items or ()) if s.op == "=" else () for s in own}
    places = next(iter(found), ()) if len(found) == 1 else ()
    return places if len(places) < 2 or sum(s.guard is None for s in own) == len(own) == 1 else ()


def _ones(items: _Items) -> tuple[int, ...]:
    numbers = [(k - len(items), i.value) for k, i in enumerate(items) if isinstance(i, Number)]
    alike = {value for _, value in numbers}
    return tuple(k for k, _ in numbers) if alike == {1} or (alike == {0} and len(numbers) > 1) else ()


def _without(s: Assign, kept: dict[str, tuple[int, ...]]) -> Assign:
    def step(node: Expr) -> Expr | None:
        if not isinstance(node, Access):
            return None
        items = tuple(i if isinstance(i, Dots) else transform(i, step) for i in node.items)
        return replace(node, items=_dropped(items, kept[node.name]) if node.name in kept else items)

    target = s.target
    if target.name in kept and target.items is not None:
        target = replace(target, items=_dropped(target.items, kept[target.name]))
    return replace(s, target=target, value=transform(s.value, step))


def _dropped(items: tuple[_Item, ...], places: tuple[int, ...]) -> tuple[_Item, ...]:
    return tuple(i for k, i in enumerate(items) if k - len(items) not in places)
