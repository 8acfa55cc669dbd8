"""Exact local algebra on bodies, and fewer statements: what a careful person would tidy before showing the program.

Nothing here changes a value beyond the order of roundings. Statements that a user wrote (`keep`) stay as they are and
keep their names; those that differentiation made are folded into their only reader where that costs no recomputation
and breaks up no contraction.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection
from dataclasses import replace
from fractions import Fraction
from functools import reduce

from opgen.diff.algebra import assume, in_order, negated, product
from opgen.ir.arithmetic import either, negation_of
from opgen.ir.order import occurrences
from opgen.ir.program import Axis, Compute, Kind, Program, Statement, statement_scalars
from opgen.ir.rewrite import map_scalars
from opgen.ir.scalar import (
    ONE,
    TWO,
    ZERO,
    Apply,
    Batch,
    Cast,
    Const,
    Dim,
    Index,
    Lit,
    Param,
    Position,
    Read,
    Scalar,
    both,
    neg,
    reads,
    sub,
    transform,
    transform_rounded,
    walk,
    where,
)
from opgen.opt.contract import is_contraction
from opgen.opt.dce import dce

_READABLE = 24  # nodes of a body that is still folded into another


def tidy(p: Program, keep: Collection[str] = ()) -> Program:
    kept = dict.fromkeys(keep)
    return replace(p, statements=tuple(s if s.target in kept else map_scalars(s, tidy_scalar) for s in p.statements))


def tidy_scalar(e: Scalar) -> Scalar:
    return transform_rounded(e, _local)


def _local(e: Scalar) -> Scalar:
    """One step at the root; operands are tidy."""
    if not isinstance(e, Apply):
        return e
    rule = _RULES.get(e.fn)
    return e if rule is None else rule(e.args)


def _tidy_neg(args: tuple[Scalar, ...]) -> Scalar:
    match args[0]:
        case Apply("sub", (a, b)):
            return sub(b, a)
        case other:
            flipped = negated(other)
            return neg(other) if flipped is None else flipped


def _tidy_add(args: tuple[Scalar, ...]) -> Scalar:
    if any(negated(a) is not None for a in args) or ZERO in args:
        return in_order(args)
    return Apply("add", args)


def _tidy_sub(args: tuple[Scalar, ...]) -> Scalar:
    a, b = args
    flipped = None if isinstance(b, Lit) else negated(b)
    return sub(a, b) if flipped is None else in_order([a, flipped])


def _tidy_where(args: tuple[Scalar, ...]) -> Scalar:
    condition, a, b = args
    match condition:
        case Apply("not", (inner,)):
            condition, a, b = inner, b, a
    a, b = assume(a, condition, holds=True), assume(b, condition, holds=False)
    match b:
        case Apply("where", (c, x, y)) if x == a and y == ZERO:
            return where(either(condition, c), a, ZERO)
    return where(condition, a, b)


def _tidy_pow(args: tuple[Scalar, ...]) -> Scalar:
    base, exponent = args
    if exponent == ONE:
        return base
    match base:
        case Apply("sqrt", (Lit() | Const() as inner,)) if exponent == TWO:
            return inner
    return Apply("pow", args)


def _tidy_square(args: tuple[Scalar, ...]) -> Scalar:
    match args[0]:
        case Apply("neg", (inner,)):
            return Apply("square", (inner,))
        case Apply("sqrt", (Lit() | Const() as inner,)):
            return inner
        case Apply("div", (a, Apply("sqrt", (Lit() | Const() as inner,)))):
            return product(Apply("square", (a,)), Apply("div", (ONE, inner)))
        case _:
            return Apply("square", args)


def _comes_out(e: Scalar) -> bool:
    """Whether a factor is itself a product or has a sign."""
    nested = isinstance(e, Apply) and e.fn in ("mul", "div", "neg")
    return nested or (not isinstance(e, Lit) and negated(e) is not None)


def _tidy_product(fn: str) -> Callable[[tuple[Scalar, ...]], Scalar]:
    """Signs and zeros come out, nested products become one."""

    def rule(args: tuple[Scalar, ...]) -> Scalar:
        if fn == "div" and args[1] == ZERO:
            return Apply(fn, args)
        if ZERO in args or any(_comes_out(a) for a in args):
            return product(*args) if fn == "mul" else product(args[0], Apply("div", (ONE, args[1])))
        return Apply(fn, args)

    return rule


def _tidy_comparison(fn: str) -> Callable[[tuple[Scalar, ...]], Scalar]:
    """A comparison of literals is a literal; infinity is larger than every other."""

    def rule(args: tuple[Scalar, ...]) -> Scalar:
        match args:
            case (Lit(a), Lit(b)):
                return Lit(_COMPARED[fn](a, b))
            case (Lit(a), Const("inf")):
                return Lit(_COMPARED[fn](a, math.inf))
            case _:
                return Apply(fn, args)

    return rule


_COMPARED: dict[str, Callable[[float | Fraction, float | Fraction], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
_RULES: dict[str, Callable[[tuple[Scalar, ...]], Scalar]] = {
    **{fn: _tidy_comparison(fn) for fn in _COMPARED},
    "and": lambda args: reduce(both, args),
    "or": lambda args: reduce(either, args),
    "not": lambda args: negation_of(args[0]),
    "neg": _tidy_neg,
    "add": _tidy_add,
    "sub": _tidy_sub,
    "mul": _tidy_product("mul"),
    "div": _tidy_product("div"),
    "where": _tidy_where,
    "pow": _tidy_pow,
    "square": _tidy_square,
}


# --- folding statements into their readers ---------------------------------------------------------------------------


def fold(p: Program, keep: Collection[str] = ()) -> Program:
    """Fold maps into their readers where that is free. One walk forwards; each statement is looked at once."""
    uses = _uses(p)
    kept = dict.fromkeys([*keep, *(o.value for o in p.outputs)])
    casts = {n.like for s in p.statements for e in statement_scalars(s) for n in walk(e) if isinstance(n, Cast)}
    open_maps: dict[str, Compute] = {}
    done: list[Statement] = []
    for s in p.statements:
        body = _fold_into(s, open_maps, uses)
        if isinstance(body, Compute) and body.op == "sum" and body.body == ZERO and body.target not in keep:
            body = replace(body, op=None, over=())  # a sum of zeros
        if isinstance(body, Compute) and body.op is None and body.target not in kept and body.target not in casts:
            open_maps[body.target] = body
        done.append(body)
    return dce(replace(p, statements=tuple(done)))


def _uses(p: Program) -> dict[str, int]:
    """How many places read each tensor."""
    found: dict[str, int] = {}
    for s in p.statements:
        for e in statement_scalars(s):
            for n, k in occurrences(e).items():
                if isinstance(n, Read):
                    found[n.tensor] = found.get(n.tensor, 0) + k
    return found


def _fold_into(s: Statement, maps: dict[str, Compute], uses: dict[str, int]) -> Statement:
    mapping: dict[Scalar, Scalar] = {}
    for r in _all_reads(s):
        made = maps.get(r.tensor)
        if made is not None and r.fill is None and _may_fold(made, r, s, uses):
            mapping[r] = inlined(made, r)
    if not mapping:
        return s
    changed = map_scalars(s, lambda e: transform(e, lambda n: mapping.get(n, n)))
    return map_scalars(changed, tidy_scalar)


def _all_reads(s: Statement) -> tuple[Read, ...]:
    found: dict[Read, None] = {}
    for e in statement_scalars(s):
        found.update(dict.fromkeys(reads(e)))
    return tuple(found)


def inlined(made: Compute, r: Read) -> Scalar:
    """The body of a map at the positions of an access."""
    mapping: dict[Scalar, Scalar] = {}
    for a, position in zip(made.axes, r.at, strict=True):
        if isinstance(a, Axis):
            assert not isinstance(position, Batch)
            mapping[Index(a.name)] = position
    return _replace_indices(made.body, mapping)


def _replace_indices(e: Scalar, mapping: dict[Scalar, Scalar]) -> Scalar:
    return transform(e, lambda n: mapping.get(n, n))


def is_constant(e: Scalar) -> bool:
    return all(isinstance(n, Lit | Const | Param | Dim | Apply) for n in walk(e))


def is_alias(s: Compute) -> bool:
    """A plain access of another tensor, perhaps with its axes in another order."""
    return s.kind is Kind.FLOAT and isinstance(s.body, Read) and all(isinstance(q, Index | Batch) for q in s.body.at)


def _may_fold(made: Compute, r: Read, reader: Statement, uses: dict[str, int]) -> bool:
    if is_alias(made) or isinstance(made.body, Lit | Const | Param):
        return True
    if not isinstance(reader, Compute) or uses[made.target] != 1:
        return False
    if is_contraction(reader) or not _distinct(r.at):
        return False
    if len(r.at) < len(reader.loops) and not is_constant(made.body) and not _is_cheap(made.body):
        return False
    return _nodes(made.body) + _nodes(reader.body) <= 3 * _READABLE and _nodes(made.body) <= _READABLE


def _is_cheap(e: Scalar) -> bool:
    """One access with a sign or a constant factor: nothing to hold on to for every element of a larger loop."""
    return len(reads(e)) <= 1 and all(
        isinstance(n, Lit | Dim | Read | Index) or (isinstance(n, Apply) and n.fn in ("neg", "mul", "div"))
        for n in walk(e)
    )


def _distinct(at: tuple[Position, ...]) -> bool:
    plain = [q for q in at if isinstance(q, Index | Batch)]
    return len(plain) == len(at) == len(dict.fromkeys(plain))


def _nodes(e: Scalar) -> int:
    return sum(occurrences(e).values())
