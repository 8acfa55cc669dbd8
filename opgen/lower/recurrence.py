"""Recurrences: `h[..., t] = a[..., t]*h[..., t - 1] + x[..., t]`, one or several names together, up or down.

While the bodies are lowered the shapes of their own names are those that the statements say together; an unknown size
says nothing about how far an index runs. Reads from further back become a choice between that element and the starts;
what runs along several indices, or further back than by one, becomes a loop over waves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from opgen.diagnostics.model import Bag, Diagnostic, Span
from opgen.ir.polynomial import polynomial
from opgen.ir.program import Axis, Compute, Kind, Loop, Statement, statement_reads
from opgen.ir.scalar import Index, Read, Scalar, substitute, transform
from opgen.lang.circles import Step, accesses, constant_part, furthest, is_constant, shift_of
from opgen.lang.nodes import Access, Assign, Binder, Dots, Name
from opgen.lower.declare import Declarations, every
from opgen.lower.draw import placed_step
from opgen.lower.equations import too_early
from opgen.lower.extent import extent_of
from opgen.lower.kinds import promote
from opgen.lower.recurrence_ends import is_last
from opgen.lower.recurrence_follow import followed
from opgen.lower.recurrence_kinds import Kinds, settled
from opgen.lower.recurrence_parts import begins_whole
from opgen.lower.recurrence_ranks import read_whole
from opgen.lower.recurrence_shape import Extents, extents, says_extents
from opgen.lower.recurrence_slips import another_statement, by_number, misplaced, nothing_goes_on, one_back
from opgen.lower.recurrence_slots import slots
from opgen.lower.recurrence_start import Unclear, or_start
from opgen.lower.recurrence_starts import aligned, no_consequences
from opgen.lower.scope import Begun, Known, Outside, Variation, same_extent
from opgen.lower.statement import Wanted, frame_of, lower_statement
from opgen.lower.waves import Slot, in_waves


@dataclass(slots=True)
class _Group:
    """The statements of a recurrence in one variant, and what has been found out about it."""

    d: Declarations
    state: Variation
    wanted: Callable[[Assign], Wanted]
    bag: Bag
    bodies: dict[str, Assign]
    starts: dict[str, list[Assign]]
    steps: tuple[Step, ...]
    places: dict[str, tuple[int, ...]] = field(default_factory=dict)  # which positions of a name run along
    along: dict[str, tuple[str, ...]] = field(default_factory=dict)  # the names of its indices there
    begun: dict[str, list[Begun]] = field(default_factory=dict)

    def error(self, message: str, at: Assign | Access | Binder, *hints: str) -> None:
        span = at.target.span if isinstance(at, Assign) else at.span
        self.bag.error("OPG250", message, span, hints=hints)

    def outside(self, name: str) -> Outside:
        """What stands outside of a name."""
        along = zip(self.places[name], self.steps, strict=True)
        ends = tuple((place, way) for place, step in along for way in ((step.offset,) if step.offset else (-1, 1)))
        return Outside(ends, tuple(self.begun.get(name, ())))


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
        state.tensors[n] = replace(state.tensors[n], running=frozenset(), outside=group.outside(n))
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
    starts: dict[str, list[Assign]] = {}
    for s in statements:
        begins = constant_part(s) is not None
        if s.op != "=" or (not begins and s.target.name in bodies):
            another_statement(d, s, bag, first=s.target.name not in bodies)
            return None
        if begins:
            starts.setdefault(s.target.name, []).append(s)
        else:
            bodies[s.target.name] = s
    if lacking := {n: starts[n] for n in names if n not in bodies}:
        nothing_goes_on(d, lacking, bag)
        return None
    steps = slots(d, bodies, starts, names, bag) if read_whole(d, bodies, bag) else ()
    if not steps:
        return None
    group = _Group(d, state, wanted, bag, bodies, starts, steps)
    return group if _placed(group) and _checked(group) else None


def _placed(g: _Group) -> bool:
    """Find the positions of every target that run along, and the names of its indices there."""
    if len(g.steps) == 1:
        followed(g.bodies, g.steps[0], g.along, g.places)
    for n, s in g.bodies.items():
        own = {i.name: k for k, i in enumerate(s.target.items or ()) if isinstance(i, Binder)}
        if n not in g.along and all(step.index in own for step in g.steps):
            g.along[n] = tuple(step.index for step in g.steps)
            g.places[n] = tuple(own[index] for index in g.along[n])
        if n not in g.along:
            lacks = next((step.index for step in g.steps if step.index not in own), g.steps[0].index)
            hint = f"every name of a recurrence has an index like `{lacks}` on the left"
            g.error(f"`{n}` does not run along `{lacks}`", s, hint)
            return False
    good = every(aligned(g.d, g.bodies[n], s, g.places[n], g.bag) for n, found in g.starts.items() for s in found)
    good = good and every(begins_whole(g.d, g.bodies[n], s, g.places[n], g.steps, g.bag) for n, s in g.starts.items())
    return good and every(all(_start_placed(g, n, s) for s in found) for n, found in g.starts.items())


def _start_placed(g: _Group, n: str, s: Assign) -> bool:
    """Whether a start stands outside at the positions that run along."""
    body, items, own = g.bodies[n], s.target.items or (), g.bodies[n].target.items or ()
    ends = g.outside(n).along
    apart = {k: item for k, item in enumerate(items) if is_constant(item)}
    below = {k: item.span.text.startswith("-") for k, item in apart.items()}
    bad = next((k for k in apart if (k, -1 if below[k] else 1) not in ends), None)
    if bad is None:
        return True
    item = own[bad]
    if bad not in g.places[n] and below[bad] and isinstance(item, Binder):
        hint = f"leave this start out, or read `{n}` at `{item.name} - 1`"
        g.error(f"no read of `{n}` goes back along `{item.name}`, so it has no start there", s, hint)
        return False
    place = bad if bad in g.places[n] else g.places[n][0]
    hints = misplaced(g.d, body, g.starts[n], s, g.places[n], place, g.steps[g.places[n].index(place)])
    g.error(f"the start of `{n}` stands at the wrong place", s, *hints)
    return False


def _checked(g: _Group) -> bool:
    """Whether the names read one another at the same place or further back only."""
    seen: list[str] = []
    good = True
    every = {n: [(a, _back(g, n, a)) for a in accesses((s,), tuple(g.bodies))] for n, s in g.bodies.items()}
    here = {n: [a.name for a, back in found if back is not None and not any(back)] for n, found in every.items()}
    for n, found in every.items():
        for a, back in found:
            if back is None and len(g.steps) == 1:
                sign = "-" if g.steps[0].offset < 0 else "+"
                where_ = f"`{g.along[n][0]}` and `{g.along[n][0]} {sign}` a number"
                g.error(f"a recurrence reads its own names at {where_} only", a, *by_number(g.d, a))
                good = False
            elif back is not None and not any(back) and a.name not in seen:
                too_early(g.bag, g.bodies[n], a, one_back(a, g.places[a.name], g.steps), here)
                good = False
        seen.append(n)
    return good


def _back(g: _Group, n: str, a: Access) -> tuple[int, ...] | None:
    """How far back a read of a body goes along every slot that tells the order; None where it stands anywhere else."""
    found: list[int] = []
    for place, index, step in zip(g.places[a.name], g.along[n], g.steps, strict=True):
        item = a.items[place] if place < len(a.items) else None
        shift = None if item is None else shift_of(item)
        if step.offset == 0 or (isinstance(item, Name) and item.name == index):
            found.append(0)
        elif shift is not None and shift.index == index and shift.offset * step.offset > 0:
            found.append(abs(shift.offset))
        else:
            return None
    return tuple(found)


# --- lowering --------------------------------------------------------------------------------------------------------


def _lowered(g: _Group) -> tuple[Statement, ...] | None:
    sizes = extents(g.d, g.state, g.bodies, g.places, {n: g.wanted(s) for n, s in g.bodies.items()}, g.starts)
    of_starts = Bag()
    begun = [_begun(replace(g, bag=of_starts), sizes, n, s) for n, found in g.starts.items() for s in found]
    if None in begun and any(d.code != "OPG214" for d in of_starts.items):
        _add(g.bag, of_starts.items)
        return None
    later = {n: g.state.later.pop(n) for n in g.bodies}
    known = {n: g.wanted(s).kind or _start_kind(g, n) for n, s in g.bodies.items()}

    endless: list[Kinds] = []  # with which nothing is wrong but that an index has no extent

    def tried(kinds: Kinds) -> Kinds | None:
        state, bag = g.state.apart(), Bag()
        steps = _steps(replace(g, state=state, bag=bag), sizes, later, kinds, settled=False)
        if bag.has_errors and all(d.code == "OPG214" for d in bag.items):
            endless.append(kinds)
        return None if steps is None or bag.has_errors else {n: state.tensors[n].kind for n in kinds}

    kinds, right = settled(known, tried)
    kinds = kinds if right or not endless else endless[0]
    of_bodies = Bag()
    steps = _steps(replace(g, bag=of_bodies), sizes, later, kinds, settled=right)
    _add(g.bag, no_consequences(of_starts.items, of_bodies.items, sizes.unknown_along(), g.starts))
    g.state.later.update(later)
    before = [s for made in begun if made is not None for s in made]
    return None if steps is None or None in begun else _assembled(g, before, steps)


def _add(bag: Bag, found: Iterable[Diagnostic]) -> None:
    for d in found:
        bag.add(d)


def _start_kind(g: _Group, n: str) -> Kind | None:
    return promote([b.value.kind for b in g.begun[n]]) if n in g.begun else None


def _begun(g: _Group, sizes: Extents, n: str, s: Assign) -> list[Statement] | None:
    """The statements of a start."""
    items, wanted = s.target.items or (), g.wanted(s)
    apart = tuple(k for k, item in enumerate(items) if is_constant(item))
    at = [(k, _far(g, sizes, n, s, k)) for k in apart]
    plain = replace(s, target=replace(s.target, items=tuple(i for k, i in enumerate(items) if k not in apart)))
    if wanted.shape is None and not says_extents(g.state, plain) and sizes.complete(n):
        wanted = replace(wanted, shape=sizes.shape(n), span=g.bodies[n].target.span, origin="as it goes on")
    made = lower_statement(g.d, g.state, plain, wanted.without(apart), g.bag)
    if not made:
        return None
    found = replace(made[-1], target=g.state.fresh(f"{n}_start"))
    if (unlike := sizes.unlike(n, [k for k in range(len(items)) if k not in apart], found, g.state.dims)) is not None:
        g.error(unlike[0], s, *unlike[1:])
        return None
    own = g.begun.setdefault(n, [])
    for k, far in at:
        if far is None:
            alike = [o for o in g.starts[n] if is_constant((o.target.items or ())[k])]
            at_fault = next(o for o in alike if _far(g, sizes, n, o, k) is None)  # of several, the first is told
            hints = misplaced(g.d, g.bodies[n], g.starts[n], at_fault, g.places[n], k, g.steps[g.places[n].index(k)])
            g.error(f"the start of `{n}` stands at the wrong place", at_fault, *hints)
            return None
        if abs(far) > (most := furthest(g.d.forward, n, k)):
            g.error("no read goes back as far as this start", s, f"reads of `{n}` find what stands {most} outside")
            return None
    own.append(Begun(tuple((k, far) for k, far in at if far is not None), found))
    return [*made[:-1], found]


def _far(g: _Group, sizes: Extents, n: str, s: Assign, k: int) -> int | None:
    """How far outside of its name a start stands at a position, with a minus below the first element."""
    item = (s.target.items or ())[k]
    assert not isinstance(item, Dots)
    if item.span.text.replace(" ", "").startswith("-"):
        shown = item.span.text.replace(" ", "")[1:]
        return -int(shown) if shown.isdigit() and int(shown) else None
    expr = Name(item.name, item.span) if isinstance(item, Binder) else item
    position, extent = extent_of(frame_of(g.d, g.state, Bag()), expr), sizes.known.get((n, k))
    if extent is None or position is None:
        return None if extent is not None or is_last(expr) else 1
    away = (polynomial(position, g.state.dims) - polynomial(extent, g.state.dims)).constant
    return None if away is None or away < 0 else away + 1


def _steps(
    g: _Group, sizes: Extents, later: Mapping[str, Span], kinds: Kinds, *, settled: bool
) -> list[Compute] | None:
    """The statements of the bodies, where their names are read as these kinds; None after a mistake.

    `settled`: they are of these kinds, even where a body gives a smaller one.
    """
    for n, kind in kinds.items():
        g.state.tensors[n] = Known(n, sizes.shape(n), kind, later[n], running=frozenset(g.places[n]))
    steps: list[Compute] = []
    failed = False
    endless = False  # how far they run together is not known, which is told once
    for n, s in g.bodies.items():
        bag = Bag() if endless else g.bag
        told = len(bag.items)
        wanted = replace(g.wanted(s), kind=kinds[n]) if settled else g.wanted(s)
        if wanted.shape is None and sizes.borrowed(n):
            wanted = replace(wanted, shape=sizes.shape(n), span=s.target.span, origin="as others of the recurrence")
        found = tuple(_running(g, n, c) for c in lower_statement(g.d, g.state, s, wanted, bag))
        failed = failed or not found
        own = [i.span for i in s.target.items or () if isinstance(i, Binder) and i.name in g.along[n]]
        again = [d for d in bag.items[told:] if d.code == "OPG214" and d.span in own]
        if endless:
            _add(g.bag, (d for d in bag.items if d not in again))
        endless = endless or (bool(again) and len(g.steps) == 1)
        steps.extend(found)
        if found:
            known = g.state.tensors[n]
            g.state.tensors[n] = replace(known, shape=found[-1].shape, kind=found[-1].kind)
    return None if failed else steps


def _running(g: _Group, n: str, c: Compute) -> Compute:
    """A statement of a name with the index of the recurrence in place of the name's own."""
    old, new = g.along[n][0], g.steps[0].index
    if old == new:
        return c
    names = {old: new, new: old}  # an index of that name gives it up

    def axes(loops: tuple[Loop, ...]) -> tuple[Loop, ...]:
        return tuple(replace(a, name=names.get(a.name, a.name)) if isinstance(a, Axis) else a for a in loops)

    instead: dict[Scalar, Scalar] = {Index(a): Index(b) for a, b in names.items()}
    return replace(c, axes=axes(c.axes), over=axes(c.over), body=substitute(c.body, instead))


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
    last = {a.name: a for a in chosen[-1].axes if isinstance(a, Axis)}
    along = [Slot(last[step.index], step.offset) for step in g.steps]
    done: list[Compute] = []
    for c in chosen:
        axes = _axes_of(g, c, along)
        body = None if axes is None else _with_starts(g, c, along)
        if axes is None or body is None:
            return None
        done.append(placed_step(replace(c, axes=axes, body=body)))
    span = next(iter(g.bodies.values())).span
    made = in_waves(tuple(done), along, g.state.fresh, span)
    if made is None:
        first = next(iter(g.bodies.values()))
        shown = " and ".join(f"`{slot.axis.name}`" for slot in along)
        hint = "each read of its own names goes back along one of them, by a number, and not forth along another"
        g.error(f"there is no order in which `{first.target.name}` could be computed along {shown}", first, hint)
        return None
    return (*before, *made)


