"""A tensor of a recurrence that stands without indices in another statement of it: at which place it is meant."""

from __future__ import annotations

from opgen.lang.circles import accesses, is_constant, reachable, shift_of
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Number, Sum
from opgen.lang.unparse import unparse
from opgen.lang.walk import nodes, statement_at
from opgen.lower.scope import Frame, Known


def read_along(f: Frame, e: Name, known: Known) -> str | None:
    """How `e` is read at the indices of its own statement, a place back where it is made from this place's value.

    None where the statement at hand has other indices, or the tensor is none of the recurrence.
    """
    own = next((s for s in f.decl.forward if s.target.name == e.name and _goes_on(s)), None)
    here = statement_at(f.decl.forward, e.span)
    if own is None or here is None or not known.running or not _goes_on(here):
        return None
    left = [i.name for i in here.target.items or () if isinstance(i, Binder)]
    items: list[Expr | Dots] = []
    for item in own.target.items or ():
        if isinstance(item, Binder) and item.name not in left:
            return None
        items.append(Name(item.name, e.span) if isinstance(item, Binder) else Dots(e.span))
    if f.target in reachable(_graph(f), e.name):
        for place in sorted(known.running):
            items[place] = _back(f, items[place])
    return unparse(Access(e.name, tuple(items), e.span, e.span))


def _goes_on(s: Assign) -> bool:
    """Whether a statement is no start: indices and `...` alone stand left."""
    return s.op == "=" and s.target.items is not None and not any(map(is_constant, s.target.items))


def _graph(f: Frame) -> dict[str, dict[str, None]]:
    """What each name reads at the place that it is at."""
    found: dict[str, dict[str, None]] = {}
    for s in filter(_goes_on, f.decl.forward):
        at = [n.name for n in nodes(s.value) if isinstance(n, Name | Access) and not _is_moved(n)]
        found.setdefault(s.target.name, {}).update(dict.fromkeys(at))
    return found


def _is_moved(e: Name | Access) -> bool:
    return isinstance(e, Access) and any(map(shift_of, e.items))


def _back(f: Frame, item: Expr | Dots) -> Expr | Dots:
    """A place back along an index, whichever way the recurrence goes; the index where nothing is read further back."""
    if not isinstance(item, Name):
        return item
    names = tuple(n for n, k in f.state.tensors.items() if k.running)
    for a in accesses(f.decl.forward, names):
        for step in filter(None, map(shift_of, a.items)):
            if step.index == item.name:
                one = Number(1, item.span)
                return Sum((("+", item), ("-" if step.offset < 0 else "+", one)), item.span)
    return item
