"""Names whose statements read one another in a circle: the candidates for recurrences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter

from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Number, Sum, Target, Unary
from opgen.lang.walk import nodes, statement_names, transform

_Graph = dict[str, dict[str, None]]  # the names that each reads


@dataclass(frozen=True, slots=True)
class Step:
    """A position beside an index: `t - 1`, `t + 1`, or further away."""

    index: str
    offset: int


def step_of(e: Expr | Dots) -> Step | None:
    """What a position says if it is an index plus or minus one."""
    step = shift_of(e)
    return step if step is not None and abs(step.offset) == 1 else None


def shift_of(e: Expr | Dots) -> Step | None:
    """What a position says if it is an index plus or minus a number that is not 0."""
    match e:
        case Sum(terms=(("+", Name(name=name)), (sign, Number(value=int(value))))) if value:
            return Step(name, value if sign == "+" else -value)
        case Sum(terms=(("+", Number(value=int(value))), ("+", Name(name=name)))) if value:
            return Step(name, value)
        case Sum(terms=(("+", Unary(op="-", operand=Number(value=int(value)))), ("+", Name(name=name)))) if value:
            return Step(name, -value)
        case _:
            return None


def constant_part(s: Assign) -> str | None:
    """The positions of a target that are no indices: the number of a component, or the start of a recurrence."""
    if s.op != "=":
        return None
    items = s.target.items or ()
    return ", ".join(i.span.text if is_constant(i) else "_" for i in items) if any(map(is_constant, items)) else None


def is_constant(item: Binder | Dots | Expr) -> bool:
    """Whether a position of a target is no index."""
    if isinstance(item, Binder):
        return item.name[:1].isupper() and item.extent is None
    return not isinstance(item, Dots)


def with_ends(statements: Sequence[Assign], known: Sequence[str]) -> tuple[Assign, ...]:
    """Statements in which a start at the extent has a number as its position, where a param is that extent and not an
    index: `v[..., steps]` beside `v[..., n < steps]`.
    """

    def ends(s: Assign, place: int, name: str) -> bool:
        items = [(o.target.items or ())[place : place + 1] for o in statements if o.target.name == s.target.name]
        extents = (i.extent for own in items for i in own if isinstance(i, Binder) and i.name != name)
        return any(isinstance(n, Name) and n.name == name for e in extents if e is not None for n in nodes(e))

    def item(s: Assign, place: int, i: Binder | Dots | Expr) -> Binder | Dots | Expr:
        named = isinstance(i, Binder) and i.extent is None and i.name in known and not is_constant(i)
        return Name(i.name, i.span) if isinstance(i, Binder) and named and ends(s, place, i.name) else i

    def placed(s: Assign) -> Assign:
        items = tuple(item(s, k, i) for k, i in enumerate(s.target.items or ()))
        return s if items == (s.target.items or ()) else replace(s, target=replace(s.target, items=items))

    return tuple(map(placed, statements))


def accesses(statements: Iterable[Assign], names: Sequence[str]) -> Iterator[Access]:
    """Every access of the names in the right sides."""
    for s in statements:
        for n in nodes(s.value):
            if isinstance(n, Access) and n.name in names:
                yield n


def furthest(statements: Iterable[Assign], name: str, place: int) -> int:
    """How far from an index a name is read at a position, by any of the statements."""
    items = (a.items[place] for a in accesses(statements, (name,)) if place < len(a.items))
    return max((abs(step.offset) for i in items if (step := shift_of(i)) is not None), default=1)


def step_before(target: Target, value: Expr) -> Expr | None:
    """A value that reads its own target as that was a step before: `h = a*h + x` of a loop; None where nobody knows."""
    items = target.items or ()
    indices = [i for i in items if isinstance(i, Binder)]
    own = [i.name for i in indices]
    reads = (a for a in nodes(value) if isinstance(a, Access) and a.name == target.name)
    if any(not isinstance(i, Dots) and shift_of(i) is None and not _is_own(i, own) for a in reads for i in a.items):
        return None  # of other elements, all of its past perhaps

    def back(e: Expr) -> Expr | None:
        own = isinstance(e, Name | Access) and e.name == target.name
        if not own or (isinstance(e, Access) and any(shift_of(i) for i in e.items)):
            return None
        at = [i if isinstance(i, Dots) else _one_less(i) for i in items if isinstance(i, Dots | Binder)]
        return Access(target.name, tuple(at), e.span, e.span)

    made = transform(value, back)
    return made if made == value or (len(indices) == 1 and len(items) - len(indices) < 2) else None


def _is_own(item: Expr, own: Sequence[str]) -> bool:
    return isinstance(item, Name) and item.name in own


def _one_less(i: Binder) -> Expr:
    return Sum((("+", Name(i.name, i.span)), ("-", Number(1, i.span))), i.span)


def circles(statements: Sequence[Assign]) -> tuple[tuple[str, ...], ...]:
    """Groups of names that read one another, with at least one read at another place."""
    graph: _Graph = {}
    for s in statements:
        graph.setdefault(s.target.name, {}).update(dict.fromkeys(statement_names(s)))
    graph = _tangled(_turned(_tangled(_turned(graph))))
    reach = {name: reachable(graph, name) for name in graph}
    found: dict[tuple[str, ...], None] = {}
    for name in graph:
        group = tuple(n for n in graph if n in reach[name] and name in reach[n])
        own = [s for s in statements if s.target.name in group]
        if name in group and any(shift_of(i) for a in accesses(own, group) for i in a.items):
            found[group] = None
    return tuple(found)


def _tangled(graph: _Graph) -> _Graph:
    """A graph without the names that lead to no circle."""
    sorter = TopologicalSorter(graph)
    with suppress(CycleError):  # as much as comes before circles is sorted all the same
        sorter.prepare()
    gone: set[str] = set()
    while ready := sorter.get_ready():
        gone.update(ready)
        sorter.done(*ready)
    return {n: {m: None for m in read if m not in gone} for n, read in graph.items() if n not in gone}


def _turned(graph: _Graph) -> _Graph:
    """The names by which each is read."""
    found: _Graph = {n: {} for n in graph}
    for n, read in graph.items():
        for m in read:
            if m in found:
                found[m][n] = None
    return found


def in_order(statements: Sequence[Assign]) -> tuple[Assign, ...]:
    """The statements, those that read a recurrence which still goes on moved behind its end.

    Recurrences may be written into one another, the second reading the first: each is one loop all the same.
    """
    groups = {n: names for names in circles(statements) for n in names}
    if not groups:
        return tuple(statements)
    ends = {s.target.name: k for k, s in enumerate(statements)}
    waiting = list(enumerate(statements))

    def open_names(before: int) -> Iterator[str]:
        yield from (s.target.name for k, s in waiting if k < before)

    def ready(k: int, s: Assign) -> bool:
        own = groups.get(s.target.name, (s.target.name,))
        read = [groups.get(n, (n,)) for n in statement_names(s) if n not in own and ends.get(n, k) < k]
        late = any(n in names for names in read for n in open_names(len(statements)))
        return not late and not any(n in own for n in open_names(k))

    found: list[Assign] = []
    while (chosen := next((item for item in waiting if ready(*item)), None)) is not None:
        waiting.remove(chosen)
        found.append(chosen[1])
    return (*found, *(s for _, s in waiting))


def reachable(graph: _Graph, name: str) -> dict[str, None]:
    """The names that one reads, by whatever way."""
    found: dict[str, None] = {}
    stack = list(graph.get(name, ()))
    while stack:
        current = stack.pop()
        if current not in found:
            found[current] = None
            stack.extend(graph.get(current, ()))
    return found
