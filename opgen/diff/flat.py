"""Operators whose gradient is 0 everywhere, because every value passes a step function or an order: a warning.

In: an operator. Out: one `OPG254`, where no float input reaches a float result along a slope in any variant. A spec
that says so, by `detach` or by `differentiable: false`, means what it says.
"""

from __future__ import annotations

from opgen.diagnostics.model import Diagnostic, Severity, Span
from opgen.diff.adjoint import differentiable_inputs
from opgen.diff.partials import partials, value_reads
from opgen.ir.operator import Operator
from opgen.ir.program import Compute, Kind, Program, definitions, statement_scalars
from opgen.ir.scalar import ZERO, Apply, Scalar, reads, walk


def flat(operator: Operator) -> tuple[Diagnostic, ...]:
    """A warning, where all gradients are 0."""
    programs = [v.program for v in operator.variants]
    if not programs or any(_is_sloped(p) or _says_so(p) for p in programs):
        return ()
    found = [where for p in programs if (where := _end(p)) is not None]
    if not found:
        return ()
    name, span = found[0]
    message = f"the gradient of `{name}` is 0 everywhere"
    hints = (
        f"say so: `outputs: {{{name}: {{differentiable: false}}}}`",
        "or give a step a slope: by `backward`, by a local function with a stated derivative, or straight through:"
        " `x + detach(round(x) - x)`",
    )
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


def _end(p: Program) -> tuple[str, Span | None] | None:
    """The first float result that could have a gradient, and depends on an input that could have one."""
    depends = set(differentiable_inputs(p))
    spans: dict[str, Span | None] = {}
    for s in definitions(p):
        if any(r.tensor in depends for e in statement_scalars(s) for r in reads(e)):
            depends.add(s.target)
            spans[s.target] = s.span
    ends = (
        (o.name, spans[o.value]) for o in p.outputs if o.kind is Kind.FLOAT and o.differentiable and o.value in spans
    )
    return next(ends, None)
