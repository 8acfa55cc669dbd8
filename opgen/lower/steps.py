"""A loop whose state is written without the index of its steps, as other libraries do, and the recurrence it means.

`s[b] = a*s[b] + x[b, t]` goes on from its own value for every `t`: `s[b, t] = a*s[b, t - 1] + x[b, t]`. In go the
statements of `forward`; what such a loop is made of is told once, and taken out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from opgen.diagnostics.model import Bag
from opgen.ir import text
from opgen.ir.formula import CONSTANTS
from opgen.ir.scalar import Batch
from opgen.lang.circles import accesses, shift_of
from opgen.lang.nodes import Access, Assign, Binder, Call, Dots, Expr, Name, Number, Product, Reduction, Sum
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.vocabulary import letters
from opgen.lang.walk import nodes, operands, statement_names, transform
from opgen.lower.declare import Declarations
from opgen.lower.step_before import means_before

Items = tuple[Binder | Dots | Expr, ...]


@dataclass(frozen=True, slots=True)
class _Loop:
    """What goes on from step to step: the last statement of each name, in order, and the start of some."""

    d: Declarations
    block: tuple[Assign, ...]
    index: str
    bodies: dict[str, Assign]
    starts: dict[str, Assign]
    names: dict[str, str]  # what each is called: a state that is an input has a name of its own
    items: dict[str, Items]  # the positions of each, the index of the steps among them
    places: dict[str, int]  # where that stands

    @property
    def upwards(self) -> bool:
        """Whether the first step is the first element; what a gradient goes on from is the step behind."""
        read = {n for s in self.bodies.values() for n in statement_names(s)}
        return self.block is not self.d.backward or not any(n.startswith("grad_") for n in read - {*self.bodies})


def without_loops(d: Declarations, bag: Bag) -> Declarations:
    """The declarations without the statements of loops that lack the index of their steps, after these are told."""
    while (loop := _found(d, d.forward) or _found(d, d.backward)) is not None:
        readers = [s for s in (*d.forward, *d.backward) if _is_after(loop, s)]
        _tell(loop, readers, bag)
        names = dict.fromkeys((*loop.bodies, *(s.target.name for s in readers)))
        forward, backward = (tuple(s for s in b if s.target.name not in names) for b in (d.forward, d.backward))
        d = replace(d, forward=forward, backward=backward, lost=(*d.lost, *names))
    return d


def _is_after(loop: _Loop, s: Assign) -> bool:
    """Whether a statement that is no part of a loop reads it."""
    return s.target.name not in loop.bodies and _reads(s, loop.bodies)


def unbound(d: Declarations, s: Assign) -> tuple[str, ...]:
    """The indices on the right of a statement that nothing binds."""
    bound = {i.name for i in s.target.items or () if isinstance(i, Binder)}
    if s.target.items is None and s.target.name in d.inputs:
        bound |= {*_letters(d, s.target.name)}
    known = {*_taken(d), *CONSTANTS}
    found = (n.name for n in _loose(s.value, frozenset(bound), within=False))
    return tuple(dict.fromkeys(n for n in found if n not in known and not n[:1].isupper()))


def _taken(d: Declarations) -> set[str]:
    """All that has a name."""
    return {*d.inputs, *d.params, *d.targets(), *(s.target.name for s in d.backward), *d.lost, *d.functions}


def _loose(e: Expr, bound: frozenset[str], *, within: bool) -> Iterator[Name]:
    if isinstance(e, Name) and within and e.name not in bound:
        yield e
    if isinstance(e, Reduction):
        bound |= {b.name for b in e.binders if isinstance(b, Binder)}
    for o in operands(e):
        yield from _loose(o, bound, within=within or isinstance(e, Access))


# --- what a loop is made of ------------------------------------------------------------------------------------------


def _found(d: Declarations, block: tuple[Assign, ...]) -> _Loop | None:
    own: dict[str, list[Assign]] = {}
    for s in block:
        own.setdefault(s.target.name, []).append(s)
    bodies = {n: found[-1] for n, found in own.items() if n not in d.params and _may_go_on(found)}
    reads = _leading_to_circles(bodies)
    for n in reads:
        circle = _circle(reads, n)
        free = {i for m in circle for i in unbound(d, bodies[m])}
        at = [i for a in accesses((bodies[m] for m in circle), circle) for i in a.items]
        if len(free) != 1 or any(shift_of(i) for i in at) or any(map(means_before, free)):
            continue
        (index,) = free
        inner = {m: s for m, s in bodies.items() if m in circle or unbound(d, s) == (index,)}
        chosen = dict(sorted(inner.items(), key=lambda item: item[1].span.start))
        starts = {m: own[m][0] for m in chosen if len(own[m]) == 2}
        if any(_reads(s, chosen) for s in starts.values()) or _read_before(d, chosen):
            continue
        if (loop := _laid_out(d, block, index, chosen, starts)) is not None:
            return loop
    return None


def _read_before(d: Declarations, bodies: dict[str, Assign]) -> bool:
    """Whether another statement reads an input before it goes on, and so as it was passed."""
    return any(
        s.target.name not in bodies and s.span.start < bodies[n].span.start
        for n in bodies if n in d.inputs for s in d.forward if n in statement_names(s)
    )  # fmt: skip


def _may_go_on(found: Sequence[Assign]) -> bool:
    """Whether the statements of a name are a body, and perhaps a start, at distinct plain indices."""
    for s in found:
        items = s.target.items or ()
        names = [i.name for i in items if isinstance(i, Binder)]
        plain = all(isinstance(i, Binder | Dots) for i in items) and len({*names}) == len(names)
        if not plain or s.guard is not None or s.target.padded:
            return False
    first, last = found[0], found[-1]
    alike = len(first.target.items or ()) == len(last.target.items or ())
    return alike and len(found) <= 2 and (first is last or first.op == "=")


def _leading_to_circles(bodies: dict[str, Assign]) -> dict[str, list[str]]:
    """The names from which reads lead to a circle, and which of these they read, in order."""
    reads = {n: [m for m in statement_names(s) if m in bodies] for n, s in bodies.items()}
    readers: dict[str, list[str]] = {n: [] for n in reads}
    for n, read in reads.items():
        for m in read:
            readers[m].append(n)
    open_reads = {n: len(read) for n, read in reads.items()}
    ended = [n for n, count in open_reads.items() if not count]
    for m in ended:  # grows meanwhile
        for n in readers[m]:
            open_reads[n] -= 1
            ended += [] if open_reads[n] else [n]
    return {n: [m for m in read if open_reads[m]] for n, read in reads.items() if open_reads[n]}


def _circle(reads: dict[str, list[str]], name: str) -> tuple[str, ...]:
    """The names that read one another in a circle through this one, in order; none where it reads nothing of itself."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        queue = list(reads[start])
        while queue:
            n = queue.pop()
            if n not in seen:
                seen.add(n)
                queue += reads[n]
        return seen

    ahead = reached(name)
    return tuple(n for n in reads if n in ahead and name in reached(n))


