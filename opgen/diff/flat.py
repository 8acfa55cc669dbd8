"""Operators, or parameters, whose gradient is 0 everywhere, since every value passes a step function or an order.

In: an operator. Out: warnings: one `OPG254`, where no float input reaches a float result along a slope in any variant,
or an `OPG278` for each parameter that does not. A spec that says so, by `differentiable: false` of what is no parameter
or by a result that is `detach(…)` as a whole, means what it says; a `detach` further inside that leaves no gradient at
all is told. Results that are integers or conditions have no gradient, and most of them on purpose; one that a float of
its own recurrence reads is a spike.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from opgen.diagnostics.model import Diagnostic, Severity, Span
from opgen.diagnostics.suggest import listed
from opgen.diff.adjoint import differentiable_inputs
from opgen.diff.partials import partials, value_reads, with_partials
from opgen.ir import text
from opgen.ir.operator import Operator, Variant, surface
from opgen.ir.program import Kind, Program, Recurrence, bodies, definitions, statement_reads, statement_scalars
from opgen.ir.scalar import ZERO, Apply, Scalar, reads, transform, walk

_COMPARED = ("lt", "le", "gt", "ge")
_SLOPES = (
    "or give a step a slope, by a local function with a derivative of its own:"
    ' `functions: {step(v): {value: "where(v > 0, 1, 0)", derivative: "1/(1 + abs(v))**2"}}`',
    "or straight through, `x + detach(round(x) - x)`, or by `backward`",
)


def flat(operator: Operator, described: Container[str]) -> tuple[Diagnostic, ...]:
    """A warning, where all gradients are 0. `described`: results of which the spec states what they hold."""
    programs = _programs(operator)
    if not programs or any(_is_sloped(p, differentiable_inputs(p)) or p.override.inputs for p in programs):
        return ()
    if any(map(_says_so, programs)):
        return _cut(programs, described)
    found = [where for p in programs if (where := _end(p, described)) is not None]
    if not found:
        return ()
    name, kind, span = found[0]
    message = f"the gradient of `{name}` is 0 everywhere"
    own = "differentiable: false" if kind is Kind.FLOAT else f"dtype: {kind.value}"
    hints = (f"say so: `outputs: {{{name}: {{{own}}}}}`", *_SLOPES)
    label = "depends on inputs by steps and orders only"
    return (Diagnostic("OPG254", message, span, label, hints=hints, severity=Severity.WARNING),)


def _programs(operator: Operator) -> list[Program]:
    """The programs of all variants, with a derivative for every function that they call."""
    return [with_partials(v.program) for v in operator.variants]


def _is_differentiable(v: Variant) -> bool:
    """Whether every function that it calls has a derivative: no gradient flows through one of others that has none."""
    return all(f.differentiable for f in v.program.functions)


def _cut(programs: Sequence[Program], described: Container[str]) -> tuple[Diagnostic, ...]:
    """A warning, where all gradients are 0 since every input that could have one is read in `detach`."""
    ends = [_end(p, described) for p in programs if _is_sloped(p, differentiable_inputs(p), through=True)]
    ended = [e for e in ends if e is not None and e[1] is Kind.FLOAT and e[0] not in described]
    if not ended or len(ended) < len(programs) or any(map(_is_detached, programs)):
        return ()
    name, _, span = ended[0]
    found = {n: None for p in programs for n in differentiable_inputs(p) if _is_sloped(p, (n,), through=True)}
    read = listed(found, "and")
    hints = (
        f"to train through {read}, leave `detach` away there, and put it around what is to stay as it is",
        f"or say so: `outputs: {{{name}: {{differentiable: false}}}}`",
    )
    message, label = f"the gradient of `{name}` is 0 everywhere", "has no slope outside of `detach`"
    return (Diagnostic("OPG254", message, span, label, hints=hints, severity=Severity.WARNING),)


def _is_detached(p: Program) -> bool:
    """Whether some result is `detach(…)` as a whole."""
    made = {s.target for s in definitions(p) for e in bodies(s) if isinstance(e, Apply) and e.fn == "detach"}
    return any(o.value in made for o in p.outputs)


def _without_detach(e: Scalar) -> Scalar:
    return transform(e, lambda n: n.args[0] if isinstance(n, Apply) and n.fn == "detach" else n)


def untrained(operator: Operator, parameters: Mapping[str, Span]) -> Iterator[Diagnostic]:
    """A warning for each parameter of a module that conditions and roundings alone read, or that says so itself."""
    frozen = [
        t.name
        for t in surface(operator.pairs, operator.inputs)
        if t.kind in (Kind.FLOAT, Kind.COMPLEX) and not t.differentiable
    ]
    for name, place in parameters.items():
        if name in frozen:
            message = f"nothing trains `{name}`: it says `differentiable: false`"
            hint = "leave that out, or keep it under `buffers`"
            yield Diagnostic("OPG278", message, place, "no parameter", hints=(hint,), severity=Severity.WARNING)
    programs = _programs(operator)
    if any(map(_says_so, programs)) or not all(map(_is_differentiable, operator.variants)):
        return
    for name, place in parameters.items():
        read = any(r.tensor == name for p in programs for s in p.statements for r in statement_reads(s))
        own = any(name in differentiable_inputs(p) for p in programs)
        if read and own and not any(_is_sloped(p, (name,)) for p in programs):
            step = next((f" such as `{e}`" for p in programs for e in _smooth(p, name)), "")
            hint = f"conditions and roundings have no slope: weigh by a smooth step{step}, or keep it under `buffers`"
            message = f"nothing trains `{name}`: its gradient is 0 everywhere"
            yield Diagnostic("OPG278", message, place, "no parameter", hints=(hint,), severity=Severity.WARNING)


def _smooth(p: Program, name: str) -> Iterator[str]:
    """The comparisons of inputs with a parameter, as sigmoids of what they compare."""
    inputs = {t.name for t in p.inputs}
    for n in (n for s in p.statements for e in statement_scalars(s) for n in walk(e)):
        if isinstance(n, Apply) and n.fn in _COMPARED:
            low, high = n.args if n.fn in ("lt", "le") else n.args[::-1]
            read = [r.tensor for r in reads(n)]
            if name in read and inputs.issuperset(read):
                difference = text.scalar(Apply("sub", (high, low))).replace("[]", "")
                yield f"sigmoid({difference})"


def _says_so(p: Program) -> bool:
    called = {n.fn for s in p.statements for e in statement_scalars(s) for n in walk(e) if isinstance(n, Apply)}
    return "detach" in called or bool(p.override.inputs)


def _is_sloped(p: Program, inputs: Iterable[str], *, through: bool = False) -> bool:
    """Whether some result moves with some of the inputs. A recurrence moves if any of its steps does.

    `through`: as if nothing were detached.
    """
    moving = set(inputs)
    before = -1
    while len(moving) > before:
        before = len(moving)
        for s in definitions(p):
            if (
                s.kind is Kind.FLOAT
                and s.target not in moving
                and any(_moves(_without_detach(e) if through else e, moving, p) for e in bodies(s))
            ):
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
