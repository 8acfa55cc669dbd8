"""Tables with a border of their own at 0, `d[0, j]` and `d[i, 0]` around `d[i, j]`: the statements without it.

In goes such a recurrence along several indices, whose starts stand at -1 here; out comes what its statement and those
that read it are then, since each of its elements stands at one less than in the table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from opgen.diagnostics.suggest import listed
from opgen.lang.circles import accesses, is_constant, reachable, shift_of
from opgen.lang.limits import size_of
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Number, Product, Sum
from opgen.lang.slices import total
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.walk import nodes, statement_names, transform
from opgen.lower.declare import Declarations

MOVED = "what is read at `i - 1` beside an element at `i` is read at `i`"


class _UnclearError(Exception):
    """A position of which nobody can tell whether it counts the border."""


@dataclass(frozen=True, slots=True)
class Table:
    """What becomes of the statements around a border: the lines, what cannot be told, and what is said of the rest."""

    lines: tuple[str, ...]
    unclear: tuple[str, ...]  # statements that read the elements at indices
    idle: tuple[str, ...]  # dims that nothing reads any more
    shape: tuple[str, ...]  # that of the elements, where another one is declared


def without_border(d: Declarations, body: Assign, places: Sequence[int]) -> Table | None:
    """The statement of the elements, then those that read some of them; None where the first is not clear.

    `places`: the positions that run along.
    """
    name = body.target.name
    own = [s for s in d.forward if s.target.name == name]
    starts = [s for s in own if any(map(is_constant, s.target.items or ()))]
    read = any(isinstance(n, Access) for s in starts for n in nodes(s.value))
    if len(own) - len(starts) != 1 or read or not _is_alone(d, name):
        return None
    others = [s for s in (*d.forward, *d.backward) if s.target.name != name and [*accesses((s,), (name,))]]
    try:
        made = [_elements(d, body, places)]
    except _UnclearError:
        return None
    unclear: list[Assign] = []
    for s in others:
        try:
            made.append(_reader(d, s, name, places))
        except _UnclearError:
            unclear.append(s)
    idle = _idle(d, [*own, *others], [*made, *unclear], shaped=name in d.output_shapes)
    return Table(tuple(map(unparse_assign, made)), tuple(map(unparse_assign, unclear)), idle, _shape(d, body, places))


def _shape(d: Declarations, body: Assign, places: Sequence[int]) -> tuple[str, ...]:
    """The shape of the elements, where one is declared with the border; empty where it is not clear."""
    sizes = [Name(size, body.span) for size in d.words.results.get(body.target.name, ())]
    try:
        return tuple(unparse(_less(d, size)) if k in places else size.name for k, size in enumerate(sizes))
    except _UnclearError:
        return ()


def of_table(table: Table, name: str) -> tuple[str, ...]:
    """What is said of the statements around a border, beside the starts."""
    verb = "the elements are then" if table.unclear else "write"
    hints = [f"every other position is one less, too: {verb} {', '.join(f'`{line}`' for line in table.lines)}"]
    if table.unclear:
        shown = ", ".join(f"`{line}`" for line in table.unclear)
        hints.append(f"what else reads `{name}` finds its elements alone, without the border: see to {shown}")
    if table.shape:
        hints.append(f"under `outputs` its shape is [{', '.join(table.shape)}], without the border")
    if table.idle:
        them = "it" if len(table.idle) == 1 else "them"
        hints.append(f"nothing reads {listed(table.idle, 'and')} any more: leave {them} out of `dims`")
    return tuple(hints)


def _idle(d: Declarations, before: Sequence[Assign], after: Sequence[Assign], *, shaped: bool) -> tuple[str, ...]:
    """The derived dims that no statement reads any more, nor anything else in the spec."""
    text = before[0].span.source.text
    found = []
    for name in d.derived:
        word = re.compile(rf"\b{name}\b")
        here = sum(len(word.findall(s.span.text)) for s in before)
        if here and not shaped and len(word.findall(text)) == here + 1:
            found += [] if any(word.search(unparse_assign(s)) for s in after) else [name]
    return tuple(found)


def _is_alone(d: Declarations, name: str) -> bool:
    """Whether a recurrence goes on from itself alone."""
    graph: dict[str, dict[str, None]] = {}
    for s in d.forward:
        graph.setdefault(s.target.name, {}).update(dict.fromkeys(statement_names(s)))
    return all(n == name or name not in reachable(graph, n) for n in graph.get(name, ()))


def _elements(d: Declarations, body: Assign, places: Sequence[int]) -> Assign:
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
    if not found:
        raise _UnclearError

    own = body.target.name

    def sized(k: int, item: Binder | Dots | Expr) -> Binder | Dots | Expr:
        if k not in places or not isinstance(item, Binder) or item.extent is None:
            return item
        fewer = _less(d, item.extent)
        others = transform(value, lambda n: Number(0, n.span) if isinstance(n, Access) and n.name == own else None)
        size = size_of(d.words, item.name, others)
        return replace(item, extent=None if size is not None and _expanded(d, size) == fewer else fewer)

    made = tuple(sized(k, item) for k, item in enumerate(items))
    return replace(body, target=replace(body.target, items=made), value=value)


def _expanded(d: Declarations, e: Expr) -> Expr:
    """A size with the formulas of derived dims in place of their names."""

    def step(n: Expr) -> Expr | None:
        derived = d.derived.get(n.name) if isinstance(n, Name) else None
        return None if derived is None else _expanded(d, derived)

    return total([(1, transform(e, step))], e.span)


def _reader(d: Declarations, s: Assign, name: str, places: Sequence[int]) -> Assign:
    """A statement that reads elements at places which are told by numbers and sizes."""

    def step(e: Expr) -> Expr | None:
        if not isinstance(e, Access) or e.name != name:
            return None
        return replace(e, items=tuple(_less(d, i) if k in places else i for k, i in enumerate(e.items)))

    made = transform(s.value, step)
    inner = [a for n in nodes(s.value) if isinstance(n, Access) for i in n.items if not isinstance(i, Dots)
             for a in nodes(i) if isinstance(a, Access) and a.name == name]  # fmt: skip
    if inner:
        raise _UnclearError
    return replace(s, value=made)


def _less(d: Declarations, item: Expr | Dots) -> Expr:
    """A place or a size that is told by numbers and sizes, and is one less."""
    plain = not isinstance(item, Dots) and all(
        isinstance(n, Number | Sum | Product)
        or (isinstance(n, Name) and (n.name in d.known_dims() or n.name in d.params))
        for n in nodes(item)
    )
    if isinstance(item, Dots) or not plain:
        raise _UnclearError
    made = total([(1, _expanded(d, item)), (-1, Number(1, item.span))], item.span)
    if isinstance(made, Sum) and made.terms[0][1] == Number(0, item.span):
        raise _UnclearError
    return made
