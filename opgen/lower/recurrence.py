"""Recurrences: `h[..., t] = a[..., t]*h[..., t - 1] + x[..., t]`, one or several names together, up or down.

While the bodies are lowered the shapes of their own names are those that the statements say together; an unknown size
says nothing about how far an index runs. Reads one place back become a choice between that element and the start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from opgen.diagnostics.model import Bag, Span
from opgen.ir.polynomial import polynomial
from opgen.ir.program import Axis, Compute, Kind, Loop, Recurrence, Statement, statement_reads
from opgen.ir.scalar import (
    ONE,
    ZERO,
    Batch,
    Index,
    Position,
    Read,
    Scalar,
    call,
    sub,
    substitute,
    transform,
    where,
)
from opgen.lang.circles import Step, accesses, constant_part, step_of
from opgen.lang.nodes import Access, Assign, Binder, Dots, Name
from opgen.lower.declare import Declarations
from opgen.lower.pad import in_bounds
from opgen.lower.recurrence_kinds import Kinds, settled
from opgen.lower.recurrence_shape import Extents, extents, says_extents
from opgen.lower.recurrence_slips import carried, direction, start_hints
from opgen.lower.recurrence_start import start_value
from opgen.lower.scope import Known, Start, Variation, same_extent
from opgen.lower.statement import Wanted, lower_statement


@dataclass(slots=True)
class _Group:
    """The statements of a recurrence in one variant, and what has been found out about it."""

    d: Declarations
    state: Variation
    wanted: Callable[[Assign], Wanted]
    bag: Bag
    bodies: dict[str, Assign]
    starts: dict[str, Assign]
    step: Step
    places: dict[str, int] = field(default_factory=dict)  # which position of a name runs along
    along: dict[str, str] = field(default_factory=dict)  # the name of its index there
    begun: dict[str, Compute] = field(default_factory=dict)

    def error(self, message: str, at: Assign | Access | Binder, *hints: str) -> None:
        span = at.target.span if isinstance(at, Assign) else at.span
        self.bag.error("OPG250", message, span, hints=hints)


def lower_recurrence(
    d: Declarations,
    state: Variation,
    names: tuple[str, ...],
    statements: Sequence[Assign],
    wanted: Callable[[Assign], Wanted],
    bag: Bag,
) -> tuple[Statement, ...]:
    """The statements of the names of a recurrence; all of these are known to `state` afterwards."""
    for n in names:
        span = next(s.target.name_span for s in statements if s.target.name == n)
        state.later.setdefault(n, span)
    group = _group(d, state, names, statements, wanted, bag)
    made = None if group is None else _lowered(group)
    for n in names:
        span = state.later.pop(n)
        if made is None or group is None:
            state.tensors[n] = Known(n, None, Kind.FLOAT, span)
            continue
        start = _start_of(group, n)
        state.tensors[n] = replace(state.tensors[n], running=None, start=start)
    return made or ()


def _group(
    d: Declarations,
    state: Variation,
    names: tuple[str, ...],
    statements: Sequence[Assign],
    wanted: Callable[[Assign], Wanted],
    bag: Bag,
) -> _Group | None:
    bodies: dict[str, Assign] = {}
    starts: dict[str, Assign] = {}
    for s in statements:
        kind = starts if constant_part(s) is not None else bodies
        if s.op != "=" or s.target.name in kind:
            bag.error("OPG250", f"`{s.target.name}` is a recurrence and gets another statement", s.target.span)
            return None
        kind[s.target.name] = s
    for n in names:
        if n not in bodies:
            bag.error("OPG250", f"`{n}` has a start and nothing that goes on from it", starts[n].target.span)
            return None
    step = direction(bodies, names, _unlisted(d), bag)
    if step is None:
        return None
    group = _Group(d, state, wanted, bag, bodies, starts, step)
    return group if _placed(group) and _checked(group) else None


def _unlisted(d: Declarations) -> tuple[str, ...]:
    """The outputs, where they are not listed and so would be others with a further name."""
    return d.outputs if d.spec.outputs is None else ()


def _placed(g: _Group) -> bool:
    """Find the position of every target that runs along, and the name of its index there."""
    _follow(g)
    for n, s in g.bodies.items():
        if n not in g.along:
            hint = f"every name of a recurrence has an index like `{g.step.index}` on the left"
            g.error(f"`{n}` does not run along `{g.step.index}`", s, hint)
            return False
    for n, s in g.starts.items():
        items = s.target.items or ()
        place = g.places[n]
        if len(items) != len(g.bodies[n].target.items or ()) or isinstance(items[place], Dots):
            g.error(f"the start of `{n}` has other positions than `{g.bodies[n].target.span.text}`", s)
            return False
        item = items[place]
        wrong = isinstance(item, Binder) and not item.name[:1].isupper()
        if wrong or (g.step.offset < 0) != (item.span.text.replace(" ", "") == "-1"):
            g.error(f"the start of `{n}` stands at the wrong place", s, *start_hints(g.bodies[n], s, place, g.step))
            return False
    return True


def _follow(g: _Group) -> None:
    """A read one place back says where a name runs, and by which index the name that reads it does."""
    for _ in range(2 * len(g.bodies)):
        for n, s in g.bodies.items():
            for a in accesses((s,), tuple(g.bodies)):
                for k, item in enumerate(a.items):
                    step = step_of(item)
                    if step is not None and step.offset == g.step.offset and g.along.get(n, step.index) == step.index:
                        _runs(g, a.name, k, None)
                        _runs(g, n, None, step.index)
                    elif isinstance(item, Name) and item.name == g.along.get(n):
                        _runs(g, a.name, k, None)


def _runs(g: _Group, n: str, place: int | None, index: str | None) -> None:
    """Note where a name runs along, unless that is known, or is no index of its target."""
    for k, item in enumerate(g.bodies[n].target.items or ()):
        if n not in g.along and isinstance(item, Binder) and (k == place or item.name == index):
            g.places[n], g.along[n] = k, item.name


def _checked(g: _Group) -> bool:
    """Whether the names read one another at the same place or one place back only."""
    seen: list[str] = []
    good = True
    for n, s in g.bodies.items():
        for a in accesses((s,), tuple(g.bodies)):
            place = g.places[a.name]
            item = a.items[place] if place < len(a.items) else None
            if item is not None and step_of(item) == Step(g.along[n], g.step.offset):
                continue
            if isinstance(item, Name) and item.name == g.along[n]:
                if a.name in seen:
                    continue
                hints = ("order the statements so that each reads earlier ones, or read one place back",)
                g.bag.error("OPG219", f"`{a.name}` is read before it is assigned", a.span, hints=hints)
            else:
                sign = "-" if g.step.offset < 0 else "+"
                where_ = f"`{g.along[n]}` and `{g.along[n]} {sign} 1`"
                told = carried(g.bodies[a.name], a, g.step, _unlisted(g.d))
                g.error(f"a recurrence reads its own names at {where_} only", a, *told)
            good = False
        seen.append(n)
    return good


# --- lowering --------------------------------------------------------------------------------------------------------


def _lowered(g: _Group) -> tuple[Statement, ...] | None:
    before: list[Statement] = []
    sizes = extents(g.d, g.state, g.bodies, g.places, {n: g.wanted(s) for n, s in g.bodies.items()})
    for n, s in g.starts.items():
        items, place = s.target.items or (), g.places[n]
        plain = replace(s, target=replace(s.target, items=items[:place] + items[place + 1 :]))
        wanted = g.wanted(s)
        if wanted.shape is None and not says_extents(g.state, plain) and sizes.complete(n):
            wanted = replace(wanted, shape=sizes.shape(n), span=g.bodies[n].target.span, origin="as it goes on")
        made = lower_statement(g.d, g.state, plain, _without(wanted, place), g.bag)
        if not made:
            return None
        g.begun[n] = replace(made[-1], target=g.state.fresh(f"{n}_start"))
        before += [*made[:-1], g.begun[n]]
    later = {n: g.state.later.pop(n) for n in g.bodies}
    known = {n: g.wanted(s).kind or (g.begun[n].kind if n in g.begun else None) for n, s in g.bodies.items()}

    def tried(kinds: Kinds) -> Kinds | None:
        state, bag = replace(g.state, tensors=dict(g.state.tensors), taken=set(g.state.taken), sizes={}), Bag()
        steps = _steps(replace(g, state=state, bag=bag), sizes, later, kinds, settled=False)
        return None if steps is None or bag.has_errors else {n: state.tensors[n].kind for n in kinds}

    kinds, right = settled(known, tried)
    steps = _steps(g, sizes, later, kinds, settled=right)
    g.state.later.update(later)
    return None if steps is None else _assembled(g, before, steps)


def _steps(
    g: _Group, sizes: Extents, later: Mapping[str, Span], kinds: Kinds, *, settled: bool
) -> list[Compute] | None:
    """The statements of the bodies, where their names are read as these kinds; None after a mistake.

    `settled`: they are of these kinds, even where a body gives a smaller one.
    """
    for n, kind in kinds.items():
        g.state.tensors[n] = Known(n, sizes.shape(n), kind, later[n], running=g.places[n])
    steps: list[Compute] = []
    failed = False
    for n, s in g.bodies.items():
        wanted = replace(g.wanted(s), kind=kinds[n]) if settled else g.wanted(s)
        if wanted.shape is None and sizes.borrowed(n):
            wanted = replace(wanted, shape=sizes.shape(n), span=s.target.span, origin="as others of the recurrence")
        found = tuple(_running(g, n, c) for c in lower_statement(g.d, g.state, s, wanted, g.bag))
        failed = failed or not found
        steps.extend(found)
        if found:
            known = g.state.tensors[n]
            g.state.tensors[n] = replace(known, shape=found[-1].shape, kind=found[-1].kind)
    return None if failed else steps


def _without(w: Wanted, place: int) -> Wanted:
    return w if w.shape is None else replace(w, shape=w.shape[:place] + w.shape[place + 1 :])


def _running(g: _Group, n: str, c: Compute) -> Compute:
    """A statement of a name with the index of the recurrence in place of the name's own."""
    old, new = g.along[n], g.step.index
    if old == new:
        return c
    names = {old: new, new: old}  # an index of that name gives it up

    def axes(loops: tuple[Loop, ...]) -> tuple[Loop, ...]:
        return tuple(replace(a, name=names.get(a.name, a.name)) if isinstance(a, Axis) else a for a in loops)

    body = substitute(c.body, {Index(a): Index(b) for a, b in names.items()})
    return replace(c, axes=axes(c.axes), over=axes(c.over), body=body)


