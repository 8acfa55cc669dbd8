"""Plans with plain loops for what the host hands on, for back ends that are tested without torch."""

from __future__ import annotations

from dataclasses import replace

from opgen.ir.program import Axis, Kind, Loop, Program
from opgen.ir.scalar import BATCH, ZERO, Batch, Index, Position, Read, add, mul
from opgen.plan.build import build
from opgen.plan.model import (
    Buffer,
    Contract,
    Convolve,
    Fold,
    KernelPlan,
    Nest,
    Operand,
    Pass,
    ScatterStep,
    Schedule,
    Sort,
    Step,
    Store,
)


def planned(program: Program) -> KernelPlan:
    """The plan of a program, with plain loops for what the host hands on."""
    made = build(program)
    sorts = [s for s in made.steps if isinstance(s, Sort)]
    ranks = tuple(replace(made.buffer(s.name), name=_ranks_of(s)) for s in sorts)
    steps = tuple(step for s in made.steps for step in _plain(made, s))
    return replace(made, buffers=(*made.buffers, *ranks), steps=steps)


def _plain(plan: KernelPlan, step: Step) -> tuple[Step, ...]:
    match step:
        case Contract():
            return (contraction(plan, step),)
        case Convolve():
            return (step.nest,)
        case Sort():
            return sorting(step)
        case _:
            return (step,)


def _ranks_of(step: Sort) -> str:
    return f"ranks_for_{step.name}"


def sorting(step: Sort) -> tuple[Nest, ScatterStep]:
    """A sort as ranks, and a scatter of every place to where its rank says."""
    counted, placed = step.nest.passes
    (rank,), (place,) = counted.folds, placed.stores
    ranks, loops = _ranks_of(step), step.nest.outer
    at = tuple(BATCH if isinstance(a, Batch) else Index(a.name) for a in loops)
    held = Pass((), stores=(Store(ranks, at, Read(rank.name, ())),))
    to = tuple(Read(ranks, at) if isinstance(p, Read) else p for p in place.at)
    free = tuple(a for a, p in zip(loops, to, strict=True) if not isinstance(p, Read))
    scatter = ScatterStep(
        step.name, step.name, loops, (), ZERO, loops, to, "sum", (), place.value, free, False, step.results
    )
    return replace(step.nest, name=ranks, passes=(counted, held), results=step.results), scatter


def contraction(plan: KernelPlan, step: Contract) -> Nest:
    """The plain nest of a contraction."""
    operands = [o for o in (step.out, step.a, step.b, step.bias) if o is not None]
    loops: dict[str, Loop] = {}
    for o in operands:
        loops.update({k: v for k, v in _loops(plan.buffer(o.buffer), o).items() if k not in loops})

    def read(o: Operand) -> Read:
        return Read(o.buffer, _at(o))

    summed = tuple(loop for k, loop in loops.items() if k not in step.out.labels)
    folded = Pass(summed, folds=(Fold("total", "sum", mul(read(step.a), read(step.b))),))
    total: Read = Read("total", ())
    kind = plan.buffer(step.out.buffer).kind
    value = total if step.bias is None else add(total, read(step.bias))
    stored = Pass((), stores=(Store(step.out.buffer, _at(step.out), value),))
    if kind is Kind.INT:
        folded = Pass(folded.loops, folds=tuple(Fold(f.name, f.op, f.value, Kind.INT) for f in folded.folds))
    outer = tuple(loops[k] for k in step.out.labels)
    return Nest(step.name, outer, (folded, stored), Schedule.ROW, step.results, step.reason)


def _at(o: Operand) -> tuple[Position, ...]:
    return tuple(BATCH if k == "..." else Index(k) for k in o.labels)


def _loops(buffer: Buffer, o: Operand) -> dict[str, Loop]:
    """The loop of each label of an operand."""
    pairs = zip(o.labels, buffer.shape, strict=True)
    return {k: BATCH if isinstance(size, Batch) else Axis(k, size) for k, size in pairs}
