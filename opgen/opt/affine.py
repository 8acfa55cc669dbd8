"""Sums of several inputs: what a gradient may be a function of in place of the inputs themselves.

In go expressions, out come the inputs that they are sums of, and the programs that lead through such a sum.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from opgen.diff.adjoint import adjoint, differentiable_inputs
from opgen.diff.algebra import signed_terms
from opgen.ir.program import Compute, Output, Override, Program, definitions, statement_reads
from opgen.ir.scalar import Apply, Batch, Const, Index, Lit, Param, Read, Scalar, add, reads, sub


def is_sum(e: Scalar, inputs: Collection[str]) -> bool:
    """Whether an expression is an affine function of two inputs or more, each read at plain indices."""
    found = _terms(e, inputs)
    return found is not None and len(found) > 1


def ordered(e: Scalar, inputs: Sequence[str]) -> tuple[Scalar, bool]:
    """A sum with its terms in the order of the inputs, constants last, and whether it is the negative of that.

    Sums that differ in the order of their terms, or in sign, are then the same.
    """
    (out, negative), *rest = sorted(signed_terms(e), key=lambda t: _first_input(t[0], inputs))
    for t, minus in rest:
        out = add(out, t) if minus is negative else sub(out, t)
    return out, negative


def _first_input(e: Scalar, inputs: Sequence[str]) -> int:
    return min((inputs.index(r.tensor) for r in reads(e)), default=len(inputs))


def _terms(e: Scalar, inputs: Collection[str]) -> dict[str, None] | None:
    """The inputs that an expression is an affine function of; None where it is not."""
    match e:
        case Lit(bool()):
            return None
        case Lit() | Param() | Const("pi"):
            return {}
        case Read(fill=None) if e.tensor in inputs and _is_plain(e):
            return {e.tensor: None}
        case Apply("add" | "sub" | "neg", args):
            found = [_terms(a, inputs) for a in args]
            return {n: None for f in found if f is not None for n in f} if None not in found else None
        case Apply("mul", args):
            found = [_terms(a, inputs) for a in args]
            varying = [f for f in found if f != {}]
            return varying[0] if len(varying) == 1 else {} if not varying else None
        case Apply("div", (a, b)) if _terms(b, inputs) == {}:
            return _terms(a, inputs)
        case _:
            return None


def _is_plain(r: Read) -> bool:
    return all(isinstance(p, Index | Batch) for p in r.at) and len(set(r.at)) == len(r.at)


def with_sums(primal: Program, forward: Program) -> Program:
    """The program with the sums that `forward` keeps among its outputs: they have tangents of their own."""
    sums = kept_sums(forward)
    known = {s.target for s in primal.statements if isinstance(s, Compute)}
    made = [s for s in _statements(forward, sums) if s.target not in known]
    return replace(primal, statements=(*primal.statements, *made), outputs=(*primal.outputs, *sums))


def through_sums(primal: Program, forward: Program) -> Program | None:
    """The gradient of inputs from that of the sums that `forward` keeps; None where there are none."""
    sums = kept_sums(forward)
    made = _statements(forward, sums)
    read = {r.tensor for s in made for r in statement_reads(s)}
    wrt = tuple(n for n in differentiable_inputs(primal) if n in read)
    if not wrt:
        return None
    alone = replace(primal, name=f"{primal.name}_kept", statements=made, outputs=sums, override=Override())
    return adjoint(alone, wrt)


def kept_sums(forward: Program) -> tuple[Output, ...]:
    """What a forward program keeps that has a gradient of its own."""
    return tuple(o for o in forward.outputs if o.kept and o.differentiable)


def batches_of_sums(forward: Program) -> dict[str, frozenset[str]]:
    """The inputs whose batch dims each of these has: also those of inputs that it has no gradient by."""
    made = {s.target: s for s in definitions(forward)}
    found = ((o.name, statement_reads(made[o.value])) for o in kept_sums(forward) if o.value in made)
    return {n: frozenset(r.tensor for r in terms if Batch() in r.at) for n, terms in found}


def _statements(forward: Program, sums: Collection[Output]) -> tuple[Compute, ...]:
    values = {o.value for o in sums}
    return tuple(s for s in forward.statements if isinstance(s, Compute) and s.target in values)