def _axes_of(g: _Group, c: Compute, along: Sequence[Slot]) -> tuple[Loop, ...] | None:
    """The loops of a step, the same axes along the recurrence as all others; None after a mistake."""
    s = g.bodies.get(c.target, next(iter(g.bodies.values())))
    axes = c.axes
    for slot in along:
        own = next((a for a in c.axes if isinstance(a, Axis) and a.name == slot.axis.name), None)
        if own is None or own in c.over:
            if len(along) > 1 and own is None:
                continue
            g.error(
                f"this reduces a recurrence over `{slot.axis.name}`", s, "name the recurrence, and reduce it afterwards"
            )
            return None
        if not same_extent(own.extent, slot.axis.extent, g.state.dims):
            g.error(f"`{slot.axis.name}` has another extent here", s)
            return None
        axes = tuple(slot.axis if a == own else a for a in axes)
    return axes


def _with_starts(g: _Group, c: Compute, along: Sequence[Slot]) -> Scalar | None:
    """The body of a step with a choice between what it reads from further back and the starts."""
    at = g.bodies.get(c.target, next(iter(g.bodies.values())))
    good = True

    def step(e: Scalar) -> Scalar:
        nonlocal good
        if not isinstance(e, Read) or e.tensor not in g.bodies:
            return e
        away: dict[int, int] = {}
        for place, slot in zip(g.places[e.tensor], along, strict=True):
            shift = slot.shift(e.at[place])
            if shift and shift * slot.way >= 0:
                away[place] = shift
            elif shift != 0 and len(along) == 1:
                g.error(f"a recurrence reads its own names at `{slot.axis.name}` or further back only", at)
                good = False
        shape = g.state.tensors[e.tensor].shape
        assert shape is not None
        found = or_start(g.outside(e.tensor), e, away, shape, g.state.tensors[e.tensor].kind)
        if isinstance(found, Unclear):
            g.error(found.message, at, found.hint)
            good = False
            return e
        return found

    result = transform(c.body, step)
    return result if good else None
