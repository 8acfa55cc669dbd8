"""How a tensor is read, spelt with the letters and indices at hand: what messages propose in place of an access."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from opgen.diagnostics.model import Hint, Span
from opgen.ir import text
from opgen.ir.program import Shape
from opgen.ir.scalar import BATCH, ONE, Dim, Lit, Scalar
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Reduction
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.vocabulary import letters, other_letters
from opgen.lang.walk import names_read, nodes, rebuild, transform
from opgen.lower.scope import UNKNOWN, Frame, IndexInfo, Known, Site

T = TypeVar("T")


def shape_text(shape: Shape) -> str:
    return text.shape(shape)


def spelled(f: Frame, name: str, shape: Shape) -> str:
    """How a tensor of this shape is read: `x[..., k]`, and at 0 where a size is 1."""
    items = ("0" if size == ONE else letter for size, letter in zip(shape, letters_of(f, shape), strict=True))
    return f"{name}[{', '.join(items)}]"


def instead_of_dots(f: Frame, e: Access, shape: Shape) -> tuple[str, ...]:
    """What is written for an access with `...` to a tensor that has no batch dims: the indices that it stands for."""
    at = next(k for k, i in enumerate(e.items) if isinstance(i, Dots))
    behind = len(e.items) - at - 1
    declared = [
        *(text.position(s) for s in shape[:at]),
        "...",
        *(text.position(s) for s in shape[len(shape) - behind :]),
    ]
    given = (
        (f"or give it batch dims: `{e.name}: {{shape: [{', '.join(declared)}]}}`",) if e.name in f.decl.inputs else ()
    )
    own = [s for s in (*f.decl.forward, *f.decl.backward) if s.target.name == f.target]
    middle = letters_of(f, shape)[at : len(shape) - behind]
    if len(own) == 1 and own[0].target.items is not None and at + behind <= len(shape):
        names = tuple(Name(i, e.span) for i in middle)
        used = {n.name for n in nodes(own[0].value) if isinstance(n, Name)}
        line = _without_dots(f, own[0], names) if used.isdisjoint(middle) else None
        if line is not None:
            return (f"write `{line}`", *given)
    if any(not isinstance(i, Dots | Name) for i in e.items) and at + behind <= len(shape):  # these stay as they are
        return (
            f"write `{unparse(replace(e, items=_spread(e.items, tuple(Name(i, e.span) for i in middle))))}`",
            *given,
        )
    return (f"write `{spelled(f, e.name, shape)}`", *given)


def without_last(f: Frame, e: Access, known: Known) -> tuple[str, ...]:
    """What is meant by `norm[k](x[..., k])` of a tensor that has batch dims alone; nothing for any other access."""
    last = e.items[-1] if e.items else None
    own = (s for s in (*f.decl.forward, *f.decl.backward) if s.target.name == f.target)
    around = [r for s in own for r in nodes(s.value) if isinstance(r, Reduction) and any(n is e for n in nodes(r.body))]
    if known.shape != (BATCH,) or len(e.items) != 2 or not isinstance(last, Name) or not around:
        return ()
    bound = around[-1].binders
    if len(bound) != 1 or not isinstance(bound[0], Binder) or bound[0].name != last.name:
        return ()
    body = transform(around[-1].body, lambda n: Name(e.name, n.span) if n == e else None)
    if any(isinstance(n, Name) and n.name == last.name for n in nodes(body)):
        return ()
    whole = f"over all of it: write `{unparse(replace(around[-1], binders=(Dots(e.span),), body=body))}`"
    shape = f"[..., {last.name.upper()}]"
    return (whole, f"or give it a dim: `{e.name}: {{shape: {shape}}}`") if e.name in f.decl.inputs else (whole,)


def _without_dots(f: Frame, s: Assign, names: tuple[Name, ...]) -> str | None:
    """A statement with these indices in place of `...`; None where some tensor does have batch dims, or others."""
    fitting = True

    def step(node: Expr) -> Expr | None:
        nonlocal fitting
        known = f.state.tensors.get(node.name) if isinstance(node, Access | Name) else None
        if known is not None and known.shape is not None and BATCH in known.shape:
            fitting = False
        if isinstance(node, Reduction) and any(isinstance(b, Dots) for b in node.binders):
            fitting = False
        if not isinstance(node, Access) or not any(isinstance(i, Dots) for i in node.items):
            return None
        items = _spread(node.items, names)
        fitting &= known is not None and known.shape is not None and len(known.shape) == len(items)
        return replace(node, items=items)

    value = transform(s.value, step)
    items = tuple(
        Name(i.name, i.span) if isinstance(i, Binder) and i.extent is None else i for i in s.target.items or ()
    )
    if not fitting or any(isinstance(i, Binder) for i in items):
        return None
    target = Access(s.target.name, _spread(items, names), s.span, s.span)  # type: ignore[arg-type]
    return f"{unparse(target)} {s.op} {unparse(value)}"


def _spread(items: Sequence[Expr | Dots], names: tuple[Name, ...]) -> tuple[Expr | Dots, ...]:
    return tuple(part for i in items for part in (names if isinstance(i, Dots) else (i,)))


def letters_of(f: Frame, shape: Shape) -> tuple[str, ...]:
    instead = other_letters(f.decl.known_dims(), (*f.state.tensors, *f.state.later, *f.decl.params))
    return letters([text.position(size) for size in shape], instead)


def idle(f: Frame, span: Span) -> list[str]:
    """The indices in reach that nothing in the statement of an access reads."""
    read = set(re.findall(r"\w+", span.text))
    for s in (*f.decl.forward, *f.decl.backward):
        if s.span.start <= span.start and span.end <= s.span.end:
            read |= names_read(s.value).keys()
    reach = [] if f.scope is None else f.scope.visible()
    return [i.name for i in reach if isinstance(i, IndexInfo) and i.name not in read and not i.sites and not i.stated]


def not_an_index(f: Frame, item: Name, site: Site) -> None:
    """A tensor of floats where an index stands alone: told once in a statement."""
    if f"index {item.name}" in f.reported:
        return
    f.reported.add(f"index {item.name}")
    free = idle(f, site.span)
    hint = f"use another letter, such as `{another_letter(f, item.name)}`"
    hint = f"`{free[0]}` is read nowhere: did you mean that?" if len(free) == 1 else hint
    f.error("OPG207", f"the index `{item.name}` has the name of a tensor", item.span, hint)


def another_letter(f: Frame, name: str) -> str:
    """A letter for an index that has the name of something else."""
    named = (*f.index_names, *f.decl.params, *f.state.tensors, *f.state.later)
    wishes: tuple[str, ...] = (*"ijklmnr", name * 2)
    return next(c for c in wishes if c not in named)


def with_letter(s: Assign, name: str, letter: str, *, alone: bool = False) -> str | None:
    """A statement with another letter for an index; None where its name stands for something else there as well.

    `alone`: without brackets the name stands for nothing but the index.
    """

    def put(e: Expr) -> Expr:
        made = rebuild(e, put)
        match made:
            case Access(items=items):
                return replace(made, items=tuple(Name(letter, e.span) if i == Name(name, e.span) else i for i in items))
            case Reduction(binders=binders):
                return replace(made, binders=tuple(map(bound, binders)))
            case Name(name=own) if alone and own == name:
                return Name(letter, made.span)
            case _:
                return made

    def bound(item: T) -> T | Binder:
        return replace(item, name=letter) if isinstance(item, Binder) and item.name == name else item

    items = None if s.target.items is None else tuple(map(bound, s.target.items))
    made = replace(s, target=replace(s.target, items=items), value=put(s.value))
    extents = [i.extent for i in items or () if isinstance(i, Binder) and i.extent is not None]
    others = [i for i in items or () if not isinstance(i, Binder | Dots)]
    stands = (n for e in (made.value, *extents, *others) for n in nodes(e) if isinstance(n, Name))
    return None if any(n.name == name for n in stands) else unparse_assign(made)


def from_the_end(item: Expr, place: int, dim: Scalar, site: Site) -> tuple[str, ...]:
    """An access with a negative position, counted from the front."""
    written, start = site.span.text, item.span.start - site.span.start
    if dim == Dim(UNKNOWN) or "\n" in written:
        return ()
    meant = str(int(dim.value) + place) if isinstance(dim, Lit) else f"{text.scalar(dim)} - {-place}"
    made = f"{written[:start]}{meant}{written[start + len(item.span.text) :]}"
    return (Hint(f"write `{made}`", written, made, site.span),)
