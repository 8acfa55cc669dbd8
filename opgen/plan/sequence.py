"""A recurrence as a `Chain`: what runs side by side, and what is computed at every place.

An axis that every step has, and along which no step reads another place of the group, separates independent sequences.
Along every other axis each step is a loop of its own at each place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from opgen.ir.errors import UnplannableError
from opgen.ir.point import positions
from opgen.ir.program import Axis, Compute, Loop, Recurrence
from opgen.ir.scalar import BATCH, ONE, Apply, Batch, Index, Read, Scalar, add, mul, reads, sub
from opgen.opt.scans import renamed
from opgen.plan.model import Chain, Fold, Store, Task
from opgen.plan.nest import Surroundings

_REASON = "every place goes on from the one before it; sequences that do not meet run side by side"


def sequence(s: Recurrence, around: Surroundings) -> Chain:
    """Plan a recurrence."""
    batched = {BATCH in step.axes for step in s.steps}
    if len(batched) > 1 or any(BATCH in step.over for step in s.steps):
        raise UnplannableError(f"{s.target}: a recurrence only some of whose steps have a batch")
    s, shared = _aligned(s)
    outer = tuple(a for a in s.steps[0].axes if isinstance(a, Batch) or a.name in shared)
    tasks = tuple(_task(step, s.along, outer, around) for step in s.steps)
    return Chain(s.target, outer, s.along, s.reverse, tasks, reason=_REASON)


def _aligned(s: Recurrence) -> tuple[Recurrence, set[str]]:
    """The recurrence with one name for each axis that all its steps share, and these names."""
    shared: set[str] = set()
    for a in s.steps[0].axes:
        if isinstance(a, Axis) and a != s.along:
            names = _counterparts(s, a)
            if names is not None:
                s = replace(s, steps=tuple(_named(x, n, a) for x, n in zip(s.steps, names, strict=True)))
                shared.add(a.name)
    return s, shared


def _counterparts(s: Recurrence, first: Axis) -> list[str] | None:
    """The axis of every step that moves with one of the first step; None where steps read across it."""
    names: list[str | None] = [first.name, *(None for _ in s.steps[1:])]
    by_name = {step.target: k for k, step in enumerate(s.steps)}
    accesses = [(j, by_name[r.tensor], r) for j, x in enumerate(s.steps) for r in reads(x.body) if r.tensor in by_name]
    for _ in s.steps:
        for j, i, r in accesses:
            there, here = names[i], names[j]
            if there is not None and here is None:
                p = r.at[_place(s.steps[i], there)]
                names[j] = p.name if isinstance(p, Index) else None
            elif here is not None and there is None and Index(here) in r.at:
                axis = s.steps[i].axes[r.at.index(Index(here))]
                names[i] = axis.name if isinstance(axis, Axis) else None
    found = [n for n in names if n is not None]
    if len(found) < len(names):
        return None
    for n, step in zip(found, s.steps, strict=True):
        if n not in {a.name for a in step.axes if isinstance(a, Axis) and a.extent == first.extent}:
            return None
        if n != first.name and any(isinstance(a, Axis) and a.name == first.name for a in step.loops):
            return None
    same = all(r.at[_place(s.steps[i], found[i])] == Index(found[j]) for j, i, r in accesses)
    return found if same else None


def _place(step: Compute, name: str) -> int:
    return next((k for k, a in enumerate(step.axes) if isinstance(a, Axis) and a.name == name), 0)


def _named(step: Compute, old: str, axis: Axis) -> Compute:
    if old == axis.name:
        return step
    axes = tuple(axis if isinstance(a, Axis) and a.name == old else a for a in step.axes)
    return replace(step, axes=axes, body=renamed(step.body, {old: axis.name}))


def _task(step: Compute, along: Axis, outer: tuple[Loop, ...], around: Surroundings) -> Task:
    """One step: hoisted values, the fold if it is a reduction, and the store."""
    loops = tuple(a for a in step.axes if a not in outer and a != along)
    v = around.values()
    v.enter(step.axes, step.over)
    value: Scalar = v.value(step.body, {})
    v.use(value, 1 if step.op else 0)
    v.settle()
    lets, inner = v.lets(0, len(v.nodes), 0), v.lets(0, len(v.nodes), 1)
    at = positions(step.axes)
    shown = v.expression(value)
    if step.op is None:
        return Task(loops, lets, Store(step.target, at, shown))
    fold = Fold(around.names.fresh(f"{step.target}_value"), step.op, shown, step.kind)
    return Task(loops, lets, Store(step.target, at, Read(fold.name, ())), step.over, inner, fold)


def task_scalars(t: Task) -> tuple[Scalar, ...]:
    """Every expression of a task, positions of its store aside."""
    folded = () if t.fold is None else (t.fold.value,)
    return (*(x.value for x in t.lets), *(x.value for x in t.inner), *folded, t.store.value)


@dataclass(frozen=True, slots=True)
class Running:
    """A task that adds `rest` to what stands at the place before (or multiplies it by that), in double precision.

    Rounded at every place, a long sum would lose digits; `start` is what stands before the place where `first` holds.
    """

    op: str
    rest: Scalar
    first: Scalar
    start: Scalar


_RUNNING = {"add": add, "mul": mul}


def running(step: Chain, t: Task) -> Running | None:
    """A task as a running sum or product."""
    value = t.store.value
    if t.loops or t.fold is not None or not isinstance(value, Apply) or value.fn not in _RUNNING:
        return None
    back = sub(Index(step.along.name), ONE) if not step.reverse else add(Index(step.along.name), ONE)
    at = tuple(back if q == Index(step.along.name) else q for q in t.store.at)
    before = Read(t.store.buffer, at)
    met = [a for a in value.args if any(r.tensor in step.own for r in reads(a))]
    if len(met) != 1 or any(r.tensor in step.own for x in t.lets for r in reads(x.value)):
        return None
    rest = _RUNNING[value.fn](*(a for a in value.args if a is not met[0]))
    match met[0]:
        case Apply("where", (first, start, r)) if r == before:
            others = (*reads(first), *reads(start))
            return None if any(r.tensor in step.own for r in others) else Running(value.fn, rest, first, start)
        case _:
            return None
