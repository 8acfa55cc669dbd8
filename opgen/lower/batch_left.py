"""Batch dims that are left over: the statements with `...` on the left, and all that read what these assign."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from opgen.diagnostics.model import Span
from opgen.diagnostics.suggest import listed
from opgen.ir.reductions import ORDERS, REDUCTIONS
from opgen.ir.scalar import BATCH
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Reduction
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import nodes, operands, rebuild, statement_at
from opgen.lower.loose import bound_by
from opgen.lower.scope import Frame

_KEEPING = tuple(name for name, row in (REDUCTIONS | ORDERS).items() if row.keeps_index)


def left_over(f: Frame, span: Span) -> tuple[str, ...]:
    """What is written where batch dims stand at a place, and neither on the left nor in a reduction around it."""
    plain = "gradients add up, `sum[...](…)`" if f.target.startswith("grad_") else "`mean[...](…)`"
    reduced = listed(bound_by(f, span)) or plain
    own = statement_at(f.decl.forward, span)
    lines = () if own is None else _lines(f, own)
    if not lines:
        return (f"write `...` on the left, or reduce them: {reduced}",)
    return (f"write {listed(lines, 'and')}", f"or reduce them: {reduced}")


def _lines(f: Frame, own: Assign) -> tuple[str, ...]:
    """A statement with `...` on the left, and those which have to have it too, and are told of nowhere else.

    Empty where it isn't certain that this is meant: where outputs state a shape without batch dims, for one.
    """
    named = _with_batch(f)
    made = [_with_dots(s, named) for s in f.decl.forward]
    if own.target.name not in named or not all(_fits(f, s, named) for s in made if s.target.name in named):
        return ()
    loose = [s for s in f.decl.forward if _is_loose(f, s.value)]
    first = next((s for s in loose if s.target.name in named), None)
    changed = [s for s, new in zip(f.decl.forward, made, strict=True) if s != new and s is not own and s not in loose]
    told = (own, *(changed if own is first else ()))
    return tuple(unparse_assign(_with_dots(s, named)) for s in told)


def _with_batch(f: Frame) -> list[str]:
    """The names that have batch dims, though no statement of theirs has `...` on the left."""
    found: list[str] = []
    while True:
        more = [
            s.target.name
            for s in f.decl.forward
            if s.target.name not in found and _is_plain(s) and _is_loose(f, _in_body(s.value, found))
        ]
        if not more:
            return found
        found += more[:1]


def _is_plain(s: Assign) -> bool:
    items = s.target.items
    return s.op == "=" and items is not None and not any(isinstance(i, Dots) for i in items)


def _fits(f: Frame, s: Assign, named: Collection[str]) -> bool:
    """Whether a statement with `...` on the left means the same for each batch."""
    bare = any(isinstance(n, Name) and n.name in named for n in nodes(s.value))
    stated = f.decl.output_shapes.get(s.target.name, (BATCH,))
    start = any(not isinstance(i, Binder | Dots) for i in s.target.items or ())
    fronts = all(shape[0] == BATCH for shape in f.decl.shapes.values() if BATCH in shape)
    return s.op == "=" and not bare and BATCH in stated and fronts and (start or _is_loose(f, s.value))


def _with_dots(s: Assign, named: Sequence[str]) -> Assign:
    """A statement with `...` in front at each of these names."""
    value = _in_body(s.value, named)
    if s.target.name not in named or s.target.items is None or any(isinstance(i, Dots) for i in s.target.items):
        return replace(s, value=value)
    return replace(s, target=replace(s.target, items=(Dots(s.span), *s.target.items)), value=value)


def _in_body(e: Expr, named: Sequence[str]) -> Expr:
    made = rebuild(e, lambda part: _in_body(part, named))
    if not isinstance(made, Access) or made.name not in named or any(isinstance(i, Dots) for i in made.items):
        return made
    return replace(made, items=(Dots(made.span), *made.items))


def _is_loose(f: Frame, e: Expr) -> bool:
    return any(_loose(f, e))


def _loose(f: Frame, e: Expr) -> Iterator[bool]:
    """True for each read of batch dims that no reduction binds."""
    if isinstance(e, Reduction) and e.name not in _KEEPING and any(isinstance(b, Dots) for b in e.binders):
        return
    if isinstance(e, Name) and BATCH in f.decl.shapes.get(e.name, ()):
        yield True
    if isinstance(e, Access) and any(isinstance(i, Dots) for i in e.items):
        yield True
    for part in operands(e):
        yield from _loose(f, part)
