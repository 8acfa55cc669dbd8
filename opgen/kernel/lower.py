"""Steps of a plan as kernels: the naive form, obviously right, of which every schedule is a rewrite.

In go a plan and one of its steps, out comes a `Kernel` over the buffers that the step reads and writes. No back end is
known here and nothing is fast: every pass is a loop of its own, and what torch computes (matrix products, convolutions)
is lowered to the loops that say what it means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import assert_never

from opgen.ir.names import Names
from opgen.ir.point import positions
from opgen.ir.program import Axis, Kind, Loop
from opgen.ir.scalar import (
    BATCH,
    INF,
    ONE,
    ZERO,
    Batch,
    Index,
    Position,
    Read,
    Scalar,
    add,
    call,
    mul,
    reads,
    substitute,
    where,
)
from opgen.kernel.model import PLACES, Acc, Atomic, Body, For, If, Join, Kernel, Node, Role, Slot, Store, Tile, in_range
from opgen.plan import model as planned
from opgen.plan.build import reads_of, written
from opgen.plan.model import (
    Chain,
    Contract,
    Convolve,
    Dot,
    Fold,
    KernelPlan,
    Let,
    Nest,
    Operand,
    Pass,
    ScatterStep,
    Sort,
    Step,
    Stream,
    Sweep,
    Task,
    Weigh,
)
from opgen.plan.sequence import Running, running

Totals = Mapping[str, str]  # of buffers that sums of a stream go into, the tiles that they are summed in


def lower(plan: KernelPlan, step: Step) -> Kernel:
    """The kernel of one step."""
    stored = written(step)
    used = dict.fromkeys((*reads_of(step), *stored))
    slots = tuple(Slot(b.name, b.shape, b.storage, b.name in stored) for b in plan.buffers if b.name in used)
    return Kernel(f"{plan.name}_{step.name}", slots, _body(plan, step), step.reason)


def _body(plan: KernelPlan, step: Step) -> Body:
    taken = Names([b.name for b in plan.buffers])
    match step:
        case Nest():
            return _nest(step)
        case Contract():
            return _contract(plan, step, taken.fresh(f"{step.out.buffer}_value"))
        case Convolve() | Sort():
            return _nest(step.nest)
        case ScatterStep():
            return _scatter(plan, step)
        case Chain():
            return _chain(plan, step, taken)
        case Stream():
            return _stream(step, {w.buffer: taken.fresh(f"{w.buffer}_sum") for s in step.sweeps for w in s.sums})
        case _:
            assert_never(step)


def loops_around(loops: Sequence[Loop], body: Body, role: Role = Role.SERIAL) -> Body:
    """A body inside of some loops, the first one outermost."""
    for a in reversed(loops):
        body = (For(a, body, role),)
    return body


# --- nests -----------------------------------------------------------------------------------------------------------


def _nest(step: Nest) -> Body:
    return loops_around(step.outer, tuple(n for p in step.passes for n in _pass(p)), Role.PARALLEL)


def _pass(p: Pass) -> Body:
    if not p.loops:
        return (*p.lets, *_stores(p.stores))
    inside = (*p.lets, *(_join(f, p.loops) for f in p.folds), *_stores(p.stores))
    return (*(Acc(f.name, f.op, f.kind) for f in p.folds), *loops_around(p.loops, inside))


def _stores(stores: Iterable[planned.Store]) -> Body:
    return tuple(Store(s.buffer, s.at, s.value) for s in stores)


def _join(f: Fold, loops: Sequence[Loop]) -> Join:
    if f.op not in PLACES:
        return Join(f.name, f.value)
    (along,) = loops
    return Join(f.name, f.value, Index(along.name) if isinstance(along, Axis) else None)


# --- matrix products -------------------------------------------------------------------------------------------------


def _contract(plan: KernelPlan, step: Contract, product: str) -> Body:
    axes = {label: _axis(plan, step, label) for label in (*step.batch, *step.m, *step.n, *step.k)}
    value: Scalar = Read(product, ())
    if step.bias is not None:
        value = add(value, _at(step.bias))
    inner = loops_around([axes[k] for k in step.k], (Join(product, mul(_at(step.a), _at(step.b))),))
    store = Store(step.out.buffer, _places(step.out), value)
    outer = [axes[label] for label in (*step.batch, *step.m, *step.n)]
    return loops_around(outer, (Acc(product, "sum"), *inner, store), Role.PARALLEL)


def _axis(plan: KernelPlan, step: Contract, label: str) -> Loop:
    """The loop of a label: as long as the dim of an operand at which it stands."""
    for o in (step.out, step.a, step.b):
        if label in o.labels:
            size = plan.buffer(o.buffer).shape[o.labels.index(label)]
            return size if isinstance(size, Batch) else Axis(label, size)
    raise AssertionError(f"{step.name}: no operand has {label}")


def _at(o: Operand) -> Read:
    return Read(o.buffer, _places(o))


def _places(o: Operand) -> tuple[Position, ...]:
    return tuple(BATCH if label == "..." else Index(label) for label in o.labels)


# --- scatters --------------------------------------------------------------------------------------------------------


def _scatter(plan: KernelPlan, step: ScatterStep) -> Body:
    base: Body = (*step.base_lets, Store(step.out, positions(step.axes), step.base))
    put: Node = Atomic(step.out, step.at, step.op, step.value)
    inside = _inside(plan, step) if step.padded else []
    if inside:
        put = If(reduce(lambda a, b: call("and", a, b), inside), (put,))
    return (
        *loops_around(step.axes, base, Role.PARALLEL),
        *_points(step, (*step.lets, put)),
    )


def _points(step: ScatterStep, body: Body) -> Body:
    """The points of a scatter, in the order in which they are declared."""
    for a in reversed(step.loops):
        body = (For(a, body, Role.PARALLEL if a in step.free else Role.SERIAL),)
    return body


def _inside(plan: KernelPlan, step: ScatterStep) -> list[Scalar]:
    """The conditions that every position of a scatter is in range, but for those that surely hold."""
    ranges = plan.ranges
    loops = (*step.free, *step.loops)
    return [
        in_range(p, size)
        for p, size in zip(step.at, plan.buffer(step.out).shape, strict=True)
        if not isinstance(p, Batch) and not isinstance(size, Batch) and not ranges.inside(p, size, loops)
    ]


# --- sequences -------------------------------------------------------------------------------------------------------


def _chain(plan: KernelPlan, step: Chain, taken: Names) -> Body:
    kept: list[Node] = []
    tasks: list[Node] = []
    for t in step.tasks:
        run = running(step, t) if plan.buffer(t.store.buffer).kind is Kind.FLOAT else None
        if run is None:
            tasks += _task(t)
        else:
            tile = Tile(taken.fresh(f"{t.store.buffer}_running"), (), wide=True)
            kept.append(tile)
            tasks += _running(t, run, tile.name)
    return loops_around(step.outer, (*kept, For(step.along, tuple(tasks), reverse=step.reverse)), Role.PARALLEL)


def _running(t: Task, run: Running, tile: str) -> Body:
    """A sum or product that goes on from place to place, kept where it is not rounded to storage."""
    so_far = Read(tile, ())
    go_on = Store(tile, (), call(run.op, so_far, run.rest))
    return (*t.lets, If(run.first, (Store(tile, (), run.start),)), go_on, *_stores((replace(t.store, value=so_far),)))


def _task(t: Task) -> Body:
    body: list[Node] = [*t.lets]
    if t.fold is not None:
        body.append(Acc(t.fold.name, t.fold.op, t.fold.kind))
        inside: Body = (*t.inner, _join(t.fold, t.over))
        body += loops_around(t.over, inside)
    body += _stores((t.store,))
    return loops_around(t.loops, tuple(body))


# --- streams ---------------------------------------------------------------------------------------------------------


def _stream(step: Stream, totals: Totals) -> Body:
    body: list[Node] = [*_pass(step.points[0])]
    for sweep, after in zip(step.sweeps, step.points[1:], strict=True):
        body += _sweep(step, sweep, after, totals)
    return loops_around(step.outer, tuple(body), Role.PARALLEL)


def _sweep(step: Stream, s: Sweep, after: Pass, totals: Totals) -> Body:
    """One way along a stream, or two: a maximum that the other values are scaled by is found first."""
    body: list[Node] = []
    rest = tuple(f for f in s.folds if f.name != s.online)
    top = next((f for f in s.folds if f.name == s.online), None)
    if top is not None:
        body += _folded(step, s, (top,), (), totals)
        limit = Read(top.name, ())
        body.append(Let(s.shift, where(call("lt", call("abs", limit), INF), limit, ZERO), top.kind))
    body += [Tile(totals[w.buffer], (w.over.extent,)) for w in s.sums]
    body += [For(w.over, (Store(totals[w.buffer], (Index(w.over.name),), ZERO),)) for w in s.sums]
    body += _folded(step, s, rest, s.sums, totals)
    body += _pass(after)
    return (*body, *(n for w in s.sums for n in _stored(w, totals)))


def _folded(step: Stream, s: Sweep, folds: tuple[Fold, ...], sums: tuple[Weigh, ...], totals: Totals) -> Body:
    """A loop along the stream with what some folds and sums need of its dots and lets."""
    if not folds and not sums:
        return ()
    at_point: dict[Scalar, Scalar] = {Read(d.name, (Index(step.along.name),)): Read(d.name, ()) for d in s.dots}

    def here(e: Scalar) -> Scalar:
        return substitute(e, at_point)

    wanted = {r.tensor for e in (*(f.value for f in folds), *(w.value for w in sums)) for r in reads(e)}
    lets: list[Let] = []
    for x in reversed(s.lets):
        if x.name in wanted:
            wanted |= {r.tensor for r in reads(x.value)}
            lets.insert(0, x)
    inside: list[Node] = [n for d in s.dots if d.name in wanted for n in _dot(d)]
    inside += [Let(x.name, here(x.value), x.kind) for x in lets]
    inside += [Join(f.name, here(f.value)) for f in folds]
    inside += [For(w.over, (Atomic(totals[w.buffer], (Index(w.over.name),), "sum", here(w.value)),)) for w in sums]
    return (*(Acc(f.name, f.op, f.kind) for f in folds), For(step.along, tuple(inside)))


def _dot(d: Dot) -> Body:
    return (Acc(d.name, "sum"), For(d.over, (Join(d.name, d.value),)))


def _stored(w: Weigh, totals: Totals) -> Body:
    total: Scalar = Read(totals[w.buffer], (Index(w.over.name),))
    value = total if w.scale == ONE else mul(w.scale, total)
    return (For(w.over, (Store(w.buffer, w.at, value),)),)
