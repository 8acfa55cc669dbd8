"""Tables with a border of their own at 0, `d[0, j]` and `d[i, 0]` around `d[i, j]`: the statements without it.

In goes such a recurrence along several indices, whose starts stand at -1 here; out comes what its statement and those
that read it are then, since each of its elements stands at one less than in the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.lang.circles import accesses, is_constant, reachable, shift_of
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Number, Sum
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import nodes, statement_names, transform
from opgen.lower.declare import Declarations


class _UnclearError(Exception):
    """A position of which nobody can tell whether it counts the border."""


def without_border(d: Declarations, body: Assign, places: Sequence[int]) -> tuple[str, ...]:
    """The statement of the elements, then those that read some of them; none where one of them is not clear.

    `places`: the positions that run along.
    """
    name = body.target.name
    own = [s for s in d.forward if s.target.name == name]
    starts = [s for s in own if any(map(is_constant, s.target.items or ()))]
    read = any(isinstance(n, Access) for s in starts for n in nodes(s.value))
    if len(own) - len(starts) != 1 or read or name in d.output_shapes or not _is_alone(d, name):
        return ()
    try:
        others = [s for s in (*d.forward, *d.backward) if s.target.name != name and [*accesses((s,), (name,))]]
        made = (_elements(body, places), *(_reader(s, name, places) for s in others))
    except _UnclearError:
        return ()
    return tuple(map(unparse_assign, made))


def _is_alone(d: Declarations, name: str) -> bool:
    """Whether a recurrence goes on from itself alone."""
    graph: dict[str, dict[str, None]] = {}
    for s in d.forward:
        graph.setdefault(s.target.name, {}).update(dict.fromkeys(statement_names(s)))
    return all(n == name or name not in reachable(graph, n) for n in graph.get(name, ()))


def _elements(body: Assign, places: Sequence[int]) -> Assign:
    """The statement at one more of each index: what it reads elsewhere at `i - 1` is then at `i`."""
    items = body.target.items or ()
    along = [i.name for k, i in enumerate(items) if k in places and isinstance(i, Binder)]
    found = False

    def moved(item: Expr | Dots) -> Expr | Dots:
        nonlocal found
        shift = shift_of(item)
        if shift is not None and shift.index in along and shift.offset == -1:
            found = True
            return Name(shift.index, body.span)
        if not isinstance(item, Dots) and any(isinstance(n, Name) and n.name in along for n in nodes(item)):
            raise _UnclearError
        return item

    def step(e: Expr) -> Expr | None:
        if isinstance(e, Name) and e.name in along:
            return Sum((("+", e), ("+", Number(1, e.span))), e.span)
        if not isinstance(e, Access) or e.name == body.target.name:
            return None
        return replace(e, items=tuple(map(moved, e.items)))

    value = transform(body.value, step)
    if not found or any(isinstance(i, Binder) and i.extent is not None for i in items):
        raise _UnclearError
    return replace(body, value=value)


def _reader(s: Assign, name: str, places: Sequence[int]) -> Assign:
    """A statement that reads elements at places which are told by numbers and sizes."""

    def step(e: Expr) -> Expr | None:
        if not isinstance(e, Access) or e.name != name:
            return None
        return replace(e, items=tuple(_less(i) if k in places else i for k, i in enumerate(e.items)))

    made = transform(s.value, step)
    inner = [a for n in nodes(s.value) if isinstance(n, Access) for i in n.items if not isinstance(i, Dots)
             for a in nodes(i) if isinstance(a, Access) and a.name == name]  # fmt: skip
    if inner:
        raise _UnclearError
    return replace(s, value=made)


def _less(item: Expr | Dots) -> Expr:
    match item:
        case Number(value=int(value)) if value > 0:
            return Number(value - 1, item.span)
        case Name(name=name) if name[:1].isupper():
            return Sum((("+", item), ("-", Number(1, item.span))), item.span)
        case _:
            raise _UnclearError
