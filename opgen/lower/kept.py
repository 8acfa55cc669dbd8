"""Dims of size 1 that other libraries keep, `mu[..., 1] = mean[d](x[..., d])`: here they are left out.

In go the statements of a block, out comes a line of help with all of them that change.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Number
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import transform
from opgen.lower.declare import Declarations

_Items = tuple[Binder | Dots | Expr, ...]
_Item = TypeVar("_Item")


def without_kept(d: Declarations) -> tuple[str, ...]:
    """The statements without the positions at which nothing but 1 is assigned; nothing where there is none."""
    places: dict[str, set[int | None]] = {}
    for s in d.forward:
        places.setdefault(s.target.name, set()).add(_place(s.target.items or ()) if s.op == "=" else None)
    kept = {name: next(iter(found)) for name, found in places.items() if len(found) == 1}
    one = {name: place for name, place in kept.items() if place is not None}
    lines = [(s, _without(s, one)) for s in d.forward]
    shown = ", ".join(f"`{unparse_assign(made)}`" for s, made in lines if made != s)
    return (f"a dim of size 1 is not kept: write {shown}",) if shown else ()


def _place(items: _Items) -> int | None:
    """Where 1 stands among positions, if no other number does."""
    numbers = [(k, i.value) for k, i in enumerate(items) if isinstance(i, Number)]
    return numbers[0][0] - len(items) if len(numbers) == 1 and numbers[0][1] == 1 else None


def _without(s: Assign, kept: dict[str, int]) -> Assign:
    def step(node: Expr) -> Expr | None:
        if not isinstance(node, Access):
            return None
        items = tuple(i if isinstance(i, Dots) else transform(i, step) for i in node.items)
        return replace(node, items=_dropped(items, kept[node.name]) if node.name in kept else items)

    target = s.target
    if target.name in kept and target.items is not None:
        target = replace(target, items=_dropped(target.items, kept[target.name]))
    return replace(s, target=target, value=transform(s.value, step))


def _dropped(items: tuple[_Item, ...], place: int) -> tuple[_Item, ...]:
    at = len(items) + place
    return (*items[:at], *items[at + 1 :])