def _laid_out(
    d: Declarations, block: tuple[Assign, ...], index: str, bodies: dict[str, Assign], starts: dict[str, Assign]
) -> _Loop | None:
    """The loop with the index of its steps in every name, at the place that it has where it is read."""
    taken = _taken(d)
    items: dict[str, Items] = {}
    places: dict[str, int] = {}
    names: dict[str, str] = {}
    at = [a for s in bodies.values() for a in nodes(s.value) if isinstance(a, Access) and _place(a, index) is not None]
    if not at:
        return None
    for n, s in bodies.items():
        old: Items = s.target.items or ()
        if s.target.items is None and n in d.inputs:
            old = tuple(Dots(s.span) if i == "..." else Binder(i, None, s.span) for i in _letters(d, n))
        elif s.target.items is None and any(isinstance(i, Dots) for a in at for i in a.items):
            old = (Dots(s.target.span),)
        place = next((k for a in at if (k := _after(a, index, old)) is not None), None)
        if place is None or any(isinstance(i, Binder) and i.name == index for i in old):
            return None
        if any(len(a.items) != len(old) for a in accesses((*d.forward, *d.backward), (n,)) if a.items):
            return None
        sized = _sized(old, starts[n].target.items or () if n in starts else ())
        items[n] = (*sized[:place], Binder(index, None, s.target.span), *sized[place:])
        places[n] = place
        wished = n.lower() if n[:1].isupper() else n
        wishes = (wished, "y", "output", *(f"{wished}{k}" for k in range(2, 99)))
        names[n] = n if n == wished and n not in d.inputs else next(w for w in wishes if w not in taken)
    return _Loop(d, block, index, bodies, starts, names, items, places)


