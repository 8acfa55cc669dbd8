"""Save or recompute: the forward program with residuals appended, and the backward program that reads them.

Everything the gradient needs that does not depend on a cotangent could be kept. What is kept is a minimum cut on bytes.
Sizes are symbolic, so a tensor with more indices weighs more than any with fewer; inputs and outputs weigh half because
they are alive anyway. Reductions and contractions are not computed twice, with one exception: what outgrows every input
and output of the operator (`opgen.ir.growth`) may be, where it is summed along rows only. A softmax that is no output
can leave the statistics of its rows instead of its values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from opgen.diff.structure import close, tensors_of
from opgen.ir.growth import Growth
from opgen.ir.names import Names
from opgen.ir.program import (
    Compute,
    Kind,
    Output,
    Program,
    Role,
    Shape,
    Statement,
    Tensor,
    names,
    parts,
    statement_scalars,
    targets,
)
from opgen.ir.rewrite import renamed
from opgen.ir.scalar import Apply, Batch, Lit, Read, Scalar, walk
from opgen.opt.dce import dce
from opgen.opt.mincut import Value, minimum_cut
from opgen.opt.normal import is_normal, opened

_BATCH_HINT, _DIM_HINT = 1 << 12, 1 << 8
_BYTES = {Kind.FLOAT: 4, Kind.INT: 8, Kind.BOOL: 1}


@dataclass(frozen=True, slots=True)
class Saved:
    """`residuals` names the statements kept; each is an output of `forward`, an old or an appended one."""

    forward: Program
    backward: Program
    residuals: tuple[str, ...]


def save(forward: Program, gradient: Program, stated: tuple[str, ...] | None = None) -> Saved:
    """Split the gradient at the values to keep: those stated in the spec, or the cheapest."""
    if stated is None:
        forward, gradient = _with_statistics(forward, gradient)
    early = _independent(gradient)
    chosen = _chosen(forward, gradient, early, stated)
    kept = [s for s in parts(early) if s.target in chosen]
    saved = [Tensor(s.target, s.shape, s.kind, Role.SAVED, differentiable=False, of=s.target) for s in kept]
    candidates = [*gradient.inputs, *saved]
    later = [s for s in gradient.statements if not any(t in chosen for t in targets(s))]
    backward = close(gradient, gradient.name, candidates, later, gradient.outputs)
    residuals = tuple(t.name for t in backward.inputs if t.role is Role.SAVED and t.name in chosen)
    other = _other_names(forward, backward, residuals)
    shown = tuple(other.get(n, n) for n in residuals)
    return Saved(_extended(forward, early, residuals), _with_names(backward, other), shown)


def _other_names(forward: Program, backward: Program, residuals: Sequence[str]) -> dict[str, str]:
    """What residuals are called that are outputs under another name: two names of one value were merged."""
    shown = {o.name for o in forward.outputs}
    taken = names(backward)
    merged = {o.value: o.name for o in forward.outputs if o.value not in shown and o.name not in taken}
    return {n: merged[n] for n in residuals if n in merged}


def _with_names(p: Program, other: Mapping[str, str]) -> Program:
    if not other:
        return p
    inputs = tuple(replace(t, name=other.get(t.name, t.name), of=other.get(t.of, t.of)) for t in p.inputs)
    outputs = tuple(replace(o, value=other.get(o.value, o.value)) for o in p.outputs)
    return replace(p, inputs=inputs, statements=tuple(renamed(s, other) for s in p.statements), outputs=outputs)


def _with_statistics(forward: Program, gradient: Program) -> tuple[Program, Program]:
    """Both programs with every softmax opened of which the statistics are kept rather than the values."""
    alive, exact = {o.value for o in forward.outputs}, _compared(gradient)
    own = {s.target for s in forward.statements if is_normal(s)}
    early = (s.target for s in _independent(gradient) if is_normal(s))
    chosen = [t for t in early if t in own and t not in alive and t not in exact]
    taken = (*names(forward), *names(gradient))

    def both() -> tuple[Program, Program]:
        f, g = (replace(p, statements=opened(p.statements, chosen, Names(taken, first=1))) for p in (forward, gradient))
        return f, g

    while chosen:
        f, g = both()
        kept = _chosen(f, g, _independent(g), None)
        if not any(t in kept for t in chosen):
            return f, g
        chosen = [t for t in chosen if t not in kept]
    return forward, gradient


def _independent(gradient: Program) -> list[Statement]:
    """The statements of the gradient that no cotangent enters, in order."""
    late = {t.name: None for t in gradient.inputs if t.role is Role.COTANGENT}
    early: list[Statement] = []
    for s in gradient.statements:
        if any(t in late for t in tensors_of(s)):
            late.update(dict.fromkeys(targets(s)))
        else:
            early.append(s)
    return early


def _chosen(
    forward: Program, gradient: Program, early: Sequence[Statement], stated: tuple[str, ...] | None
) -> tuple[str, ...]:
    if stated is not None:
        return tuple(s.target for s in parts(early) if s.target in stated)
    mine = {s.target for s in parts(early)}
    wanted = {t for s in gradient.statements if s.target not in mine for t in tensors_of(s)}
    wanted |= {o.value for o in gradient.outputs}
    alive = {o.value for o in forward.outputs}
    own = {s.target for s in parts(forward.statements)}
    results = {o.value for o in gradient.outputs if o.value not in own}  # not kept: their names are those of gradients
    exact = _compared(gradient)
    growth = Growth.of(forward)
    inputs = [t for t in gradient.inputs if t.role is not Role.COTANGENT]
    values = [Value(t.name, (), _bytes(t.shape, t.kind), recomputable=False, wanted=t.name in wanted) for t in inputs]
    for whole in early:
        fixed = any(t in exact for t in targets(whole)) and not _is_copy(whole, inputs)
        fixed = fixed or any(t in results for t in targets(whole))
        for s in parts((whole,)):
            cost = None if fixed else _bytes(s.shape, s.kind) * (1 if s.target in alive else 2)
            recomputable = fixed or not _dear(whole) or _again(whole, growth)
            values.append(Value(s.target, _outside(whole), cost, recomputable, s.target in wanted))
    return tuple(n for n in minimum_cut(values) if n in mine)


def _outside(s: Statement) -> tuple[str, ...]:
    """What a statement needs from others."""
    return tuple(t for t in tensors_of(s) if t not in targets(s))


def _compared(p: Program) -> dict[str, None]:
    """Tensors that some statement tests for equality: a rounded copy would not do."""
    found: dict[str, None] = {}
    for s in p.statements:
        for e in statement_scalars(s):
            for n in walk(e):
                if isinstance(n, Apply) and n.fn in ("eq", "ne"):
                    found.update((a.tensor, None) for a in n.args if isinstance(a, Read) and _float_test(n.args))
    return found


def _float_test(args: tuple[Scalar, ...]) -> bool:
    """A comparison with a literal (or infinity) does not depend on the last bit."""
    return all(not isinstance(a, Lit) and any(isinstance(n, Read) for n in walk(a)) for a in args)


def _is_copy(s: Statement, inputs: Sequence[Tensor]) -> bool:
    """A selection among elements of an input, which no rounding changes."""
    if not isinstance(s, Compute) or s.op not in (None, "max", "min") or not isinstance(s.body, Read):
        return False
    return s.body.tensor in {t.name for t in inputs}


def _dear(s: Statement) -> bool:
    """Whether a statement reduces over anything that is not a small constant."""
    if not isinstance(s, Compute):
        return True
    return any(isinstance(a, Batch) or not isinstance(a.extent, Lit) for a in s.over)


def _again(s: Statement, growth: Growth) -> bool:
    """Whether a reduction may be done again, since keeping what it gives would take more than all there is."""
    return isinstance(s, Compute) and s.op == "sum" and growth.outgrows(s.shape) and growth.narrow(s.over)


def _bytes(shape: Shape, kind: Kind) -> int:
    total = 2 * _BYTES[kind]
    for size in shape:
        if isinstance(size, Batch):
            total *= _BATCH_HINT
        elif isinstance(size, Lit):
            total *= max(int(size.value), 1)
        else:
            total *= _DIM_HINT
    return total


def _extended(forward: Program, early: Sequence[Statement], residuals: tuple[str, ...]) -> Program:
    """The forward program that also returns the residuals."""
    own = {s.target for s in parts(forward.statements)}
    statements = (*forward.statements, *(s for s in early if s.target not in own))
    alive = {o.value for o in forward.outputs}
    taken = {o.name for o in forward.outputs}
    shapes = {s.target: s for s in parts(statements)}
    extra: list[Output] = []
    for n in residuals:
        if n not in alive:
            name = n if n not in taken else f"{n}_residual"
            extra.append(Output(name, n, shapes[n].shape, shapes[n].kind, differentiable=False, of=n))
    return dce(replace(forward, statements=statements, outputs=(*forward.outputs, *extra)))
