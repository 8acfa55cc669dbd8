"""What the backward op takes of the forward op, and how little of it has to be kept.

In goes a `Surface`; out come names of inputs, outputs and residuals.
"""

from __future__ import annotations

from opgen.code.layout import listed_lines
from opgen.ir.program import Compute, Kind, Program, Role, Tensor, definitions, statement_reads
from opgen.ir.scalar import ZERO
from opgen.opt.derive import Derived
from opgen.package.view import Surface, formula_view
from opgen.torch.conditions import Switches, condition

_READERS = ("backward", "second", "backward_tangent", "through_sums")


def saved_names(s: Surface) -> tuple[str, ...]:
    """What the backward op takes beside cotangents: all that first and second order read or test, in order."""
    if not s.active:
        return ()
    read = {t.name for _, p in s.programs("backward") for t in p.inputs} | (set(s.inputs) if s.by_torch else set())
    for which in _READERS:
        formula = formula_view(s, which, "")
        read |= set(formula.arguments) if formula is not None else set()
    return tuple(n for n in (*s.inputs, *s.output_names, *s.residuals) if n in read)


def read_lines(s: Surface) -> tuple[str, ...]:
    """The body of a function that says of what `saved_names` lists more than sizes is read, at every order.

    A gradient of the gradient that is not zero has to find its way, so that what it is of is kept. Empty: all is read.
    """
    names = saved_names(s)
    if s.operator.elsewhere is not None or s.by_torch or not names:
        return ()
    every = frozenset(range(len(s.derived)))
    switches = Switches.of([d.variant.conditions for d in s.derived], {}, s.operator.pairs)
    floats = {t.name for t in s.operator.inputs if t.kind is Kind.FLOAT}
    floats |= {o.name for o in s.outputs if o.kind is Kind.FLOAT}
    texts: list[str] = []
    for n in names:
        members = frozenset(i for i in every if n not in floats or n in _needed(s.derived[i]))
        texts.append(str(bool(members)) if members in (every, frozenset()) else condition(members, every, switches))
    if all(t == "True" for t in texts):
        return ()
    return tuple(listed_lines("return ", texts, "", 4)) if len(texts) > 1 else (f"return ({texts[0]},)",)


def held(d: Derived) -> tuple[list[Tensor], list[Tensor]]:
    """What backward takes of the forward pass: tensors that are kept, and those of which sizes are."""
    taken = [] if d.backward is None else [t for t in d.backward.inputs if t.role is not Role.COTANGENT]
    if d.gradient is None:  # what another library computes
        return taken, []
    needed = _needed(d)
    sized = [t for t in taken if t.kind is Kind.FLOAT and t.name not in needed]
    return [t for t in taken if t not in sized], sized


def _needed(d: Derived) -> set[str]:
    """What the programs of a variant read or test the elements of, or have a gradient for that is not zero."""
    needed = {n for which in _READERS for p in [getattr(d, which)] if p is not None for n in _values_read(p)}
    if d.second is not None:
        needed |= {o.of for o in d.second.outputs if not _is_zero(d.second, o.value)}
    return needed


def _values_read(p: Program) -> set[str]:
    """The arguments of which a program reads elements or returns them."""
    read = {r.tensor for d in definitions(p) for r in statement_reads(d)} | {o.value for o in p.outputs}
    return {t.name for t in p.inputs if t.name in read}


def _is_zero(p: Program, name: str) -> bool:
    return any(isinstance(d, Compute) and d.target == name and d.body == ZERO for d in definitions(p))
