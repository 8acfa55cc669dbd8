"""Folds that are asked for under a condition on params alone, such as what smooths labels where a param is above 0.

In go statements, out come the same with that condition in the folds: where it does not hold they take in what changes
nothing, which back ends see and leave out (`opgen.kernel.idle`). Nobody reads what is folded then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from opgen.ir.order import outermost_first
from opgen.ir.program import Compute, Kind, Recurrence, Statement
from opgen.ir.reductions import REDUCTIONS
from opgen.ir.scalar import ZERO, Apply, Batch, Dim, Read, Scalar, all_of, call, children, is_constant, where
from opgen.opt.weigh import asks_what_is_given

Conditions = frozenset[Scalar]
_FOLDS = ("sum", "prod", "max", "min")
_NONE: Conditions = frozenset()


def asked(statements: tuple[Statement, ...], always: Collection[str]) -> tuple[Statement, ...]:
    """The statements with what their folds are asked for under; what is in `always` is asked for without condition."""
    uses: dict[str, Conditions] = dict.fromkeys(always, _NONE)
    made: list[Statement] = []
    for s in reversed(statements):
        around = uses.get(s.target, _NONE) if isinstance(s, Compute) else _NONE
        made.append(s if s.target in always else _under(s, around))
        for e in _values(s):
            for name, conditions in _reads(e, around):
                uses[name] = uses.get(name, conditions) & conditions
    return tuple(reversed(made))


def _under(s: Statement, conditions: Conditions) -> Statement:
    """A fold that takes in what changes nothing where some conditions do not hold."""
    if not isinstance(s, Compute) or s.op not in _FOLDS or s.kind is not Kind.FLOAT:
        return s
    nothing = REDUCTIONS[s.op].identity
    assert nothing is not None
    body = s.body
    for condition in sorted(conditions - _held(body, nothing), key=repr):
        body = where(condition, body, nothing)
    return replace(s, body=body)


def _held(body: Scalar, nothing: Scalar) -> Conditions:
    """The conditions under which a body is anything else."""
    match body:
        case Apply("where", (condition, a, b)) if b == nothing:
            return frozenset(all_of(condition)) | _held(a, nothing)
        case _:
            return _NONE


def _values(s: Statement) -> tuple[Scalar, ...]:
    match s:
        case Compute(body=body):
            return (body,)
        case Recurrence(steps=steps):
            return tuple(x.body for x in steps)
        case _:
            return (s.body, s.base, *(p for p in s.at if not isinstance(p, Batch)))


def _reads(e: Scalar, around: Conditions) -> Iterator[tuple[str, Conditions]]:
    """What a value reads, each with the conditions on params under which it does."""
    known = {e: around}
    for a in outermost_first(e):
        if isinstance(a, Read):
            yield a.tensor, known[a]
        for c, condition in _operands(a):
            under = known[a] if condition is None else known[a].union(filter(turns_off, all_of(condition)))
            known[c] = known.get(c, under) & under


def turns_off(condition: Scalar) -> bool:
    """Whether a condition is one on params alone, and spares something where it does not hold.

    That a cotangent is there is none: it mostly is, and what passes compute alike is computed once without a branch.
    Nor is that a dim has elements: where it has none, there is nothing to spare.
    """
    return is_constant(condition) and not asks_what_is_given(condition) and not _has_elements(condition)


def _has_elements(condition: Scalar) -> bool:
    return (
        isinstance(condition, Apply)
        and condition.fn == "ne"
        and condition.args[1] == ZERO
        and isinstance(condition.args[0], Dim)
    )


def _operands(e: Scalar) -> Iterator[tuple[Scalar, Scalar | None]]:
    """The operands of a value, and when they are evaluated: None where they always are."""
    match e:
        case Apply("where", (condition, a, b)):
            yield from ((condition, None), (a, condition), (b, call("not", condition)))
        case Apply("and", (first, *rest)):
            yield from ((first, None), *((a, first) for a in rest))
        case _:
            yield from ((c, None) for c in children(e))
