"""The bodies of the checks and of the fake kernels of an operator.

In goes a `Surface`; out come lines of Python. The real kernels run the same checks, so that a wrong call is refused
with the same words everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from opgen.code.layout import quoted, tupled
from opgen.code.python_text import python_text
from opgen.ir.declared import Domain, Multiple
from opgen.ir.polynomial import polynomial
from opgen.ir.program import Argument, Axis, DimSource, Kind, Program
from opgen.ir.ranges import derived_sizes, divisors, facts_of, is_nonnegative, loops_in, positive_params
from opgen.ir.scalar import Dim, Param, Scalar
from opgen.package.shapes import Sizes, check_lines, dims_in, layout_text, local, origin_of, size_lines
from opgen.package.view import Surface
from opgen.package.view_domains import read_for_sure
from opgen.package.view_params import (
    CHECK,
    checked_params,
    domain_lines,
    holds,
    needs_a_call,
    param_checks,
    size_text,
    spelled,
    told_numbers,
)
from opgen.torch.conditions import Switches, chain, told_by
from opgen.torch.functions import MASK


def check_body(s: Surface) -> tuple[str, ...]:
    """Lines that raise unless the operands have the declared shapes and the params are in their domains."""
    programs = [p for _, p in s.programs("forward")]
    needed = [n for p in programs for n in _counted(s, p)]
    lines = check_lines(s.name, s.operator, needed)
    if param_checks(s):
        lines.append(f"{CHECK}({', '.join(a.name for a in checked_params(s))})")
    return (*lines, *branched(s, [_size_lines(s, p) for p in programs], returns=False))


def _counted(s: Surface, p: Program) -> tuple[str, ...]:
    """The dims of inputs that the checks of extents and of the domains of params are made of."""
    dims = [Dim(n) for a, d in _limits(s, p) for n in dims_in(d.holds)]
    dims += [Dim(n) for m in _multiples(s, p) for n in (m.dim, *dims_in(m.by))]
    return tuple(n for e in (*dims, *_sized(p)) for n in _sources(p, e))


def _limits(s: Surface, p: Program) -> list[tuple[Argument, Domain]]:
    """The params with their domains; without those that mention a dim that a variant has not."""
    known = {d.name for d in p.dims}
    found = [(a, d) for a in s.operator.stated if (d := s.operator.domain(a.name)) is not None]
    return [(a, d) for a, d in found if known.issuperset(dims_in(d.holds))]


def _limit_lines(s: Surface, p: Program, sizes: Sizes, *, sized: bool) -> list[str]:
    """Lines that raise where a param is out of its domain; of those domains that are `sized`, or of the others."""
    lines: list[str] = []
    for a, domain in _limits(s, p):
        if bool(dims_in(domain.holds)) != sized or not needs_a_call(s, a):
            continue
        text = holds(a, domain.holds, sizes)
        raised = [] if text is None else domain_lines(s, a, domain, text, sizes)
        lines += [*sizes.lines, *raised]
        sizes.lines.clear()
    return lines


def counted_dims(s: Surface, p: Program) -> tuple[str, ...]:
    """The dims whose size the domain of an input or param depends on."""
    found = [n for d in s.operator.domains for n in dims_in(d.holds)]
    known = [d.name for d in p.dims]
    return tuple(d for n in found if n in known for d in (n, *_sources(p, Dim(n))))


def _unproven_extents(p: Program) -> tuple[Scalar, ...]:
    """What a variant counts up to and might be negative, for all that its sizes and domains tell."""
    dims = derived_sizes(p)
    extents: dict[Scalar, Scalar] = {Dim(n): value for n, value in dims.items() if value is not None}
    for loops in (loops for st in p.statements for loops in loops_in(st)):
        extents |= {a.extent: a.extent for a in loops if isinstance(a, Axis) and not isinstance(a.extent, Dim)}
    facts = facts_of((), dims, positive=positive_params(p))
    return tuple(e for e, value in extents.items() if not is_nonnegative(polynomial(value), facts))


def _derived_in_inputs(p: Program) -> tuple[Dim, ...]:
    """Derived dims that an input has, and has to have the size of."""
    derived = {n for n, value in derived_sizes(p).items() if value is not None}
    found = (d for t in p.inputs for d in t.shape if isinstance(d, Dim) and d.name in derived)
    return tuple(dict.fromkeys(found))


def _sources(p: Program, e: Scalar) -> tuple[str, ...]:
    """The dims of inputs that an extent is computed from."""
    values = derived_sizes(p)
    found: dict[str, None] = {}
    for name in dims_in(e):
        value = values.get(name)
        found |= dict.fromkeys([name] if value is None else _sources(p, value))
    return tuple(found)


def _divisors(p: Program) -> tuple[Scalar, ...]:
    """What sizes are divided by and might be 0, for all that its sizes and domains tell."""
    sizes = [value for value in derived_sizes(p).values() if value is not None]
    sizes += [a.extent for st in p.statements for loops in loops_in(st) for a in loops if isinstance(a, Axis)]
    return divisors(p, sizes)


def _sized(p: Program) -> tuple[Scalar, ...]:
    """Every size that a variant has to look at before it runs."""
    return (*_unproven_extents(p), *_derived_in_inputs(p), *_divisors(p))


def _size_lines(s: Surface, p: Program) -> tuple[str, ...]:
    """Lines that raise where an index would run to a negative number, or an input has not the size derived for it."""
    unproven, derived = _unproven_extents(p), _derived_in_inputs(p)
    always = [t for t in s.operator.inputs if t.name not in s.operator.optional]
    given = {d.name for t in always for d in t.shape if isinstance(d, Dim)}
    sizes = Sizes(p, known={name: local(name) for name in _counted(s, p) if name in given})
    lines = _limit_lines(s, p, sizes, sized=False)  # before sizes are computed of params
    for e in _divisors(p):
        text, known = sizes.number(e), told_numbers(s, e, sizes, *_alone(e), always=True)
        lines += sizes.lines
        sizes.lines.clear()
        lines += [f"if {text} == 0:", f"    raise divisor_error({quoted(s.name)}, {quoted(size_text(s, e))}{known})"]
    lines += _multiple_lines(s, p, sizes)
    lines += _limit_lines(s, p, sizes, sized=True)
    for e in (*unproven, *derived):
        text, known = sizes.number(e), told_numbers(s, _opened(p, e), sizes, *_alone(e), always=True)
        lines += sizes.lines
        sizes.lines.clear()
        if e in unproven:
            lines += [
                f"if {text} < 0:",
                f"    raise extent_error({quoted(s.name)}, {quoted(_extent_text(s, p, e))}, {text}{known})",
            ]
    for d in derived:
        for t in (t for t in p.inputs if d in t.shape):
            shown = origin_of(d.name, derived_sizes(p).get(d.name), always)
            known = "" if shown != d.name else told_numbers(s, _opened(p, d), sizes).removeprefix(", ")
            lines += size_lines(s.name, t, d, sizes.number(d), _extent_text(s, p, d) if known else shown, known)
    return tuple(lines)


def _multiple_lines(s: Surface, p: Program, sizes: Sizes) -> list[str]:
    """Lines that raise where a dim of an input is no multiple of what it is said to be one of."""
    lines: list[str] = []
    for m in _multiples(s, p):
        size, by, known = sizes.size(m.dim), sizes.number(m.by), told_numbers(s, m.by, sizes, always=True)
        lines += sizes.lines
        sizes.lines.clear()
        t = next(t for t in s.operator.operands if Dim(m.dim) in t.shape)
        told = [
            quoted(x) for x in (s.name, m.text, size_text(s, m.by), f"{s.operator.shown(t.name)}{layout_text(t.shape)}")
        ]
        by = by if by.isalnum() else f"({by})"
        lines += [f"if {size} % {by}:", f"    raise multiple_error({', '.join(told)}, {size}{known})"]
    return lines


def _multiples(s: Surface, p: Program) -> tuple[Multiple, ...]:
    """The multiples whose dims a variant has."""
    known = {d.name for d in p.dims}
    return tuple(m for m in s.operator.multiples if known.issuperset((m.dim, *dims_in(m.by))))


def _opened(p: Program, e: Scalar) -> Scalar:
    """A derived dim as what it is computed from."""
    value = derived_sizes(p).get(e.name) if isinstance(e, Dim) else None
    return e if value is None else value


def _alone(e: Scalar) -> tuple[str, ...]:
    """The name of what is one dim or param, whose value is told anyway."""
    return (e.name,) if isinstance(e, Dim | Param) else ()


def _extent_text(s: Surface, p: Program, e: Scalar) -> str:
    """A size, and how it is computed."""
    value = derived_sizes(p).get(e.name) if isinstance(e, Dim) else None
    return size_text(s, e) if value is None else f"{size_text(s, e)} = {size_text(s, value)}"


def value_checks(s: Surface) -> tuple[str, ...]:
    """Lines that raise where an integer input is out of its domain; they read values, so only real kernels run them."""
    p = _from_required(s, s.programs("forward")[0][1])
    sizes = Sizes(p)
    lines: list[str] = []
    for t in s.operator.inputs:
        domain = s.operator.domain(t.name) if t.kind is Kind.INT else None
        if domain is None:
            continue
        optional = _optional(s, p, t.name, domain.holds)
        own = Sizes(p, known=dict(sizes.known)) if optional else sizes
        text = python_text(domain.holds, lambda n, own=own: spelled(n, own), elementwise=True)  # type: ignore[misc]
        known = told_numbers(s, domain.holds, own, t.name, always=True)
        check = [*own.lines]
        own.lines.clear()
        if text is not None:
            named = f"{quoted(s.name)}, {quoted(s.operator.shown(t.name))}, {t.name}"
            call = f"check_range({named}, lambda {t.name}: {text}, {quoted(domain.text)}{known})"
            read = read_for_sure(s, t.name, domain)
            asked = f"{t.name}, read={tupled([*read])}" if read else t.name
            check += [f"if checks_values({asked}):", f"    {call}"]
        if optional:
            check = [f"if {' and '.join(f'{n} is not None' for n in optional)}:", *(f"    {line}" for line in check)]
        lines += check
    return tuple(lines)


def _from_required(s: Surface, p: Program) -> Program:
    """The program with dims taken from inputs that are always there, where one has them."""
    there = [t for t in p.inputs if t.name not in s.operator.optional]

    def source(d: DimSource) -> DimSource:
        t = next((t for t in there if Dim(d.name) in t.shape), None)
        return d if t is None or d.tensor is None else DimSource(d.name, t.name, t.shape.index(Dim(d.name)))

    return replace(p, dims=tuple(map(source, p.dims)))


def _optional(s: Surface, p: Program, name: str, e: Scalar) -> tuple[str, ...]:
    """The optional inputs that have to be there to look whether one is in its domain."""
    tensors = {d.name: d.tensor for d in p.dims}
    dims = _sources(p, e) if tensors.keys() >= {*dims_in(e)} else ()
    found = (name, *(t for d in dims if (t := tensors[d]) is not None))
    return tuple(n for n in dict.fromkeys(found) if n in s.operator.optional)


# --- variants --------------------------------------------------------------------------------------------------------


def branched(
    s: Surface, branches: Sequence[tuple[str, ...]], *, returns: bool, told: Mapping[str, str] | None = None
) -> list[str]:
    """Lines that differ between variants; where they all `return`, one branch needs no `else` after another.

    `told` has the argument to ask whether an optional input is there, where that is not the input itself.
    """
    kinds = list(dict.fromkeys(branches))
    if len(kinds) == 1:
        return list(kinds[0])
    every = frozenset(range(len(branches)))
    groups = [frozenset(i for i in every if branches[i] == k) for k in kinds]
    switches = Switches.of([d.variant.conditions for d in s.derived], dict(told or {}))
    out: list[str] = []
    for head, body in zip(chain(groups, every, switches), kinds, strict=True):
        if returns and head == "else:":
            out += body
        elif body or head != "else:":
            test = "if" + head.removeprefix("el").removeprefix("if") if returns else head
            out += [test, *(f"    {line}" for line in body or ("pass",))]
    return out


def backward_lines(
    s: Surface, arguments: Sequence[str], branches: Sequence[tuple[str, ...]], *, returns: bool
) -> list[str]:
    """The branches of all variants, chosen by the arguments of the backward op."""
    told = told_by([(d.variant, d.backward) for d in s.derived if d.backward is not None], s.operator.outputs)
    lines = branched(s, branches, returns=returns, told=told)
    for name in s.operator.optional:  # an input that the gradients do not take is there if its own is needed
        if name not in arguments and name in s.wrt:
            mask = needed(s, name)
            there, absent = rf"\b{name} is not None", rf"\b{name} is None"
            lines = [re.sub(absent, f"not {mask}", re.sub(there, mask, line)) for line in lines]
    return lines


def needed(s: Surface, name: str) -> str:
    """Is the gradient of an input asked for?"""
    return f"{MASK}[{s.inputs.index(name)}]"
