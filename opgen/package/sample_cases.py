"""Which calls the generated tests make: one for each variant, one with other params, and those that the spec states.

In: an operator and what was derived of each variant. Out: `SampleCase`s with inputs and results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from opgen.diagnostics.model import Diagnostic, Severity, Span
from opgen.diagnostics.suggest import counted
from opgen.ir.declared import StatedCase
from opgen.ir.operator import Operator, Variant
from opgen.ir.program import Chosen, Given, Program, statement_reads, statement_scalars, targets
from opgen.ir.scalar import Apply, Dim, walk
from opgen.opt.derive import Derived
from opgen.package.sample_numbers import default_value
from opgen.package.sample_values import finite, is_rounded, states_gradients
from opgen.package.samples import Chooser, SampleCase
from opgen.package.view_positions import Demand, demands

_LARGER = (16, 32, 64)


def sample_cases(operator: Operator, derived: Sequence[Derived]) -> tuple[SampleCase, ...]:
    """A case for every variant, one with params away from their defaults where there are any, and those of the spec.

    A variant for which no sizes, params and values are found that go together has no case.
    """
    stated = states_gradients(operator) or holds_constant(derived) or is_rounded(operator)
    cases = [Chooser(operator, d, stated=stated).case() for d in derived]
    if any(not a.choices and a.type != "bool" and not a.required for a in operator.params):
        moved = Chooser(operator, derived[0], stated=stated).case(moved=True)
        if moved is not None and all(map(finite, moved.expected)):  # others say nothing
            cases.append(moved)
    if _decides(operator):
        cases.append(Chooser(operator, derived[0], stated=stated).other())
    for number, case in enumerate(operator.tests.cases, 1):
        fitting = next((d for d in derived if _fits(case, d.variant, operator)), None)
        if fitting is not None:
            cases.append(Chooser(operator, fitting, stated=stated, case=case).case(name=f"case {number}"))
    return tuple(c for c in cases if c is not None)


def untested(
    operator: Operator, derived: Sequence[Derived], cases: Sequence[SampleCase], place: Span
) -> Iterator[Diagnostic]:
    """Warnings at cases of the spec that are no calls, and one at the name of an operator of which nothing tests a
    variant."""
    made = [c.stated for c in cases]
    for case in operator.tests.cases:
        if case not in made:
            yield _no_call(operator, derived, case)
    tested = [c.variant for c in cases]
    lacking = [d for d in derived if d.variant not in tested]
    if not lacking:
        return
    name = f"`{operator.name}`"
    what = name if len(lacking) == len(derived) else f"{counted(len(lacking), 'variant')} of {name}"
    message = f"nothing tests {what}: it can be called with none of the sizes and values that were tried"
    stated = states_gradients(operator) or holds_constant(derived) or is_rounded(operator)
    must = [*dict.fromkeys(demand for d in lacking for demand in demands(d.variant.program))]
    notes = dict.fromkeys(f"where a position is {_done(m)}, `{m.told}` must hold" for m in must)
    by_values = any(m.operands for m in must)
    hint = _by_values(operator, must) if by_values else _sizes(operator, lacking, stated=stated)
    yield Diagnostic("OPG402", message, place, hints=(hint,), notes=tuple(notes), severity=Severity.WARNING)


def _no_call(operator: Operator, derived: Sequence[Derived], case: StatedCase) -> Diagnostic:
    """The warning of a case that the operator cannot be called with; it says why where all that was tried says so."""
    why: tuple[str, ...] = ()
    if fitting := [d for d in derived if _fits(case, d.variant, operator)]:
        chooser = Chooser(operator, fitting[0], stated=False, case=case)
        chooser.case()
        why = tuple(chooser.misfits)
    told = f": {why[0]}" if len(why) == 1 else ""
    message = f"this case is left out, `{operator.name}` cannot be called so{told}"
    return Diagnostic("OPG402", message, case.place, severity=Severity.WARNING)


def _done(demand: Demand) -> str:
    return "written" if demand.written else "read"


def _by_values(operator: Operator, must: Sequence[Demand]) -> str:
    """What to do about positions that are out of range with all values that were tried."""
    operands = [t for t in operator.operands if any(t.name in m.operands for m in must)]
    told = {n.name for t in operands for n in t.shape if isinstance(n, Dim)}  # by how many values there are
    sizes = dict.fromkeys(name for m in must for name in m.sizes if name not in told)
    names = ", ".join((*(f"{name}: …" for name in sizes), *(f"{t.name}: […]" for t in operands)))
    ways = {
        "let a condition around what is read say so, or write `pad(…, 0)` there": any(not m.written for m in must),
        "leave out what is outside by `pad(…) +=` where it is written": any(m.written for m in must),
    }
    where = "; ".join(way for way, asked in ways.items() if asked)
    return f"{where}; or state values with which it holds: `tests: {{cases: [{{{names}}}]}}`"


def _sizes(operator: Operator, lacking: Sequence[Derived], *, stated: bool) -> str:
    """Sizes to state: larger ones than are tried of themselves where the operator can be called with these."""
    free = [t.shape for d in lacking for t in d.variant.program.inputs]
    dims = dict.fromkeys(n.name for shape in free for n in shape if isinstance(n, Dim))
    for size in _LARGER if len(dims) == 1 else ():
        larger = replace(operator, tests=replace(operator.tests, sizes=tuple((n, size) for n in dims)))
        if all(Chooser(larger, d, stated=stated).case() is not None for d in lacking):
            return f"state sizes that go together: `tests: {{sizes: {{{next(iter(dims))}: {size}}}}}`"
    if not dims:
        return "state params and values that go together: `tests: {cases: [{…}]}`"
    return f"state sizes that go together: `tests: {{sizes: {{{', '.join(f'{n}: …' for n in dims)}}}}}`"


def _decides(operator: Operator) -> bool:
    """Is something decided in the call that no variant stands for?"""
    switches = {c.name for v in operator.variants for c in v.conditions}
    flags = [a for a in operator.stated if a.name not in switches and not a.null and a.length is None]
    return bool(operator.fills) or any(a.type == "bool" or a.choices for a in flags)


def _fits(case: StatedCase, variant: Variant, operator: Operator) -> bool:
    """Does the case call this variant? What it leaves open is at its default, and inputs are given."""
    stated = {**dict(case.inputs), **dict(case.params)}
    defaults = {a.name: default_value(a) for a in operator.params}
    for c in variant.conditions:
        match c:
            case Given(name, present):
                if name in stated and (stated[name] is not None) != present:
                    return False
            case Chosen(name, value):
                if stated.get(name, defaults[name]) not in (value, None):
                    return False
    return True


def holds_constant(derived: Sequence[Derived]) -> bool:
    """Does a differentiable output depend on something that derivatives take for a constant?"""
    return any(_detaches(d.primal) for d in derived)


def _detaches(p: Program) -> bool:
    live = {o.value for o in p.outputs if o.differentiable}
    for s in reversed(p.statements):
        if live.isdisjoint(targets(s)):
            continue
        if any(isinstance(n, Apply) and n.fn == "detach" for e in statement_scalars(s) for n in walk(e)):
            return True
        live.update(r.tensor for r in statement_reads(s))
    return False
