"""Reductions over what comes together at computed positions, `y[dst[e]] = max[e](h[e])`: the scatter is the reduction.

In go the statement of such a target, out come the scatter of its elements, or lines of help.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from opgen.lang.nodes import Access, Assign, Binder, Call, Dots, Expr, Name, Number, Product, Reduction
from opgen.lang.unparse import unparse_assign
from opgen.lang.updates import free_name
from opgen.lang.walk import nodes
from opgen.lower.scatter_shape import begun
from opgen.lower.scope import Frame

_OPS: Mapping[str, str] = MappingProxyType({"sum": "=", "max": "max=", "min": "min=", "prod": "*="})  # "=": adds up
SAID: Mapping[str, str] = MappingProxyType({"max=": "the greatest is", "min=": "the least is", "*=": "the product is"})
_MEAN = "the mean of what comes together is its sum over how many there are"


def each_there(s: Assign) -> Assign:
    """The statement without the reduction, where each of its elements has a position of its own on the left.

    A sum keeps the `=`, which is said to add up.
    """
    r = _reduced(s)
    return replace(s, op=_OPS[r.name], value=r.body) if r is not None and r.name in _OPS else s


def is_of_all(s: Assign) -> bool:
    """Whether the value reduces over an index of such a position, so that it is no element that comes to a place."""
    inner = (b for r in nodes(s.value) if isinstance(r, Reduction) for b in r.binders)
    return any(isinstance(b, Binder) and b.name in _places(s) for b in inner)


def mean_there(f: Frame, s: Assign) -> tuple[str, ...]:
    """What a mean over what comes together is: the sum over the number of what does; nothing for other statements."""
    r, at = _reduced(s), s.span
    if r is None or r.name != "mean" or s.guard is not None:
        return ()
    total, number = (free_name(f.decl.words, n) if _is_taken(f, n) else n for n in ("total", "number"))
    added = replace(s, op="+=", target=replace(s.target, name=total), value=r.body)
    own = tuple(i for i in s.target.items or () if not isinstance(i, Binder | Dots) or _is_read_on_the_left(s, i))
    counted = replace(added, target=replace(s.target, name=number, items=own), value=Number(1, at))
    starts = begun(f, added), begun(f, counted)
    if starts[0] is None or starts[1] is None:
        line = unparse_assign(replace(added, target=s.target))
        return (f"{_MEAN}: `{line}`, divided by a count, `{unparse_assign(counted)}`",)
    letters = starts[0][1]
    kept = [i for i, item in zip(letters, s.target.items or (), strict=True) if item in own]
    among, few = (_read(n, items, s) for n, items in ((total, letters), (number, kept)))
    share = Product((("*", among), ("/", Call("max", (few, Number(1, at)), at, at))), at)
    items = tuple(Dots(at) if i == "..." else Binder(i, None, at) for i in letters)
    last = Assign(replace(s.target, items=items), "=", share, None, at)
    lines = (starts[0][0], unparse_assign(added), starts[1][0], unparse_assign(counted))
    shown = ", ".join(f"`{line}`" for line in lines)
    return (
        f"the mean of what comes together is its sum over how many there are: {shown} and `{unparse_assign(last)}`",
    )


def _reduced(s: Assign) -> Reduction | None:
    """The value, if it is a reduction over nothing but indices of the positions on the left."""
    e = s.value
    if not isinstance(e, Reduction) or not e.binders:
        return None
    places = _places(s)
    own = all(isinstance(b, Binder) and b.extent is None and b.name in places for b in e.binders)
    return e if own else None


def _places(s: Assign) -> set[str]:
    """What stands in the computed positions on the left."""
    items = (i for i in s.target.items or () if not isinstance(i, Binder | Dots))
    return {n.name for i in items for n in nodes(i) if isinstance(n, Name)}


def _is_read_on_the_left(s: Assign, item: Binder | Dots | Expr) -> bool:
    """Whether a position of the target is chosen by this item of it, as `b` does in `y[b, ids[b, n]]`."""
    if isinstance(item, Binder):
        return item.name in _places(s)
    inner = (n for i in s.target.items or () if not isinstance(i, Binder | Dots) for n in nodes(i))
    return any(isinstance(n, Access) and any(isinstance(i, Dots) for i in n.items) for n in inner)


def _is_taken(f: Frame, name: str) -> bool:
    return name in (*f.decl.inputs, *f.decl.params, *f.decl.targets(), *f.decl.functions)


def _read(name: str, letters: tuple[str, ...] | list[str], s: Assign) -> Expr:
    items = tuple(Dots(s.span) if i == "..." else Name(i, s.span) for i in letters)
    return Access(name, items, s.span, s.span)
