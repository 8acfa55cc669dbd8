"""Parts of one tensor that are written one behind the other, `y[k] = a[k]` and `y[k + A] = b[k]`, as one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from opgen.lang.nodes import (
    Access,
    Assign,
    Binder,
    Call,
    Compare,
    Dots,
    Expr,
    Name,
    Number,
    Product,
    Reduction,
    Sum,
)  # fmt: skip
from opgen.lang.slices import total
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.walk import names_read, nodes, transform
from opgen.lower.digits import alone_at, is_index, put
from opgen.lower.replaced import is_place
from opgen.lower.scope import Frame

JOINED = "parts of one tensor are one statement"


@dataclass(frozen=True, slots=True)
class _Part:
    """One of the statements: where its place begins, and the index that runs on from there; None for a single place."""

    s: Assign
    start: Expr
    index: str | None
    extent: Expr | None


def joined(f: Frame, s: Assign) -> tuple[str, ...]:
    """A choice by where the parts begin; nothing where the statements of the name are not parts behind one another."""
    own = [o for o in f.decl.forward if o.target.name == s.target.name]
    items = s.target.items or ()
    dims = f.decl.known_dims()
    moved = (k for k, i in enumerate(items) if not isinstance(i, Binder | Dots) or getattr(i, "name", "") in dims)
    at = next(moved, None)
    if at is None or len(own) < 2 or is_place(f.decl, items[at]) or any(is_other(o, own[0], at) for o in own):
        return ()
    parts = [part for o in own if (part := _part(f, o, at)) is not None]
    letter = next((part.index for part in parts if part.index), None)
    if len(parts) < len(own) or letter is None or parts[0].start != Number(0, s.span):
        return ()
    first = own[0].target.items or ()
    outer = [i.name for k, i in enumerate(first) if isinstance(i, Binder) and k != at]
    values = [_value(part, letter, first, at) for part in parts]
    known = [v for v in values if v is not None]
    declared = f.decl.output_shapes.get(s.target.name) is not None
    size = None if declared else _size(f, parts[-1])
    if letter in outer or len(known) < len(values) or (size is None and not declared):
        return ()
    made, span = known[-1], s.span
    for part, after, value in zip(parts[-2::-1], parts[:0:-1], known[-2::-1], strict=True):
        here = Name(letter, span)
        ends = Compare((here, after.start), ("<",), span)
        asked = ends if part.index else Compare((here, part.start), ("==",), span)
        made = Call("where", (asked, value, made), span, span)
    left = (*first[:at], Binder(letter, size, span), *first[at + 1 :])
    line = unparse_assign(replace(s, target=replace(s.target, items=left), value=made))
    return (f"{JOINED}: `{line}`",)


def is_other(s: Assign, first: Assign, at: int) -> bool:
    """Whether a statement is none that fills a part, or has other indices beside it."""
    mine, others = s.target.items or (), first.target.items or ()
    beside = [(a, b) for k, (a, b) in enumerate(zip(mine, others, strict=False)) if k != at]
    plain = all(isinstance(a, Binder | Dots) and isinstance(a, Dots) == isinstance(b, Dots) for a, b in beside)
    return (
        s.op != "=" or s.guard is not None or len(mine) != len(others) or not plain
        or s.target.name in names_read(s.value)
    )  # fmt: skip


def _part(f: Frame, s: Assign, at: int) -> _Part | None:
    item = (s.target.items or ())[at]
    match item:
        case Dots():
            return None
        case Binder(name=name, extent=extent) if is_index(f, name):
            return _Part(s, Number(0, s.span), name, extent)
        case Binder(name=name):
            return _Part(s, Name(name, s.span), None, None)
        case Sum(terms=terms):
            moving = [t for sign, t in terms if sign == "+" and isinstance(t, Name) and is_index(f, t.name)]
            start = total([(1, item), *((-1, t) for t in moving)], s.span)
            fixed = not any(
                isinstance(n, Access) or (isinstance(n, Name) and is_index(f, n.name)) for n in nodes(start)
            )
            return _Part(s, start, moving[0].name if moving else None, None) if fixed and len(moving) <= 1 else None
        case Number() | Name() | Product():
            fixed = not any(isinstance(n, Name) and is_index(f, n.name) for n in nodes(item))
            return _Part(s, item, None, None) if fixed else None
        case _:
            return None


def _value(part: _Part, letter: str, first: Sequence[Binder | Dots | Expr], at: int) -> Expr | None:
    """The value of a part in the indices of the whole; None where a reduction has one of these."""
    names: dict[str, Expr] = {}
    for k, (mine, other) in enumerate(zip(part.s.target.items or (), first, strict=True)):
        if k != at and isinstance(mine, Binder) and isinstance(other, Binder):
            names[mine.name] = Name(other.name, part.s.span)
    if part.index is not None:
        moved = [(1, Name(letter, part.s.span)), (-1, part.start)]
        names[part.index] = total(moved, part.s.span)
    names = {name: to for name, to in names.items() if to != Name(name, part.s.span)}
    used = {*names, *(n.name for to in names.values() for n in nodes(to) if isinstance(n, Name))}
    bound = {
        b.name for r in nodes(part.s.value) if isinstance(r, Reduction) for b in r.binders if isinstance(b, Binder)
    }
    return None if used & bound else transform(part.s.value, put(names))


def _size(f: Frame, last: _Part) -> Expr | None:
    """How many places there are; None where nothing says how far the last part runs."""
    at = last.s.span
    if last.index is None:
        return total([(1, last.start), (1, Number(1, at))], at)
    own = last.extent or next((Name(n, at) for n in (alone_at(f, last.s, last.index),) if n is not None), None)
    if own is None:
        return None
    formula = f.decl.derived.get(unparse(last.start))
    if formula is not None and unparse(formula).startswith(f"{unparse(own)} // "):
        return own  # all of it, of which the start is a part
    return total([(1, last.start), (1, own)], at)