def _assembled(g: _Group, before: list[Statement], steps: list[Compute]) -> tuple[Statement, ...] | None:
    """The loop, and before it what does not depend on it."""
    inside = dict.fromkeys(g.bodies)
    chosen: list[Compute] = []
    for c in steps:
        if c.target in inside or any(r.tensor in inside for r in statement_reads(c)):
            inside[c.target] = None
            chosen.append(c)
        else:
            before.append(c)
    along = next(a for a in chosen[-1].axes if isinstance(a, Axis) and a.name == g.step.index)
    done: list[Compute] = []
    for c in chosen:
        s = g.bodies.get(c.target, next(iter(g.bodies.values())))
        own = next((a for a in c.axes if isinstance(a, Axis) and a.name == along.name), None)
        if own is None or own in c.over:
            hint = "name the recurrence, and reduce it afterwards"
            g.error(f"this reduces a recurrence over `{along.name}`", s, hint)
            return None
        if not same_extent(own.extent, along.extent, g.state.dims):
            g.error(f"`{along.name}` has another extent here", s)
            return None
        axes = tuple(along if a == own else a for a in c.axes)
        body = _with_starts(g, c.body, along)
        if body is None:
            g.error(f"a recurrence reads its own names at `{along.name}` or one place back only", s)
            return None
        done.append(replace(c, axes=axes, body=body))
    span = next(iter(g.bodies.values())).span
    return (*before, Recurrence(along, tuple(done), g.step.offset > 0, span))


