"""Save or recompute: the forward program with residuals appended, and the backward program that reads them.

Everything the gradient needs that does not depend on a cotangent could be kept. What is kept is a minimum cut on bytes.
Sizes are symbolic, and taken to be what `opgen.opt.hints` says; outputs weigh half because they are
alive anyway, and inputs nothing, because backward cannot be differentiated without them. Reductions and contractions
are not computed twice, with one exception: what outgrows every input and output of the operator (`opgen.ir.growth`) may
be, where it is summed along rows only. A softmax that is no output can leave the statistics of its rows instead of its
values. Where less than the inputs says all that backward needs of them, that is kept instead (`opgen.opt.leaves`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from opgen.diff.adjoint import differentiable_inputs
from opgen.diff.structure import close
from opgen.ir.growth import Growth
from opgen.ir.names import Names
from opgen.ir.program import (
    Kind,
    Output,
    Program,
    Role,
    Statement,
    Tensor,
    names,
    parts,
    statement_reads,
    statement_scalars,
    targets,
)
from opgen.ir.rewrite import renamed
from opgen.ir.scalar import Read
from opgen.opt.dce import dce
from opgen.opt.hints import Hints
from opgen.opt.mincut import Value, minimum_cut
from opgen.opt.normal import is_normal, opened
from opgen.opt.slopes import varying
from opgen.opt.weigh import again, compared, counted, independent, is_copy, is_dear, read_outside, rounded


@dataclass(frozen=True, slots=True)
class Saved:
    """`residuals` names the statements kept; each is an output of `forward`, an old or an appended one."""

    forward: Program
    backward: Program
    residuals: tuple[str, ...]


def save(
    forward: Program, gradient: Program, stated: tuple[str, ...] | None = None, leaves: tuple[str, ...] | None = None
) -> Saved:
    """Split the gradient at the values to keep: those stated in the spec, or the cheapest.

    What is named in `leaves` (`opgen.opt.leaves`) is kept in any case, and inputs that are not are not read.
    """
    if stated is None:
        forward, gradient = _with_statistics(forward, gradient)
    early = independent(gradient)
    chosen = (*_chosen(forward, gradient, early, stated, leaves), *(leaves or ()))
    kept = [s for s in parts(early) if s.target in chosen]
    saved = [Tensor(s.target, s.shape, s.kind, Role.SAVED, differentiable=False, of=s.target) for s in kept]
    candidates = [*gradient.inputs, *saved]
    later = [s for s in gradient.statements if not any(t in chosen for t in targets(s))]
    backward = close(gradient, gradient.name, candidates, later, gradient.outputs)
    read = {t.name for t in backward.inputs}
    residuals = tuple(t.name for t in saved if t.name in read or t.name in (leaves or ()))
    other = _other_names(forward, backward, residuals)
    shown = tuple(other.get(n, n) for n in residuals)
    return Saved(_extended(forward, early, residuals, leaves or (), other), _with_names(backward, other), shown)


def _other_names(forward: Program, backward: Program, residuals: Sequence[str]) -> dict[str, str]:
    """What residuals are called that are outputs under another name, or are kept beside one that is rounded.

    Of two names of one value one was merged with the other.
    """
    shown, alive = {o.name for o in forward.outputs}, {o.value for o in forward.outputs}
    taken, less = set(names(backward)), rounded(forward) | (shown - alive)
    merged = {o.value: o.name for o in forward.outputs if o.value not in shown and o.name not in taken}
    fresh = Names((*names(forward), *taken))
    whole = {n: fresh.fresh(f"{n}_whole") for n in residuals if n in less}
    return {n: merged[n] for n in residuals if n in merged} | whole


def _with_names(p: Program, other: Mapping[str, str]) -> Program:
    if not other:
        return p
    inputs = tuple(replace(t, name=other.get(t.name, t.name), of=other.get(t.of, t.of)) for t in p.inputs)
    outputs = tuple(replace(o, value=other.get(o.value, o.value)) for o in p.outputs)
    return replace(p, inputs=inputs, statements=tuple(renamed(s, other) for s in p.statements), outputs=outputs)


def _with_statistics(forward: Program, gradient: Program) -> tuple[Program, Program]:
    """Both programs with every softmax opened of which the statistics are kept rather than the values."""
    alive, exact = {o.value for o in forward.outputs}, compared(gradient)
    own = {s.target for s in forward.statements if is_normal(s)}
    early = (s.target for s in independent(gradient) if is_normal(s))
    chosen = [t for t in early if t in own and t not in alive and t not in exact]
    taken = (*names(forward), *names(gradient))

    def both() -> tuple[Program, Program]:
        f, g = (replace(p, statements=opened(p.statements, chosen, Names(taken, first=1))) for p in (forward, gradient))
        return f, g

    while chosen:
        f, g = both()
        kept = _chosen(f, g, independent(g), None, None)
        if not any(t in kept for t in chosen):
            return f, g
        chosen = [t for t in chosen if t not in kept]
    return forward, gradient


def _chosen(
    forward: Program,
    gradient: Program,
    early: Sequence[Statement],
    stated: tuple[str, ...] | None,
    leaves: tuple[str, ...] | None,
) -> tuple[str, ...]:
    if stated is not None:
        return tuple(s.target for s in parts(early) if s.target in stated)
    mine = {s.target for s in parts(early)}
    wanted = {r.tensor for s in gradient.statements if s.target not in mine for r in statement_reads(s)}
    wanted |= {o.value for o in gradient.outputs}
    alive = {o.value for o in forward.outputs} - rounded(forward)
    own = {s.target for s in parts(forward.statements)}
    results = {o.value for o in gradient.outputs if o.value not in own}  # not kept: their names are those of gradients
    exact = compared(gradient)
    growth, hints = Growth.of(forward), Hints.of(forward)
    inputs = [t for t in gradient.inputs if t.role is not Role.COTANGENT]
    values: list[Value] = []
    for t in inputs:
        price = 0 if leaves is None or t.name in leaves else None
        values.append(Value(t.name, (), price, recomputable=False, wanted=price is not None and t.name in wanted))
    for whole in early:
        fixed = any(t in exact for t in targets(whole)) and not is_copy(whole, inputs)
        fixed = fixed or any(t in results for t in targets(whole))
        outside = read_outside(whole)
        for s in parts((whole,)):
            cost = None if fixed else hints.weight(s.shape, s.kind) * (1 if s.target in alive else 2)
            cost = 0 if s.target in (leaves or ()) else cost
            recomputable = fixed or not is_dear(whole) or again(whole, growth) or _counts(whole, leaves)
            values.append(Value(s.target, outside, cost, recomputable, s.target in wanted))
    return tuple(n for n in minimum_cut(values) if n in mine)


def _counts(s: Statement, leaves: tuple[str, ...] | None) -> bool:
    """Whether a statement counts kept conditions."""
    found = counted(s)
    return bool(found) and all(isinstance(c, Read) and c.tensor in (leaves or ()) for c in found)


def _extended(
    forward: Program,
    early: Sequence[Statement],
    residuals: tuple[str, ...],
    leaves: tuple[str, ...],
    other: Mapping[str, str],
) -> Program:
    """The forward program that also returns the residuals; a leaf among them has a gradient of its own."""
    own = {s.target for s in parts(forward.statements)}
    statements = (*forward.statements, *(s for s in early if s.target not in own))
    alive = {o.value for o in forward.outputs} - rounded(forward)
    shapes = {s.target: s for s in parts(statements)}
    varied = {*differentiable_inputs(forward)}
    extra: list[Output] = []
    for n in residuals:
        if n not in alive:
            s = shapes[n]
            smooth = n in leaves and s.kind is Kind.FLOAT and any(varying(e) & varied for e in statement_scalars(s))
            extra.append(Output(other.get(n, n), n, s.shape, s.kind, differentiable=smooth, of=n, kept=True))
    return dce(replace(forward, statements=statements, outputs=(*forward.outputs, *extra)))