def _letters(d: Declarations, name: str) -> tuple[str, ...]:
    """The indices at which a tensor is read that has a shape."""
    return letters(["..." if isinstance(size, Batch) else text.position(size) for size in d.shapes[name]], {})


def _sized(items: Items, stated: Items) -> Items:
    """Positions with the extents that the start states, where they state none themselves."""
    extents = [i.extent if isinstance(i, Binder) else None for i in stated] or [None] * len(items)
    return tuple(
        replace(i, extent=size) if isinstance(i, Binder) and i.extent is None else i
        for i, size in zip(items, extents, strict=True)
    )


def _place(a: Access, index: str) -> int | None:
    return next((k for k, i in enumerate(a.items) if isinstance(i, Name) and i.name == index), None)


def _after(a: Access, index: str, items: Items) -> int | None:
    """Where the index of the steps stands among the positions of a name, as it does in a read; None if unclear.

    Beside none of them it stands first, and behind a batch.
    """
    place = _place(a, index)
    assert place is not None
    before = {"..." if isinstance(i, Dots) else i.name for i in a.items[:place] if isinstance(i, Dots | Name)}
    behind = {"..." if isinstance(i, Dots) else i.name for i in a.items[place + 1 :] if isinstance(i, Dots | Name)}
    own = ["..." if isinstance(i, Dots) else i.name if isinstance(i, Binder) else "" for i in items]
    if own and not {*own} & (before | behind):
        return None if before or behind else int(own[0] == "...")
    return max((k + 1 for k, i in enumerate(own) if i in before), default=0)


def _reads(s: Assign, names: dict[str, Assign]) -> bool:
    return any(n in names for n in statement_names(s))


# --- what is said of it ----------------------------------------------------------------------------------------------


def _tell(loop: _Loop, readers: Sequence[Assign], bag: Bag) -> None:
    order = list(loop.bodies)
    states = [n for n in order if any(m in order[order.index(n) :] for m in _before(loop, n))]
    name = states[0]
    ahead = order[order.index(name) :]
    own = next((e for n, e in statement_names(loop.bodies[name]).items() if n in ahead), None)
    lines = [_line(loop, n) for n in order]
    way = "" if loop.upwards else ", from the last back to the first"
    hints = [f"it goes on step by step along `{loop.index}`{way}: write {_listed(lines)}"]
    begun = [start for n in order if (start := _start(loop, n)) is not None]
    zero = [s for n, s in loop.starts.items() if _start(loop, n) is None]
    if begun:
        where_ = "before the first" if loop.upwards else "behind the last"
        hints.append(f"the start stands one step {where_}: {_listed(begun)}")
    if zero:
        hints.append(f"without a start it starts from 0: leave out {_listed([unparse_assign(s) for s in zero])}")
    read = [line for s in readers if (line := _reader(loop, s)) is not None]
    if read:
        hints.append(f"what reads it reads a step of it: {_listed(read)}")
    result, last = [n for n in order if n in loop.d.outputs], _last(loop)
    if result and last is not None:
        added = _listed([_end(loop, n, last) for n in result])
        hints.append(f"every step is a result then; for the last one alone, add {added}")
    span = loop.bodies[name].target.span if own is None else own.span
    message = f"`{name}` goes on from its own value, and at no step"
    bag.error("OPG219", message, span, label="the step before is meant", hints=hints)


def _listed(lines: Sequence[str]) -> str:
    return ", ".join(f"`{line}`" for line in lines)


def _before(loop: _Loop, name: str) -> list[str]:
    """The names of the loop that a statement of it reads."""
    s = loop.bodies[name]
    return [n for n in loop.bodies if n in statement_names(s) or (n == name and s.op != "=")]


def _line(loop: _Loop, name: str) -> str:
    """A statement of the loop: what stands above it is read at the same step, all else at the one before."""
    s, order = loop.bodies[name], list(loop.bodies)
    above = order[: order.index(name)]
    value = _moved(loop, s.value, {n: 0 if n in above else 1 for n in order})
    if s.op != "=":
        span = s.span
        before = _read(loop, name, [_plain(i) for i in s.target.items or ()] or _old(loop, name), _less(loop, 1))
        match s.op:
            case "+=":
                value = Sum((("+", before), ("+", value)), span)
            case "*=":
                value = Product((("*", before), ("*", value)), span)
            case _:
                value = Call(s.op[:-1], (before, value), span, span)
    target = replace(s.target, name=loop.names[name], items=loop.items[name])
    return unparse_assign(replace(s, op="=", target=target, value=value))


