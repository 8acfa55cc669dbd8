"""Conditions that stand in positions, as NumPy picks elements by them: what is written instead, a `where`.

In go an access or a statement with such a position, out come lines of help spelt with its own indices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from opgen.ir.program import Kind
from opgen.lang.nodes import (
    Access,
    Assign,
    Binder,
    Call,
    Compare,
    Dots,
    Expr,
    Logic,
    Name,
    Number,
    Product,
    Reduction,
    Target,
    Unary,
)
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.walk import names_read, nodes, transform
from opgen.lower.readings import letters_of
from opgen.lower.scope import Frame

RESERVED = "how many elements a mask picks depends on data, which is reserved for later"
# What stands for the elements that are left out: nothing that a reduction would notice.
_NOTHING = {"sum": "0", "mean": "0", "norm": "0", "prod": "1", "max": "-inf", "logsumexp": "-inf", "min": "inf",
            "any": "false", "count": "false", "all": "true"}  # fmt: skip


def mask_among(f: Frame, items: Iterable[Expr | Binder | Dots]) -> Expr | None:
    """The one position that is a condition on elements; `x[i < N]` states an extent in the wrong place."""
    found = [i for item in items if (i := _expression(item)) is not None and _is_condition(f, i)]
    return found[0] if len(found) == 1 else None


def _expression(item: Expr | Binder | Dots) -> Expr | None:
    """A position as it would be read, `x < a` as well: where `x` is a tensor, it is no extent."""
    if isinstance(item, Binder):
        name = Name(item.name, item.span)
        return name if item.extent is None else Compare((name, item.extent), ("<",), item.span)
    return None if isinstance(item, Dots) else item


def _is_condition(f: Frame, e: Expr) -> bool:
    match e:
        case Name(name=name) | Access(name=name):
            known = f.state.tensors.get(name)
            return known is not None and known.kind is Kind.BOOL and not known.running and name not in f.args
        case Compare(operands=(Name(name=name), *_)) if name not in f.state.tensors:
            return False
        case Compare() | Logic():
            read = [f.state.tensors[name] for name in names_read(e) if name in f.state.tensors]
            return bool(read) and not any(known.running for known in read)  # what goes on has no kind so far
        case Unary(op="not", operand=operand):
            return _is_condition(f, operand)
        case _:
            return False


def masked_read(f: Frame, e: Access, mask: Expr) -> tuple[str, ...]:
    """How a statement is written that reads the elements a mask picks."""
    own = next((s for s in f.decl.forward if s.target.name == f.target and _holds(s.value, e)), None)
    reduced = None if own is None else _innermost(own.value, e)
    bound = [b.name for b in reduced.binders if isinstance(b, Binder)] if reduced is not None else []
    found = _at_indices(f, e.name, e.items, mask, bound)
    if found is None or own is None:
        return (RESERVED,)
    items, condition = found
    read = replace(e, items=items)

    def step(node: Expr) -> Expr | None:
        if node is reduced and reduced is not None:
            return _over_picked(reduced, transform(reduced.body, inner), condition)
        return inner(node) if reduced is None else None

    def inner(node: Expr) -> Expr | None:
        if not isinstance(node, Access) or node.span != e.span:
            return None
        return read if reduced is not None else _choice(condition, read, "0")

    if reduced is not None and reduced.name not in _NOTHING:
        return RESERVED, f"keep all of them, with another value in place of the others: `{_shown(condition, read)}`"
    made = replace(own, value=transform(own.value, step))
    if made.target.items is None and reduced is None:
        made = replace(made, target=replace(made.target, items=tuple(_binder(i) for i in items)))
    line = unparse_assign(made)
    others = "leave the others without effect" if reduced is not None else "0 in place of the others"
    return RESERVED, f"keep all of them, and {others}: write `{line}`"


def masked_write(f: Frame, s: Assign, mask: Expr) -> tuple[str, ...]:
    """How a statement is written that overwrites the elements a mask picks."""
    found = _at_indices(f, s.target.name, [_written(i) for i in s.target.items or ()], mask, [])
    before = [o for o in f.decl.forward if o.target.name == s.target.name and o is not s and o.op == "="]
    if found is None or s.guard is not None:
        return ("what an element is under a condition is a choice: `where(condition, a, b)`",)
    items, condition = found
    target = Target(s.target.name, tuple(_binder(i) for i in items), s.target.span, s.target.name_span)
    value = _everywhere(f, s.value, mask, items)
    if len(before) == 1 and before[0].target.items == target.items and before[0].guard is None:
        line = unparse_assign(
            replace(before[0], value=Call("where", (condition, value, before[0].value), s.span, s.span))
        )
        return (f"write both as one: `{line}`",)
    other: Expr = Name("…", s.span)
    line = unparse_assign(replace(s, target=target, value=Call("where", (condition, value, other), s.span, s.span)))
    return (f"what an element is under a condition is a choice: `{line}`, with what holds for the others",)


def _written(item: Expr | Binder | Dots) -> Expr | Dots:
    return Name(item.name, item.span) if isinstance(item, Binder) else item


def _binder(item: Expr | Dots) -> Expr | Binder | Dots:
    return Binder(item.name, None, item.span) if isinstance(item, Name) else item


def _at_indices(
    f: Frame, tensor: str, items: Sequence[Expr | Dots], mask: Expr, bound: Sequence[str]
) -> tuple[tuple[Expr | Dots, ...], Expr] | None:
    """The positions of an access with indices in place of a mask, and the mask at them."""
    first = next((n for n in nodes(mask) if isinstance(n, Name | Access) and n.name in f.state.tensors), None)
    known = None if first is None else f.state.tensors[first.name]
    of = f.state.tensors.get(tensor)
    if first is None or known is None or known.shape is None:
        return None
    if isinstance(first, Access):
        own = first.items
    elif len(bound) == len(known.shape):
        own = tuple(Name(name, mask.span) for name in bound)
    else:
        own = tuple(Dots(mask.span) if i == "..." else Name(i, mask.span) for i in letters_of(f, known.shape))
    place = next(k for k, i in enumerate(items) if not isinstance(i, Dots) and i.span == mask.span)
    at = (*items[:place], *own, *items[place + 1 :])
    if of is not None and of.shape is not None and len(of.shape) != len(at):
        if len(of.shape) != len(own):
            return None
        at = own  # each index stands in the mask, too
    return at, _everywhere(f, mask, mask, own)


def _everywhere(f: Frame, e: Expr, mask: Expr, items: Sequence[Expr | Dots]) -> Expr:
    """An expression with tensors of named dims read at these positions where they are bare, or picked by the mask."""

    def step(node: Expr) -> Expr | None:
        if isinstance(node, Access) and any(not isinstance(i, Dots) and i == mask for i in node.items):
            return replace(node, items=tuple(items))
        known = f.state.tensors.get(node.name) if isinstance(node, Name) else None
        if isinstance(node, Name) and known is not None and known.shape is not None and len(known.shape) == len(items):
            return Access(node.name, tuple(items), node.span, node.span)
        return None

    return transform(e, step)


def _over_picked(r: Reduction, body: Expr, condition: Expr) -> Expr:
    """A reduction over the elements that a condition picks; a mean divides by how many these are."""
    name = "sum" if r.name == "mean" else r.name
    made = replace(r, name=name, body=_choice(condition, body, _NOTHING[r.name]))
    if r.name != "mean":
        return made
    return Product((("*", made), ("/", replace(r, name="count", body=condition))), r.span)


def _choice(condition: Expr, value: Expr, other: str) -> Expr:
    span = value.span
    otherwise: Expr = Number(int(other), span) if other.isdigit() else Name(other.removeprefix("-"), span)
    if other.startswith("-"):
        otherwise = Unary("-", otherwise, span)
    return Call("where", (condition, value, otherwise), span, span)


def _shown(condition: Expr, read: Expr) -> str:
    return f"where({unparse(condition)}, {unparse(read)}, …)"


def _holds(e: Expr, access: Access) -> bool:
    return any(isinstance(n, Access) and n.span == access.span for n in nodes(e))


def _innermost(e: Expr, access: Access) -> Reduction | None:
    """The innermost reduction around an access."""
    around = [n for n in nodes(e) if isinstance(n, Reduction) and _holds(n.body, access)]
    return around[-1] if around else None
