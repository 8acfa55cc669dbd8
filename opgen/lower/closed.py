"""Indices that a reduction is meant to bind: `sum[k](x[k])*w[k]` closes too early, `sum[d](x[k])` names another."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from opgen.diagnostics.model import Span
from opgen.ir.reductions import REDUCTIONS
from opgen.lang.nodes import Access, Assign, Binder, Expr, Name, Product, Reduction
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import names_read, operands, transform


@dataclass(frozen=True, slots=True)
class Closed:
    """An index that a reduction should bind and does not: why, and the statement in which it does."""

    index: str
    span: Span
    why: str
    meant: str


def closed_early(s: Assign, known: Container[str]) -> Closed | None:
    """The first factor beside a reduction that reads an index which nothing but that reduction binds.

    Or the first index that is not bound in a reduction over another letter, which nothing in it reads. `known` are
    the names of tensors and params.
    """
    bound = frozenset(i.name for i in s.target.items or () if isinstance(i, Binder))
    return next(chain(_found(s, s.value, bound), _lettered(s, s.value, bound, known)), None)


def _lettered(s: Assign, e: Expr, bound: frozenset[str], known: Container[str]) -> Iterator[Closed]:
    if isinstance(e, Reduction) and (found := _of_other_letter(s, e, bound, known)) is not None:
        yield found
    inner = bound | _own(e) if isinstance(e, Reduction) else bound
    for part in operands(e):
        yield from _lettered(s, part, inner, known)


def _of_other_letter(s: Assign, r: Reduction, bound: frozenset[str], known: Container[str]) -> Closed | None:
    row, own = REDUCTIONS.get(r.name), r.binders[0] if len(r.binders) == 1 else None
    if row is None or row.keeps_index or not isinstance(own, Binder) or own.extent is not None:
        return None
    free = {i.name: i for i in reversed([*_indices(r.body)]) if i.name not in bound and i.name not in known}
    if len(free) != 1 or own.name in names_read(r.body):
        return None
    (first,) = free.values()
    made = replace(r, binders=(replace(own, name=first.name),))
    value = transform(s.value, lambda node: made if node is r else None)
    why = f"`{r.name}[{own.name}]` binds another one, which nothing in it reads"
    return Closed(first.name, first.span, why, unparse_assign(replace(s, value=value)))


def _found(s: Assign, e: Expr, bound: frozenset[str]) -> Iterator[Closed]:
    if isinstance(e, Product):
        for _, part in e.factors:
            if isinstance(part, Reduction) and (found := _beside(s, e, part, bound)) is not None:
                yield found
    inner = bound | _own(e) if isinstance(e, Reduction) else bound
    for part in operands(e):
        yield from _found(s, part, inner)


def _own(e: Reduction) -> frozenset[str]:
    return frozenset(b.name for b in e.binders if isinstance(b, Binder))


def _beside(s: Assign, e: Product, r: Reduction, bound: frozenset[str]) -> Closed | None:
    row = REDUCTIONS.get(r.name)
    own = _own(r) - bound
    moved = [f for f in e.factors if f[1] is not r and any(i.name in own for i in _indices(f[1]))]
    if row is None or row.keeps_index or not moved or any(op not in ("*", "/") for op, _ in e.factors):
        return None
    first = next(i for _, part in moved for i in _indices(part) if i.name in own)
    place = next(k for k, (_, part) in enumerate(e.factors) if part is r)
    before = [f for f in e.factors[:place] if f in moved]
    inside = Product((*before, ("*", r.body), *(f for f in e.factors[place:] if f in moved)), r.body.span)
    whole: Expr = replace(r, body=inside)
    rest = tuple((op, whole if part is r else part) for op, part in e.factors if (op, part) not in moved)
    made = whole if len(rest) == 1 else Product(rest, e.span)
    value = transform(s.value, lambda node: made if node is e else None)
    shown = f"{r.name}[{', '.join(b.name if isinstance(b, Binder) else '...' for b in r.binders)}]"
    why = f"the bracket of `{shown}` is closed before"
    return Closed(first.name, first.span, why, unparse_assign(replace(s, value=value)))


def _indices(e: Expr, inner: frozenset[str] = frozenset()) -> Iterator[Name]:
    """The indices that stand alone in accesses and are not bound within."""
    if isinstance(e, Access):
        yield from (i for i in e.items if isinstance(i, Name) and i.name not in inner)
    if isinstance(e, Reduction):
        inner = inner | _own(e)
    for part in operands(e):
        yield from _indices(part, inner)
