"""Elements that a condition picks and that are overwritten further down, as NumPy does it, as one statement.

In go the statements of one name, out comes a line of help: `y[x < a] = 0` after `y[n] = x[n]` is a choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.ir.scalar import BATCH
from opgen.lang.nodes import Access, Assign, Binder, Call, Compare, Dots, Expr, Logic, Name, Product, Sum, Unary
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import names_read, operands, transform
from opgen.lower.declare import Declarations

_Items = tuple[Expr | Dots, ...] | None


def choice_of(d: Declarations, first: Assign, others: Sequence[Assign]) -> tuple[str, ...]:
    """`y[n] = a`, `y[mask] = b` and more of that kind as one statement; nothing where one of them stands at no mask."""
    made: Assign | None = first
    for other in others:
        made = None if made is None else _chosen(d, made, other)
    return () if made is None else (f"write both as one: `{unparse_assign(made)}`",)


def _chosen(d: Declarations, whole: Assign, picked: Assign) -> Assign | None:
    items = picked.target.items or ()
    mask = mask_of(d, items[0]) if len(items) == 1 else None
    return None if mask is None or picked.op != "=" else chosen(d, whole, picked, mask)


def chosen(d: Declarations, whole: Assign, picked: Assign, mask: Expr) -> Assign | None:
    """A statement of a whole with what one of a mask makes of it; `+=` and `*=` go on from what the whole is."""
    if whole.guard is not None or picked.guard is not None or whole.op != "=":
        return None
    own = whole.target.items
    at = None if own is None else tuple(Name(i.name, i.span) if isinstance(i, Binder) else i for i in own)
    condition, value = _at(d, mask, at, whole), _at(d, _unpicked(picked.value, mask), at, whole)
    match picked.op:
        case _ if condition is None or value is None:
            return None
        case "=":
            pass
        case "+=":
            value = Sum((("+", whole.value), ("+", value)), picked.span)
        case "*=":
            value = Product((("*", whole.value), ("*", value)), picked.span)
        case _:
            return None
    return replace(whole, value=Call("where", (condition, value, whole.value), picked.span, picked.span))


def mask_of(d: Declarations, item: Binder | Dots | Expr) -> Expr | None:
    """The condition on elements that stands in brackets; `i < N`, where `i` is no tensor, is an extent."""
    match item:
        case Binder(name=name, extent=None, span=span):
            return Name(name, span) if name in d.inputs and d.inputs[name].kind == "bool" else None
        case Binder(name=name, extent=extent, span=span) if extent is not None:
            return Compare((Name(name, span), extent), ("<",), span) if _is_tensor(d, name) else None
        case Compare() | Logic() | Unary(op="not") | Access():
            return item if any(_is_tensor(d, name) for name in names_read(item)) else None
        case _:
            return None


def _is_tensor(d: Declarations, name: str) -> bool:
    return name in d.inputs or name in d.targets()


def _unpicked(e: Expr, mask: Expr) -> Expr:
    """A value without the mask that picks the same elements on its side: `x[x < a]` is `x`."""
    return transform(e, lambda n: Name(n.name, n.span) if isinstance(n, Access) and n.items == (mask,) else None)


def _at(d: Declarations, e: Expr, at: _Items, whole: Assign) -> Expr | None:
    """An expression with its bare tensors at these positions, and the value of the whole for its own name.

    None where one of them has other dims.
    """
    if any(not _fits(d, n.name, at, whole) for n in _bare(e)):
        return None

    def step(node: Expr) -> Expr | None:
        if isinstance(node, Name | Access) and node.name == whole.target.name:
            return whole.value if isinstance(node, Name) or node.items == at else None
        if isinstance(node, Name) and _is_tensor(d, node.name) and at is not None and _dims(d, node.name):
            return Access(node.name, at, node.span, node.span)
        return node if isinstance(node, Access) else None

    made = transform(e, step)
    own = whole.target.name in names_read(made) and whole.target.name not in names_read(whole.value)
    return None if own else made


def _bare(e: Expr) -> tuple[Name, ...]:
    if isinstance(e, Name):
        return (e,)
    return () if isinstance(e, Access) else tuple(n for part in operands(e) for n in _bare(part))


def _fits(d: Declarations, name: str, at: _Items, whole: Assign) -> bool:
    """Whether a bare name may be read at the positions of the whole, or without any."""
    if name == whole.target.name or not _is_tensor(d, name):
        return True
    dims = _dims(d, name)
    return dims == 0 or (dims is not None and (dims < 0 if at is None else dims == len(at)))


def _dims(d: Declarations, name: str) -> int | None:
    """How many positions a tensor is read at; -1 where it has batch dims alone, None where nothing says it."""
    if name in d.shapes:
        return -1 if d.shapes[name] == (BATCH,) else len(d.shapes[name])
    own = next(s for s in d.forward if s.target.name == name)
    return None if own.target.items is None else len(own.target.items)
