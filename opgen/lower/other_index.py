"""How far the indices of a statement run, and what is read with another one of them that runs as far."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from opgen.diagnostics.model import Span
from opgen.ir.operator import Variant
from opgen.ir.polynomial import polynomial
from opgen.ir.program import Axis, parts
from opgen.ir.scalar import Dim, Param, Scalar
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Reduction
from opgen.lang.unparse import respelled
from opgen.lang.walk import nodes
from opgen.lower.multiples import Linear


def extents(variants: Sequence[Variant], a: Assign) -> dict[str, Scalar]:
    """How far each index of a statement runs that is bound there once, where that is the same in all variants."""
    once = [b.name for b in _binders(a)]
    found: dict[str, set[Scalar]] = {}
    for s in (s for v in variants for s in parts(v.program.statements)):
        if s.span is not None and _holds(a.span, s.span):
            for axis in (*s.axes, *s.loops):
                if isinstance(axis, Axis) and once.count(axis.name) == 1:
                    found.setdefault(axis.name, set()).add(axis.extent)
    return {name: sizes.pop() for name, sizes in found.items() if len(sizes) == 1}


def ends(a: Assign, lengths: Mapping[str, Scalar]) -> dict[str, Linear]:
    """The extents of indices as sums of sizes, where a statement assigns at the indices themselves."""
    if not all(isinstance(i, Binder | Dots) for i in a.target.items or ()):
        return {}
    of = {name: _sum(size, a.span) for name, size in lengths.items()}
    return {name: size for name, size in of.items() if size is not None}


def elsewhere(a: Assign, e: Expr, lengths: Mapping[str, Scalar]) -> str:
    """What is read with another index in place of its own, if there is just one that is bound there and runs as far."""
    if not isinstance(e, Access):
        return ""
    around = (r for r in nodes(a.value) if isinstance(r, Reduction) and _holds(r.span, e.span))
    bound = {
        b.name for b in (*(a.target.items or ()), *(b for r in around for b in r.binders)) if isinstance(b, Binder)
    }
    others = sorted(n for n in bound & {*lengths} if not any(i == Name(n, e.span) for i in e.items))
    found = [
        respelled(e, (i, other))
        for i in e.items if isinstance(i, Name) and i.name in lengths
        for other in others if lengths[other] == lengths[i.name]
    ]  # fmt: skip
    return found[0] if len(found) == 1 else ""


def _binders(a: Assign) -> Iterator[Binder]:
    """The indices that a statement binds, with those of its reductions."""
    inner = (b for r in nodes(a.value) if isinstance(r, Reduction) for b in r.binders)
    return (b for b in (*(a.target.items or ()), *inner) if isinstance(b, Binder))


def _holds(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _sum(size: Scalar, span: Span) -> Linear | None:
    """An extent as a sum of multiples of dims and params; None where it is something else."""
    found: dict[Expr | None, Fraction] = {}
    for m, factor in polynomial(size).terms:
        match m:
            case ():
                found[None] = Fraction(factor)
            case (Dim(name),) | (Param(name, None),):
                found[Name(name, span)] = Fraction(factor)
            case _:
                return None
    return found
