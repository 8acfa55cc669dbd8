"""A recurrence that is written into the input it starts from, and the one of another name that it means.

`u[t, i] = u[t - 1, i]/2` of an input `u[i]` is `y[-1, i] = u[i]` and `y[t < steps, i] = y[t - 1, i]/2`. In go the
statements of `forward`; those of such recurrences are told once, and taken out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from opgen.diagnostics.model import Bag, Label
from opgen.lang.circles import accesses, shift_of
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Number
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.walk import nodes, transform
from opgen.lower.declare import Declarations
from opgen.lower.idle import idle_param


@dataclass(frozen=True, slots=True)
class _Onward:
    """Inputs that are written as recurrences: the statement of each, and its position along the steps."""

    d: Declarations
    bodies: dict[str, Assign]
    places: dict[str, int]

    def reads(self, s: Assign) -> list[Access]:
        """Where a statement reads a step, rather than the input itself."""
        return [a for a in accesses((s,), tuple(self.bodies)) if self.is_step(a)]

    def is_step(self, e: Expr) -> bool:
        body = self.bodies.get(e.name) if isinstance(e, Access) else None
        return isinstance(e, Access) and body is not None and len(e.items) == len(body.target.items or ())

    def names(self) -> dict[str, str]:
        """A name of its own for each: that of a result, where it is the only one."""
        taken = {*self.d.inputs, *self.d.params, *self.d.targets(), *self.d.functions}
        made = {n: [f"{n}{k}" for k in range(2, 99)] for n in self.bodies}
        alone = ("y", "output") if len(self.bodies) == len(self.d.targets()) == 1 else ()
        return {n: next(w for w in (*alone, *wishes) if w not in taken) for n, wishes in made.items()}

    def goes_on(self, s: Assign) -> bool:
        """Whether a statement reads all of them at its own step or the one before."""
        along = (s.target.items or ())[self.places[s.target.name]]
        at = [a.items[self.places[a.name]] for a in self.reads(s)]
        steps = [shift_of(i) for i in at]
        return isinstance(along, Binder) and all(
            (t.index, t.offset) == (along.name, -1) if t else isinstance(i, Name) and i.name == along.name
            for i, t in zip(at, steps, strict=True)
        )


def without_steps_of_inputs(d: Declarations, bag: Bag) -> Declarations:
    """The declarations without the recurrences that are written into inputs, after these are told."""
    written = [s for s in d.forward if s.target.name in d.inputs]
    places = {s.target.name: place for s in written if (place := _along(d, s)) is not None}
    bodies = {s.target.name: s for s in written if s.target.name in places}
    found = _Onward(d, bodies, places)
    once = all(sum(s.target.name == n for s in written) == 1 for n in bodies)
    if not once or not all(map(found.goes_on, bodies.values())):
        return d
    for s in bodies.values():
        _tell(found, s, bag)
    lost = dict.fromkeys((*bodies, *(s.target.name for s in d.forward if found.reads(s))))
    left = tuple(s for s in d.forward if s.target.name not in lost)
    return replace(d, forward=left, lost=(*d.lost, *lost))


def _along(d: Declarations, s: Assign) -> int | None:
    """The position that a statement has more than its input; None where it does not go back along one alone."""
    items, name = s.target.items or (), s.target.name
    plain = s.op == "=" and s.guard is None and all(isinstance(i, Binder | Dots) for i in items)
    if not plain or len(items) != len(d.shapes[name]) + 1:
        return None
    own = [a for a in accesses((s,), (name,)) if len(a.items) == len(items)]
    for k, item in enumerate(items):
        steps = [shift_of(a.items[k]) for a in own]
        if isinstance(item, Binder) and steps and all(t and (t.index, t.offset) == (item.name, -1) for t in steps):
            return k
    return None


def _tell(found: _Onward, s: Assign, bag: Bag) -> None:
    d, name, names = found.d, s.target.name, found.names()
    place = found.places[name]
    items = s.target.items or ()
    plain = [Name(i.name, i.span) if isinstance(i, Binder) else i for i in items]
    before = (*plain[:place], Number(-1, s.span), *plain[place + 1 :])
    of = (*plain[:place], *plain[place + 1 :])
    start = f"{_shown(names[name], before, s)} = {_shown(name, of, s) if of else name}"
    sized, added = _with_extent(found, s, place)
    body = unparse_assign(
        replace(s, target=replace(s.target, name=names[name], items=sized), value=_moved(found, s.value))
    )
    hints = [
        f"what goes on from an input has a name of its own, and the input is its start: `{start}`, `{body}`{added}"
    ]
    readers = [
        o for o in d.forward if o.target.name not in found.bodies and any(a.name == name for a in found.reads(o))
    ]
    if readers:
        lines = (f"`{unparse_assign(replace(o, value=_moved(found, o.value)))}`" for o in readers)
        hints.append(f"what reads it reads that name: {', '.join(lines)}")
    bag.error(
        "OPG236", f"`{name}` is an input and cannot be assigned", s.target.name_span,
        related=(Label(d.inputs[name].span, "declared here"),), hints=hints,
    )  # fmt: skip


def _shown(name: str, items: tuple[Expr | Dots, ...], s: Assign) -> str:
    return unparse(Access(name, items, s.span, s.span))


def _with_extent(found: _Onward, s: Assign, place: int) -> tuple[tuple[Binder | Dots | Expr, ...], str]:
    """The positions of a recurrence with how many steps it takes, and what is declared for that."""
    items = s.target.items or ()
    along = items[place]
    assert isinstance(along, Binder)
    others = (a for a in nodes(s.value) if isinstance(a, Access) and a.name != s.target.name)
    if along.extent is not None or any(isinstance(i, Name) and i.name == along.name for a in others for i in a.items):
        return items, ""
    count = idle_param(found.d) or _count_read(found, place)
    steps = count or "steps"
    sized = replace(along, extent=Name(steps, along.span))
    return (*items[:place], sized, *items[place + 1 :]), "" if count else f", with `params: {{{steps}: int}}`"


def _count_read(found: _Onward, place: int) -> str | None:
    """The int param that another statement reads a step by: `u[steps - 1, i]`."""
    d = found.d
    at = (a.items[place] for o in d.forward if o.target.name not in found.bodies for a in found.reads(o))
    names = (n.name for i in at if not isinstance(i, Dots) for n in nodes(i) if isinstance(n, Name))
    return next((n for n in names if n in d.params and d.params[n].type == "int"), None)


def _moved(found: _Onward, value: Expr) -> Expr:
    """A value that reads the steps by their new names."""
    names = found.names()

    def step(e: Expr) -> Expr | None:
        return replace(e, name=names[e.name]) if isinstance(e, Access) and found.is_step(e) else None

    return transform(value, step)
