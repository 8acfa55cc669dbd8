"""Small changes to statements that the passes in front of the torch printer make.

In go a Program or a statement, out comes an equal one: the spec's own functions written out, scatters brought to
their simplest form; and statements of their own made for parts, with names that say what is in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache

from opgen.ir.names import Names
from opgen.ir.point import read_of
from opgen.ir.polynomial import same_number
from opgen.ir.program import Axis, Compute, Kind, Loop, Plain, Program, Scatter, Statement, names
from opgen.ir.ranges import derived_sizes
from opgen.ir.scalar import (
    BATCH,
    INF,
    NEG_INF,
    Batch,
    Index,
    Read,
    Scalar,
    add,
    call,
    children,
    mul,
    rebuild,
    substitute,
)
from opgen.torch.positions import line
from opgen.torch.scope import batch_leading, loops_of


def mapped(s: Plain, f: Callable[[Scalar], Scalar]) -> Plain:
    """The statement with its body and positions changed; what a scatter adds to is left alone."""
    match s:
        case Compute():
            return replace(s, body=f(s.body))
        case Scatter():
            return replace(s, body=f(s.body), at=tuple(q if isinstance(q, Batch) else f(q) for q in s.at))


@lru_cache(maxsize=1 << 16)  # passes ask it of every part of every expression
def varies(e: Scalar) -> bool:
    """Does it depend on tensors or indices, so that it is decided per element?"""
    return isinstance(e, Read | Index) or any(map(varies, children(e)))


def open_operands(e: Scalar) -> tuple[Scalar, ...]:
    """Operands that may be named: an affine position may not, for it makes its access a view."""
    if not isinstance(e, Read):
        return children(e)
    wanted = () if e.wanted is None else (e.wanted,)
    return (*(q for q in e.at if not isinstance(q, Batch) and line(q) is None), *wanted)


def rebuilt_open(e: Scalar, f: Callable[[Scalar], Scalar]) -> Scalar:
    if not isinstance(e, Read):
        return rebuild(e, f)
    at = tuple(q if isinstance(q, Batch) or line(q) is not None else f(q) for q in e.at)
    wanted = None if e.wanted is None else f(e.wanted)
    return e if at == e.at and wanted is e.wanted else replace(e, at=at, wanted=wanted)


# --- scatters --------------------------------------------------------------------------------------------------------

_COMBINED: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "sum": add,
    "prod": mul,
    "max": lambda a, b: b if a == NEG_INF else call("max", a, b),
    "min": lambda a, b: b if a == INF else call("min", a, b),
}


def simple_scatters(p: Program) -> Program:
    """Scatters with every position a plain loop are maps; what other scatters add to becomes a number or an access."""
    fresh, dims, out = names_beside(p), derived_sizes(p), list[Statement]()
    for s in p.statements:
        if not isinstance(s, Scatter):
            out.append(s)
        elif _is_map(s, dims):
            out.extend(_as_map(s, fresh))
        elif not isinstance(s.base, Read) and any(True for _ in children(s.base)) and varies(s.base):
            base = Compute(fresh.fresh(f"{s.target}_base"), s.axes, s.base, kind=s.kind)
            out += [base, replace(s, base=read_of(base))]
        else:
            out.append(s)
    return replace(p, statements=tuple(out))


def _is_map(s: Scatter, dims: Mapping[str, Scalar | None]) -> bool:
    if len(set(s.at)) < len(s.at):
        return False
    extents = {a.name: a.extent for a in s.loops if isinstance(a, Axis)}
    return all(
        isinstance(a, Batch) or (isinstance(q, Index) and same_number(extents[q.name], a.extent, dims))
        for q, a in zip(s.at, s.axes, strict=True)
    )


def _as_map(s: Scatter, fresh: Names) -> list[Statement]:
    by_name = {a.name: a for a in s.loops if isinstance(a, Axis)}
    axes: tuple[Loop, ...] = tuple(by_name[q.name] if isinstance(q, Index) else BATCH for q in s.at)
    renamed = zip(s.axes, axes, strict=True)
    mapping: dict[Scalar, Scalar] = {
        Index(a.name): Index(b.name) for a, b in renamed if isinstance(a, Axis) and isinstance(b, Axis)
    }
    base, over = substitute(s.base, mapping), tuple(a for a in s.loops if a not in axes)
    if not over:
        return [Compute(s.target, axes, _COMBINED[s.op](base, s.body), kind=s.kind, span=s.span)]
    update = Compute(fresh.fresh(f"{s.target}_update"), axes, s.body, s.op, over, s.kind, s.span)
    body = _COMBINED[s.op](base, read_of(update))
    if body == read_of(update):
        return [replace(update, target=s.target)]
    return [update, Compute(s.target, axes, body, kind=s.kind, span=s.span)]


# --- statements made from parts --------------------------------------------------------------------------------------


def names_beside(p: Program) -> Names:
    """Fresh names in a program."""
    return Names((*names(p), *(d.name for d in p.dims)))


def statement(target: str, e: Scalar, s: Plain, kind: Kind) -> Compute:
    return Compute(target, loops_of(e, batch_leading(s.loops)), e, kind=kind)