def _with_starts(g: _Group, body: Scalar, along: Axis) -> Scalar | None:
    """The body with reads one place back guarded; None where a name is read anywhere else."""
    t = Index(along.name)
    first = ZERO if g.step.offset < 0 else sub(along.extent, ONE)
    bad = False

    def step(e: Scalar) -> Scalar:
        nonlocal bad
        if not isinstance(e, Read) or e.tensor not in g.bodies:
            return e
        place = e.at[g.places[e.tensor]]
        assert not isinstance(place, Batch)
        away = (polynomial(place) - polynomial(t)).constant
        if away == g.step.offset:
            return where(call("eq", t, first), _start(g, e), e)
        bad = bad or away != 0
        return e

    result = transform(body, step)
    return None if bad else result


def _start_of(g: _Group, n: str) -> Start:
    return Start(g.places[n], g.step.offset, g.begun.get(n))


def _start(g: _Group, e: Read) -> Scalar:
    place = g.places[e.tensor]
    known = g.state.tensors[e.tensor]
    value = start_value(_start_of(g, e.tensor), e, known.kind)
    shape = known.shape
    if isinstance(value, Read) or e.fill is None or e.fill == value or shape is None:
        return value
    rest: tuple[Position, ...] = e.at[:place] + e.at[place + 1 :]
    return where(in_bounds(Read(e.tensor, rest), shape[:place] + shape[place + 1 :]), value, e.fill)
