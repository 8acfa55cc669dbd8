"""Operators whose gradient is 0 everywhere, because every value passes a step function or an order: a warning.

In: an operator. Out: one `OPG254`, where no float input reaches a float result along a slope in any variant. A spec
that says so, by `detach` or by `differentiable: false`, means what it says. Results that are integers or conditions
have no gradient, and most of them on purpose; one that a float of its own recurrence reads is a spike.
"""

from __future__ import annotations

from collections.abc import Container

from opgen.diagnostics.model import Diagnostic, Severity, Span
from opgen.diff.adjoint import differentiable_inputs
from opgen.diff.partials import partials, value_reads
from opgen.ir.operator import Operator
from opgen.ir.program import Compute, Kind, Program, Recurrence, definitions, statement_scalars
from opgen.ir.scalar import ZERO, Apply, Scalar, reads, walk

_SLOPES = (
    "or give a step a slope, by a local function with a derivative of its own:"
    ' `functions: {step(v): {value: "where(v > 0, 1, 0)", derivative: "1/(1 + abs(v))**2"}}`',
    "or straight through, `x + detach(round(x) - x)`, or by `backward`",
)


def flat(operator: Operator, described: Container[str]) -> tuple[Diagnostic, ...]:
    """A warning, where all gradients are 0. `described`: results of which the spec states what they hold."""
    programs = [v.program for v in operator.variants]
    if not programs or any(_is_sloped(p) or _says_so(p) for p in programs):
        return ()
    found = [where for p in programs if (where := _end(p, described)) is not None]
    if not found:
        return ()
    name, kind, span = found[0]
    message = f"the gradient of `{name}` is 0 everywhere"
    own = "differentiable: false" if kind is Kind.FLOAT else f"dtype: {kind.value}"
    hints = (f"say so: `outputs: {{{name}: {{{own}}}}}`", *_SLOPES)
    label = "depends on inputs by steps and orders only"
    return (Diagnostic("OPG254", message, span, label, hints=hints, severity=Severity.WARNING),)


def _says_so(p: Program) -> bool:
    called = {n.fn for s in p.statements for e in statement_scalars(s) for n in walk(e) if isinstance(n, Apply)}
    return "detach" in called or bool(p.override.inputs)


def _is_sloped(p: Program) -> bool:
    """Whether some result moves with some input. A recurrence moves if any of its steps does."""
    moving = set(differentiable_inputs(p))
    before = -1
    while len(moving) > before:
        before = len(moving)
        for s in definitions(p):
            bodies = (s.body,) if isinstance(s, Compute) else (s.body, s.base)
            if s.kind is Kind.FLOAT and s.target not in moving and any(_moves(e, moving, p) for e in bodies):
                moving.add(s.target)
    return any(o.value in moving and o.differentiable for o in p.outputs)


def _moves(body: Scalar, moving: set[str], p: Program) -> bool:
    wrt = [r for r in value_reads(body) if r.tensor in moving]
    return any(slope != ZERO for slope in partials(body, wrt, p.functions))


def _end(p: Program, described: Container[str]) -> tuple[str, Kind, Span | None] | None:
    """The first result that could have a gradient, and depends on an input that could have one."""
    depends = set(differentiable_inputs(p))
    spans: dict[str, Span | None] = {}
    for s in definitions(p):
        if any(r.tensor in depends for e in statement_scalars(s) for r in reads(e)):
            depends.add(s.target)
            spans[s.target] = s.span
    spikes = _spikes(p)
    ends = (
        (o.name, o.kind, spans[o.value])
        for o in p.outputs
        if o.value in spans
        and (o.differentiable if o.kind is Kind.FLOAT else o.value in spikes and o.name not in described)
    )
    return next(ends, None)


def _spikes(p: Program) -> frozenset[str]:
    """The integers and conditions of recurrences that floats of the same recurrence go on with."""
    found: set[str] = set()
    for s in p.statements:
        steps = s.steps if isinstance(s, Recurrence) else ()
        read = {r.tensor for step in steps if step.kind is Kind.FLOAT for r in value_reads(step.body)}
        found |= {step.target for step in steps if step.kind in (Kind.INT, Kind.BOOL) and step.target in read}
    return frozenset(found)
