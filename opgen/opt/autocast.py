"""What torch's autocast does with an operator: which of its lists the operator would stand on.

In go the forward programs of an operator; out comes an `Autocast`. It is that of the operations that results come out
of, found from the results backwards: products that are summed lose little in the lower precision and gain much, sums,
norms and logarithms lose what the lower precision cannot hold. Maps and extremes pass on what they are given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

from opgen.ir.program import Axis, Compute, Kind, Loop, Program, Recurrence, Scatter, Statement, targets
from opgen.ir.scalar import BATCH, ZERO, Apply, Batch, Cast, Index, Read, Scalar, children, reads, walk
from opgen.opt.convolution import convolutions


class Autocast(StrEnum):
    """The dtype that autocast has an operator compute in and return."""

    LOWER = "lower"  # that of autocast: bfloat16 or half
    FLOAT32 = "float32"
    AS_GIVEN = ""


# torch's list of scalar functions whose results the lower precision does not hold well
_WIDE_FUNCTIONS = frozenset((
    *("acos", "asin", "cosh", "erfinv", "exp", "expm1", "log", "log10", "log1p", "log2", "pow", "reciprocal", "rsqrt"),
    *("sinh", "softplus", "square", "tan"),
))  # fmt: skip
_EXACT_REDUCTIONS = ("max", "min")
_FACTORS = ("mul", "add", "sub", "neg", "div")


def autocast(programs: Iterable[Program]) -> Autocast:
    """The list for an operator with these variants: the wider one where results differ."""
    found = {kind for p in programs for kind in _of_program(p)}
    return next((kind for kind in (Autocast.FLOAT32, Autocast.LOWER) if kind in found), Autocast.AS_GIVEN)


def _of_program(p: Program) -> Iterator[Autocast]:
    made: dict[str, Statement] = {t: s for s in p.statements for t in targets(s)}
    known = convolutions(p)
    pending, seen = [o.value for o in p.outputs if o.kind is Kind.FLOAT and not o.kept], set[str]()
    while pending:
        name = pending.pop()
        statement = made.get(name)
        if name in seen or statement is None:
            continue
        seen.add(name)
        kind = Autocast.LOWER if name in known else _of_statement(statement)
        if kind is Autocast.AS_GIVEN:
            pending += [r.tensor for r in _values(statement)]
        else:
            yield kind


def _values(s: Statement) -> Iterator[Read]:
    """What the values of a statement are made of, which positions are not."""
    steps: tuple[Compute | Scatter, ...] = s.steps if isinstance(s, Recurrence) else (s,)
    for step in steps:
        if step.kind is Kind.FLOAT:
            yield from _read_in(step.body)
            yield from _read_in(step.base) if isinstance(step, Scatter) else ()


def _read_in(e: Scalar) -> Iterator[Read]:
    if isinstance(e, Read):
        yield e
        return
    for inner in children(e):
        yield from _read_in(inner)


def _of_statement(s: Statement) -> Autocast:
    if not isinstance(s, Compute) or s.kind is not Kind.FLOAT:
        return Autocast.AS_GIVEN
    if s.op == "sum" and _is_contraction(s):
        return Autocast.LOWER
    if s.op in (None, *_EXACT_REDUCTIONS) or not _reduces(s):
        return Autocast.FLOAT32 if _is_wide(s.body) else Autocast.AS_GIVEN
    return Autocast.FLOAT32


def _is_wide(e: Scalar) -> bool:
    """Is a map one of the listed functions, but for constant factors and terms?"""
    if not isinstance(e, Apply):
        return _is_wide(e.arg) if isinstance(e, Cast) else False
    if e.fn == "div" and not reads(e.args[0]):
        return bool(reads(e.args[1]))
    if e.fn in _FACTORS:
        varying = [a for a in e.args if reads(a)]
        return len(varying) == 1 and _is_wide(varying[0])
    return e.fn in _WIDE_FUNCTIONS and any(reads(a) for a in e.args)


def _is_contraction(s: Compute) -> bool:
    """Does a sum multiply tensors that share what is summed over, and do some of them serve several sums?"""
    body = s.body
    while isinstance(body, Apply) and body.fn == "where":  # what a mask leaves of it
        body = body.args[2] if body.args[1] == ZERO else body.args[1]
    factors = [a for a in body.args if reads(a)] if isinstance(body, Apply) and body.fn == "mul" else []
    summed, kept = _names(s.over), _names(s.axes)
    loops = [f for f in map(_varies, factors) if f & summed]
    return len(loops) > 1 and any(f & kept != loops[0] & kept for f in loops[1:])


def _names(loops: Iterable[Loop]) -> frozenset[str]:
    return frozenset(loop.name if isinstance(loop, Axis) else "..." for loop in loops)


def _varies(e: Scalar) -> frozenset[str]:
    """The loops that an expression varies along, but for those that it looks something up at."""
    own = [p for r in _read_in(e) for p in r.at]
    names = {n.name for p in own if isinstance(p, Apply | Index) for n in walk(p) if isinstance(n, Index)}
    return frozenset((*names, "...")) if BATCH in own else frozenset(names)


def _reduces(s: Compute) -> bool:
    """Does a reduction go along a dim of what it reads? What it looks up or sees through a window it passes on."""
    summed = _names(s.over)
    places = [p for r in _values(s) for p in r.at]
    looked_up = {
        n.name for p in places if not isinstance(p, Batch) for r in reads(p) for n in walk(r) if isinstance(n, Index)
    }
    if looked_up & summed:
        return False
    return "..." in summed or any(isinstance(p, Index) and p.name in summed for p in places)