def _start(loop: _Loop, name: str) -> str | None:
    """The start of a name, one step before the first; None where that is 0, as it is without one."""
    s, body, place = loop.starts.get(name), loop.bodies[name], loop.places[name]
    items = _old(loop, name)
    if s is not None and s.target.items is not None:
        items = [_plain(i) for i in s.target.items]
    if s is not None and isinstance(s.value, Number) and s.value.value == 0:
        return None
    if s is None and name not in loop.d.inputs:
        return None
    value = Access(name, tuple(items), body.span, body.span) if s is None else s.value
    first = Number(-1, body.span) if loop.upwards else _size(loop) or Name("…", body.span)
    shown = (*items[:place], first, *items[place:])
    return f"{unparse(Access(loop.names[name], shown, body.span, body.span))} = {unparse(value)}"


def _reader(loop: _Loop, s: Assign) -> str | None:
    """A statement that reads the loop: at the step that it stands at itself, or else the last; None if unknown."""
    own = [i.name for i in s.target.items or () if isinstance(i, Binder)]
    bound = [b.name for r in nodes(s.value) if isinstance(r, Reduction) for b in r.binders if isinstance(b, Binder)]
    at = _less(loop, 0) if loop.index in (*own, *bound) else _last(loop)
    if at is None:
        return None
    return unparse_assign(replace(s, value=_moved(loop, s.value, dict.fromkeys(loop.bodies, 0), at)))


def _end(loop: _Loop, name: str, last: Expr) -> str:
    """The last step of a name as a result of its own."""
    s = loop.bodies[name]
    old = _old(loop, name)
    indices = tuple(i for k, i in enumerate(loop.items[name]) if k != loop.places[name])
    value = _read(loop, name, old, last)
    target = replace(s.target, name=f"last_{loop.names[name]}", items=indices or None)
    return unparse_assign(replace(s, op="=", target=target, value=value))


def _last(loop: _Loop) -> Expr | None:
    """The last step that is made."""
    size = _size(loop)
    if size is None or not loop.upwards:
        return None if loop.upwards else Number(0, loop.block[0].span)
    return Sum((("+", size), ("-", Number(1, size.span))), size.span)


def _size(loop: _Loop) -> Name | None:
    """The dim along which the index of the steps runs."""
    shapes = loop.d.shapes | {f"grad_{n}": shape for n, shape in loop.d.output_shapes.items()}
    for a in (a for s in (*loop.bodies.values(), *loop.d.forward) for a in nodes(s.value) if isinstance(a, Access)):
        for item, size in zip(a.items, shapes.get(a.name, ()), strict=False):
            if isinstance(item, Name) and item.name == loop.index and not isinstance(size, Batch):
                return Name(text.position(size), a.span)
    return None


def _moved(loop: _Loop, value: Expr, back: dict[str, int], at: Expr | None = None) -> Expr:
    """A value that reads the names of the loop so many steps back."""

    def step(e: Expr) -> Expr | None:
        if isinstance(e, Access) and e.name in loop.d.inputs and e.name not in loop.bodies:
            own = _letters(loop.d, e.name)
            lacks = () if "..." in own or any(isinstance(i, Dots) for i in e.items) else own[len(e.items) :]
            return replace(e, items=(*e.items, *(Name(i, e.span) for i in lacks))) if lacks else None
        if not isinstance(e, Name | Access) or e.name not in loop.bodies:
            return None
        items = e.items if isinstance(e, Access) and e.items else _old(loop, e.name)
        return _read(loop, e.name, items, at or _less(loop, back[e.name]))

    return transform(value, step)


def _read(loop: _Loop, name: str, items: Sequence[Expr | Dots], at: Expr) -> Access:
    place = loop.places[name]
    span = loop.bodies[name].span
    return Access(loop.names[name], (*items[:place], at, *items[place:]), span, span)


def _less(loop: _Loop, back: int) -> Expr:
    index = Name(loop.index, loop.block[0].span)
    sign = "-" if loop.upwards else "+"
    return Sum((("+", index), (sign, Number(back, index.span))), index.span) if back else index


def _old(loop: _Loop, name: str) -> list[Expr | Dots]:
    """The positions of a name as they were written."""
    return [_plain(i) for k, i in enumerate(loop.items[name]) if k != loop.places[name]]


def _plain(item: Binder | Dots | Expr) -> Expr | Dots:
    return Name(item.name, item.span) if isinstance(item, Binder) else item
