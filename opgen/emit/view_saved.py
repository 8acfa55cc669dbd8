"""What the backward op takes of the forward op, and how little of it has to be kept.

In goes a `Surface`; out come names of inputs, outputs and residuals.
"""

from __future__ import annotations

from opgen.emit.view import Surface, formula_view
from opgen.ir.program import Compute, Program, definitions, statement_reads
from opgen.ir.scalar import ZERO

_READERS = ("backward", "second", "backward_tangent")


def saved_names(s: Surface) -> tuple[str, ...]:
    """What the backward op takes beside cotangents: all that first and second order read or test, in order."""
    if not s.active:
        return ()
    read = {t.name for _, p in s.programs("backward") for t in p.inputs}
    for which in _READERS:
        formula = formula_view(s, which, "")
        read |= set(formula.arguments) if formula is not None else set()
    return tuple(n for n in (*s.inputs, *s.output_names, *s.residuals) if n in read)


def sized_names(s: Surface) -> tuple[str, ...]:
    """Saved inputs of which only sizes are read, at every order: of these no tensor needs to be kept.

    A gradient of the gradient that is not zero has to find its way to the input, so that such an input is kept.
    """
    if s.operator.elsewhere is not None:
        return ()
    needed = {n for which in _READERS for _, p in s.programs(which) for n in _values_read(p)}
    needed |= {o.of for _, p in s.programs("second") for o in p.outputs if not _is_zero(p, o.value)}
    return tuple(n for n in saved_names(s) if n in s.wrt and n not in needed)


def _values_read(p: Program) -> set[str]:
    """The tensors of which a program reads elements or returns them."""
    read = {r.tensor for d in definitions(p) for r in statement_reads(d)}
    return read | {o.value for o in p.outputs}


def _is_zero(p: Program, name: str) -> bool:
    return any(isinstance(d, Compute) and d.target == name and d.body == ZERO for d in definitions(p))
