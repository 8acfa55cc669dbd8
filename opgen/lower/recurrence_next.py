"""Recurrences that are written to the next element, `h[t + 1] = f(h[t])`, as here: to their own, from the one before.

Its elements are then those from the second on, so that what reads it moves as well, in whatever statement that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from opgen.ir import text
from opgen.lang import spread
from opgen.lang.circles import Step, accesses, is_constant, reachable, shift_of, step_of
from opgen.lang.nodes import Access, Assign, Binder, Call, Compare, Dots, Expr, Name, Number, Reduction, Sum
from opgen.lang.unparse import unparse, unparse_assign, unparse_target
from opgen.lang.walk import integer, names_read, nodes, statement_names, transform
from opgen.lower.declare import Declarations
from opgen.lower.idle import idle_param
from opgen.lower.start_within import is_element, sized


@dataclass(frozen=True, slots=True)
class _Late:
    """Which position of a name is written beside its index, and how far.

    `keeps`: whatever else it reads along that index it reads there as well, so that its elements keep their places.
    """

    place: int
    offset: int
    keeps: bool


class _UnknownError(Exception):
    """An element that is none of the recurrence: its start, perhaps."""


@dataclass(frozen=True, slots=True)
class ToItsOwn:
    """A recurrence as it is written here: at one `less` or one `more`, with what is said of statements that read it."""

    line: Assign
    way: str
    elsewhere: tuple[str, ...]

    @property
    def hints(self) -> tuple[str, ...]:
        line = unparse_assign(self.line)
        return (f"what goes on from the step before reads it at one {self.way}: `{line}`", *self.elsewhere)


def to_its_own(d: Declarations, s: Assign) -> ToItsOwn | None:
    """What a recurrence that is written beside its index becomes; None for any other statement."""
    late = _late(d)
    if s.target.name not in late:
        return None
    way = "less" if late[s.target.name].offset > 0 else "more"
    try:
        return ToItsOwn(_moved(d, s, late), way, _elsewhere(d, s, late))
    except _UnknownError:
        return None


def from_0(d: Declarations, s: Assign) -> tuple[str, ...]:
    """A recurrence that is written to its next element, with its start at 0, as one statement; nothing of others."""
    late, items, name = _late(d).get(s.target.name), s.target.items or (), s.target.name
    if late is None or late.offset != 1 or s.guard is not None or s.op != "=":
        return ()
    starts = [o for o in d.forward if o.target.name == name and o is not s]
    step = shift_of(item) if not isinstance(item := items[late.place], Binder) else None
    if step is None or len(starts) != 1 or len(starts[0].target.items or ()) != len(items):
        return ()
    old = list(starts[0].target.items or ())
    first = old.pop(late.place)
    if isinstance(first, Binder | Dots) or integer(first) != 0 or not is_element(starts[0], late.place):
        return ()
    if -1 in _read_along(d, _circle(d, name)) or tuple(old) != (*items[: late.place], *items[late.place + 1 :]):
        return ()
    own = (*items[: late.place], Binder(step.index, None, s.span), *items[late.place + 1 :])
    at_0 = Compare((Name(step.index, s.span), Number(0, s.span)), ("==",), s.span)
    both = Call("where", (at_0, starts[0].value, _an_index_less(s, step.index)), s.span, s.span)
    made = sized(d, replace(s, target=replace(s.target, items=own), value=both), starts[0], late.place)
    return (f"an element is written from the one before, and both lines are one: `{unparse_assign(made)}`",)


def _late(d: Declarations) -> dict[str, _Late]:
    """The names that go on from themselves and are written beside an index."""
    graph = _graph(d)
    found: dict[str, _Late] = {}
    for s in d.forward:
        items, name = s.target.items or (), s.target.name
        beside = [k for k, i in enumerate(items) if not isinstance(i, Binder | Dots)]
        item = items[beside[0]] if len(beside) == 1 else None
        step = None if item is None or isinstance(item, Binder | Dots) else step_of(item)
        if step is None or name not in reachable(graph, name) or not (s.op == "=" or name in graph[name]):
            continue
        own = [o for o in d.forward if o.target.name == name and o is not s]
        starts = [i for o in own for i in (o.target.items or ())[beside[0] : beside[0] + 1] if is_constant(i)]
        read = _read_along(d, _circle(d, name)) if s.guard is None else []
        if starts and (step.offset < 0 or (any(map(_is_first, starts)) and 1 in read)):
            continue
        found[name] = _Late(beside[0], step.offset, step.offset > 0 and 1 in read and -1 not in read)
    return found


def _is_first(item: Binder | Dots | Expr) -> bool:
    return not isinstance(item, Binder | Dots) and integer(item) == 0


def _graph(d: Declarations) -> dict[str, dict[str, None]]:
    graph: dict[str, dict[str, None]] = {}
    for s in d.forward:
        graph.setdefault(s.target.name, {}).update(dict.fromkeys(statement_names(s)))
    return graph


def _circle(d: Declarations, name: str) -> tuple[str, ...]:
    """A name and those beside an index that read it and are read by it, by whatever way."""
    graph = _graph(d)
    reach = reachable(graph, name)
    beside = dict.fromkeys(s.target.name for s in d.forward if any(map(_beside, s.target.items or ())))
    return tuple(n for n in beside if n == name or (n in reach and name in reachable(graph, n)))


def _read_along(d: Declarations, circle: Sequence[str]) -> list[int]:
    """Where names that are written beside an index read others along it: 1 for that very place, -1 for any other."""
    found: list[int] = []
    for s in (o for o in d.forward if o.target.name in circle):
        index = next((step.index for i in s.target.items or () if (step := _beside(i)) is not None), None)
        read = (a for a in nodes(s.value) if isinstance(a, Access) and a.name not in circle and index is not None)
        for item in (i for a in read for i in a.items if not isinstance(i, Dots)):
            if shift_of(item) == Step(index or "", 1):
                found.append(1)
            elif index in names_read(item):
                found.append(-1)
    return found


def _beside(item: Binder | Dots | Expr) -> Step | None:
    return None if isinstance(item, Binder | Dots) else shift_of(item)


def _moved(d: Declarations, s: Assign, late: dict[str, _Late]) -> Assign:
    """A statement with every read of these names moved, and its target to its own index."""

    def step(e: Expr) -> Expr | None:
        if not isinstance(e, Access):
            return None
        items = [i if isinstance(i, Dots) else transform(i, step) for i in e.items]
        own = late.get(e.name)
        if own is not None and not own.keeps and own.place < len(items):
            items[own.place] = _less(items[own.place], own.offset)
        return replace(e, items=tuple(items))

    made, items, at = replace(s, value=transform(s.value, step)), s.target.items or (), late.get(s.target.name)
    own = _beside(items[at.place]) if at is not None else None
    if at is None or own is None:
        return made
    made = replace(made, value=_an_index_less(s, own.index)) if at.keeps else made
    along = Binder(own.index, _how_far(d, s, own.index), s.target.span)
    return replace(made, target=replace(s.target, items=(*items[: at.place], along, *items[at.place + 1 :])))


def _how_far(d: Declarations, s: Assign, index: str) -> Expr | None:
    """The extent that a recurrence states: a dim or a param, where all that it reads along its index is itself."""
    circle = _circle(d, s.target.name)
    if any(n in d.output_shapes for n in circle) or _read_along(d, circle):
        return None
    sizes = d.known_dims()
    likely = index.upper() if index.upper() in sizes else sizes[0] if len(sizes) == 1 else idle_param(d)
    return None if likely is None else Name(likely, s.target.span)


def _less(item: Expr | Dots, offset: int) -> Expr:
    """A position that much less."""
    if isinstance(item, Dots):
        raise _UnknownError
    step, at = shift_of(item), item.span
    if isinstance(item, Number) and isinstance(item.value, int):
        if item.value < offset:
            raise _UnknownError
        return Number(item.value - offset, at)
    if step is not None or isinstance(item, Name):
        index, left = (step.index, step.offset - offset) if step is not None else (unparse(item), -offset)
        moved = (("+", Name(index, at)), ("+" if left > 0 else "-", Number(abs(left), at)))
        return Sum(moved, at) if left else Name(index, at)
    terms = item.terms if isinstance(item, Sum) else (("+", item),)
    return Sum((*terms, ("-" if offset > 0 else "+", Number(abs(offset), at))), at)


def _elsewhere(d: Declarations, s: Assign, late: dict[str, _Late]) -> tuple[str, ...]:
    """What the statements that read a recurrence become, each said at the first of those that it reads."""
    moving = [n for n, at in late.items() if not at.keeps]
    order = list(dict.fromkeys(o.target.name for o in d.forward if o.target.name in moving))
    place, offset = late[s.target.name].place, late[s.target.name].offset
    item = (s.target.items or ())[place]
    if isinstance(item, Binder | Dots):  # another statement of this name is moved along that index
        return ()
    step = shift_of(item)
    size = "…" if step is None else extent_along(d, s, place, step.index)
    lines = []
    for o in (*d.forward, *d.backward):
        read = [n for n in order if n in {a.name for a in accesses((o,), order)}]
        if o.target.name in late or not read or read[0] != s.target.name:
            continue
        try:
            lines.append(f"`{unparse_assign(_bounded(_moved(d, o, late), size))}`")
        except _UnknownError:
            old, new = unparse(item), unparse(_less(item, offset))
            return (f"what stood at `{old}` stands at `{new}` then, also where it is read",)
    return (f"what reads it elsewhere moves with it: write {', '.join(lines)}",) if lines else ()


def _bounded(s: Assign, size: str) -> Assign:
    """A statement with an extent for the indices of its target that stand alone in no access any more."""
    if any(isinstance(b, Binder) and b.extent is None and b.name not in _alone(r.body)
           for r in nodes(s.value) if isinstance(r, Reduction) for b in r.binders):  # fmt: skip
        raise _UnknownError
    alone, items = _alone(s.value), s.target.items or ()
    if size == "…" and any(isinstance(i, Binder) and i.extent is None and i.name not in alone for i in items):
        raise _UnknownError
    made = (
        replace(i, extent=Name(size, i.span)) if isinstance(i, Binder) and not i.extent and i.name not in alone else i
        for i in items
    )
    return s if s.target.items is None else replace(s, target=replace(s.target, items=tuple(made)))


def _alone(e: Expr) -> set[str]:
    return {i.name for a in nodes(e) if isinstance(a, Access) for i in a.items if isinstance(i, Name)}


def extent_along(d: Declarations, body: Assign, place: int, index: str) -> str:
    """How far a recurrence runs along an index, by what is written, declared or read at it."""
    along = (body.target.items or ())[place]
    if isinstance(along, Binder) and along.extent is not None:
        return unparse(along.extent)
    declared = d.output_shapes.get(body.target.name, ())
    if place < len(declared):
        return text.position(declared[place])
    for a in (n for s in (body, *d.forward) for n in nodes(s.value) if isinstance(n, Access)):
        for item, size in zip(a.items, d.shapes.get(a.name, ()), strict=False):
            if isinstance(item, Name) and item.name == index:
                return text.position(size)
    return "…"


def next_elements(d: Declarations, own: Sequence[Assign]) -> tuple[Assign, tuple[str, ...]] | None:
    """Of the statements of a name the one to its next element, and what is said of it; None where that is no other.

    `own`: the start, at 0 or outside, and that statement.
    """
    late = [(o, k) for o in own for k, i in enumerate(o.target.items or ()) if o.op == "=" and _is_next(i)]
    if len(own) != 2 or len(late) != 1:
        return None
    s, place = late[0]
    start = own[own[0] is s]
    at = (start.target.items or ())[place : place + 1]
    first = integer(at[0]) if at and not isinstance(at[0], Binder | Dots) else None
    hints = _one_back(d, start, s, place, outside=first == -1) if first in (0, -1) else ()
    return (s, hints) if hints else None


def _is_next(item: Binder | Dots | Expr) -> bool:
    step = _beside(item)
    return step is not None and step.offset == 1


def _one_back(d: Declarations, start: Assign, s: Assign, place: int, *, outside: bool) -> tuple[str, ...]:
    """How a recurrence that is written to the next element is written to its own. `outside`: its start stands there."""
    items, name = s.target.items or (), s.target.name
    step = _beside(items[place])
    assert step is not None
    read = _read_along(d, _circle(d, name))
    if s.guard is None and not outside and 1 in read:
        return (_by_case(start, s, place, step.index, _an_index_less(s, step.index)),)
    others = [i.name if isinstance(i, Binder) else "..." if isinstance(i, Dots) else unparse(i) for i in items]
    before = ", ".join("-1" if k == place else other for k, other in enumerate(others))
    first = f"the start stands one place before the first element: `{name}[{before}] = {unparse(start.value)}`"
    if integer(start.value) == 0:
        first += ", or is left out, as it is 0 without one"
    made = to_its_own(d, s)
    own = accesses((s,), (name,))
    if (
        made is None
        or s.guard is not None
        or any(a.items[place : place + 1] != (Name(step.index, a.span),) for a in own)
    ):
        return (first, f"and an element is written at `{step.index}`, from what stands at `{step.index} - 1`")
    then = () if 1 in read else (f"what stood at `{step.index} + 1` stands at `{step.index}` then",)
    moved = made.elsewhere or then
    line = f"an element is written from the one before: `{unparse_assign(made.line)}`"
    return (line, *moved) if outside else (first, f"and {line}", *moved)


def _an_index_less(s: Assign, index: str) -> Expr:
    """The value of a statement with `t - 1` for `t`."""
    return spread.at(s.value, index, Sum((("+", Name(index, s.span)), ("-", Number(1, s.span))), s.span))


def _by_case(start: Assign, s: Assign, place: int, index: str, value: Expr) -> str:
    """A recurrence and its element at 0 as one statement."""
    items = (s.target.items or ())[:place], (s.target.items or ())[place + 1 :]
    target = replace(s.target, items=(*items[0], Binder(index, None, s.span), *items[1]))
    shown = f"where({index} == 0, {unparse(start.value)}, {unparse(value)})"
    return f"an element is written from the one before, and both as one: `{unparse_target(target)} = {shown}`"
