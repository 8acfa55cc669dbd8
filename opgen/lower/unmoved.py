"""Reductions whose body has no index of theirs, though that index is one of the statement: what is said of them.

`softmax[s](trust[j])` is the same at each `s`: the index of what is read is meant. In: statements as they are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opgen.diagnostics.model import Diagnostic, Severity
from opgen.diagnostics.suggest import listed
from opgen.ir.reductions import REDUCTIONS
from opgen.lang.nodes import Access, Assign, Binder, Expr, Name, Reduction
from opgen.lang.unparse import respelled
from opgen.lang.walk import nodes, operands, statement_at
from opgen.lower.draw import is_drawn

_OF_EQUALS = {
    "softmax": "the softmax of equal values is 1 divided by their count",
    "log_softmax": "the log_softmax of equal values is minus the logarithm of their count",
    "sum": "the sum of equal values is one of them times their count",
    "mean": "the mean of equal values is one of them",
    "max": "the greatest of equal values is one of them",
    "min": "the least of equal values is one of them",
    "var": "the variance of equal values is 0",
}


def reductions(s: Assign) -> Iterator[tuple[Reduction, frozenset[str]]]:
    """Every reduction of a statement, with the indices that are bound around it."""
    left = frozenset(i.name for i in s.target.items or () if isinstance(i, Binder))
    stack: list[tuple[Expr, frozenset[str]]] = [(s.value, left)]
    while stack:
        e, around = stack.pop()
        if isinstance(e, Reduction):
            yield e, around
            around |= _bound(e)
        stack += [(part, around) for part in reversed(operands(e))]


def unmoved(s: Assign, r: Reduction, b: Binder, around: frozenset[str]) -> Diagnostic | None:
    """What is said of a body that is the same at each place along an index; None where that is bound there alone."""
    if b.name not in around or is_drawn(r.body):
        return None
    value = respelled(r.body)
    notes = (_OF_EQUALS[r.name],) if r.name in _OF_EQUALS and len(r.binders) == 1 else ()
    meant = _meant(s, r, b, around)
    hint = f"read something at `{b.name}` in it" if meant is None else _along(r, meant)
    return Diagnostic(
        "OPG240", f"`{value}` is the same at each `{b.name}`", r.span, f"along `{b.name}`",
        notes=notes, hints=(hint,), severity=Severity.WARNING,
    )  # fmt: skip


def moved(statements: Iterable[Assign], r: Reduction) -> str:
    """What may be meant where nothing says how far the index of a reduction runs; empty where nobody knows."""
    s = statement_at(statements, r.span)
    found = () if s is None else ((s, around) for e, around in reductions(s) if e.span == r.span and e == r)
    for own, around in found:
        for b in (b for b in r.binders if isinstance(b, Binder) and b.name in around):
            meant = None if b.name in _names(r.body) else _meant(own, r, b, around)
            if meant is not None:
                return _along(r, meant)
    return ""


def read_in(statements: Iterable[Assign], r: Reduction) -> str:
    """What a reduction goes over whose one index stands nowhere else: another one that stands alone in its body."""
    s = statement_at(statements, r.span)
    own = r.binders[0] if len(r.binders) == 1 else None
    if s is None or not isinstance(own, Binder) or own.name in _names(r.body):
        return ""
    around = next((found for e, found in reductions(s) if e.span == r.span and e == r), frozenset[str]())
    inside = frozenset[str]().union(*(_bound(n) for n in nodes(r.body) if isinstance(n, Reduction)))
    outer = (n for n in nodes(s.value) if isinstance(n, Reduction) and any(e is r for e in nodes(n.body)))
    free = [n for n in dict.fromkeys(_positions(r.body)) if n in around - inside.union(*map(_bound, outer))]
    lines = [respelled(r, (Name(own.name, own.span), n)) for n in free]
    return f"nothing in its body reads `{own.name}`: write {listed(lines)}" if lines and own.name not in around else ""


def _meant(s: Assign, r: Reduction, b: Binder, around: frozenset[str]) -> str | None:
    """The one index that a body is read at and that is bound around it, where both have their extents without it."""
    inside = _bound(r).union(*(_bound(n) for n in nodes(r.body) if isinstance(n, Reduction)))
    free = {*_positions(r.body)} & around - inside
    inner = {id(n) for n in nodes(r)}
    outside = [i for n in nodes(s.value) if id(n) not in inner and isinstance(n, Access) for i in _items(n)]
    keeps = r.name in REDUCTIONS and REDUCTIONS[r.name].keeps_index
    needed = {b.name} if keeps else {b.name, *free}
    return free.pop() if len(free) == 1 and len(r.binders) == 1 and needed <= {*outside} else None


def _along(r: Reduction, index: str) -> str:
    """The proposal of a reduction along another index."""
    given = ", ".join(respelled(e) for e in (r.body, r.further) if e is not None)
    return f"for what runs along `{index}` write `{r.name}[{index}]({given})`"


def _bound(r: Reduction) -> frozenset[str]:
    return frozenset(b.name for b in r.binders if isinstance(b, Binder))


def _names(e: Expr) -> frozenset[str]:
    return frozenset(n.name for n in nodes(e) if isinstance(n, Name))


def _positions(e: Expr) -> Iterator[str]:
    """The indices that stand alone at a position of what is read."""
    return (name for n in nodes(e) if isinstance(n, Access) for name in _items(n))


def _items(a: Access) -> list[str]:
    return [i.name for i in a.items if isinstance(i, Name)]
