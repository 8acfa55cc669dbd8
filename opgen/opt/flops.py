"""How many floating-point operations a program takes.

In goes a program; out come amounts of work, expressions of its sizes, each with the results that it is for. As torch
counts: where there are matrix products or convolutions, they alone count, two operations for every product that is
added up. Elsewhere every arithmetic operation and every function counts one for each point at which it is written;
signs, comparisons, choices and what is known without reading a tensor count nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from opgen.ir.functions import FUNCTIONS
from opgen.ir.names import Names
from opgen.ir.program import (
    Compute,
    Kind,
    Loop,
    Program,
    Recurrence,
    Scatter,
    Statement,
    names,
    statement_reads,
    targets,
)
from opgen.ir.scalar import BATCH, Apply, Batch, Cast, Dim, Scalar, reads
from opgen.opt.convolution import Convolution, Known, Part, convolution
from opgen.opt.expand import expand, expandable
from opgen.opt.products import factors_of_product

_FREE = ("neg", "where")


@dataclass(frozen=True, slots=True)
class Work:
    """So many operations for every point of these extents, and the outputs that need them, none for all."""

    each: int
    extents: tuple[Scalar, ...]
    outputs: tuple[int, ...]


def work(p: Program, *, apart: bool) -> tuple[Work, ...]:
    """The work of a program, perhaps apart for its outputs; what has the same extents is one."""
    wanted = _wanted(p) if apart else {}
    taken, known = Names(names(p)), Known.of(p)
    products: list[Work] = []
    others: list[Work] = []
    for s in p.statements:
        for part in _core(s, taken, p):
            outputs = wanted.get(targets(s)[0], ())
            form = convolution(part, known) if isinstance(part, Compute) else None
            factors = factors_of_product(part) if isinstance(part, Compute) else 0
            if isinstance(part, Compute) and form is not None:
                products.append(Work(2, _taps(part, form, known), outputs))
            elif factors:
                products.append(Work(factors, _extents(part.loops), outputs))
            else:
                others.append(Work(_operations_of(part), _extents(part.loops), outputs))
    return _merged(products) or _merged(others)


def _extents(loops: Sequence[Loop]) -> tuple[Scalar, ...]:
    return tuple(_size(BATCH if isinstance(a, Batch) else a.extent) for a in loops)


def _size(extent: Scalar | Batch) -> Scalar:
    return Dim("...") if isinstance(extent, Batch) else extent


def _taps(s: Compute, form: Convolution, known: Known) -> tuple[Scalar, ...]:
    """The weight for every place of the output, whichever tensor the statement computes from the others."""
    shapes = {part: known.shapes[r.tensor] for part, r in form.reads.items()} | {form.part: s.shape}
    out = shapes[Part.OUTPUT]
    channel = len(out) - len(form.ties) - 1
    places = (e for k, e in enumerate(out) if k != channel)
    return tuple(_size(e) for e in (*shapes[Part.WEIGHT], *places))


def _merged(found: Sequence[Work]) -> tuple[Work, ...]:
    out: dict[tuple[object, ...], Work] = {}
    for w in found:
        key = (w.outputs, *sorted(map(repr, w.extents)))
        out[key] = replace(out[key], each=out[key].each + w.each) if key in out else w
    return tuple(w for w in out.values() if w.each)


def _wanted(p: Program) -> dict[str, tuple[int, ...]]:
    """The outputs that depend on each statement."""
    found: dict[str, tuple[int, ...]] = {}
    for k, o in enumerate(p.outputs):
        found[o.value] = (*found.get(o.value, ()), k)
    for s in reversed(p.statements):
        mine = tuple(sorted({k for name in targets(s) for k in found.get(name, ())}))
        for name in (*targets(s), *(r.tensor for r in statement_reads(s))):
            found[name] = tuple(sorted({*found.get(name, ()), *mine}))
    return {n: () if len(mine) == len(p.outputs) else mine for n, mine in found.items()}


def _core(s: Statement, taken: Names, p: Program) -> Iterator[Compute | Scatter]:
    """The maps, core reductions and scatters that a statement amounts to."""
    for part in s.steps if isinstance(s, Recurrence) else (s,):
        if isinstance(part, Scatter) or part.op is None or not expandable(part.op):
            yield part
            continue
        for made in expand((part,), taken, p):
            yield from made.steps if isinstance(made, Recurrence) else (made,)


def _operations_of(s: Compute | Scatter) -> int:
    """The operations at a point of a statement; those of integers and conditions do not count."""
    if s.kind is not Kind.FLOAT:
        return 0
    return _operations(s.body) + (isinstance(s, Scatter) or s.op is not None)


def _operations(e: Scalar) -> int:
    match e:
        case Cast(arg):
            return _operations(arg)
        case Apply(fn, args) if reads(e):
            own = max(len(args) - 1, 1)
            if fn in _FREE or (fn in FUNCTIONS and FUNCTIONS[fn].result == "bool"):
                own = 0
            return own + sum(map(_operations, args))
        case _:
            return 0
