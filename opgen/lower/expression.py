"""Expressions of formulas to typed scalars: arithmetic and conditions; names, calls, reductions stand elsewhere.

Kinds follow the language: a condition in arithmetic is 0 or 1, `/` gives a float, functions say what they give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import assert_never

from opgen.ir.arithmetic import comparison_of, either, negation_of, product_of, sum_of
from opgen.ir.program import Kind
from opgen.ir.scalar import Lit, Scalar, both, neg
from opgen.lang.nodes import (
    Access,
    Call,
    Compare,
    Expr,
    Logic,
    Name,
    Number,
    Power,
    Product,
    Reduction,
    Sum,
    Text,
    Unary,
)
from opgen.lang.unparse import unparse
from opgen.lang.walk import literal
from opgen.lower.access import access, bare_name
from opgen.lower.call import call
from opgen.lower.chosen import compared, string
from opgen.lower.kinds import condition, numeric, promote, real_number
from opgen.lower.power import power_of, within_bounds
from opgen.lower.reduction import reduction
from opgen.lower.scope import BAD, Frame, Typed


def expression(f: Frame, e: Expr) -> Typed:
    """Lower one expression; mistakes are reported and give `BAD`."""
    match e:
        case Number(value=value):
            return Typed(Lit(value), Kind.FLOAT if isinstance(value, Fraction) else Kind.INT)
        case Text():
            return string(f, e)
        case Name():
            return bare_name(f, e)
        case Access():
            return access(f, e)
        case Unary(op="-", operand=operand):
            inner = numeric(f.lower(operand))
            return Typed(neg(inner.scalar), inner.kind)
        case Unary(operand=operand):
            inner = condition(f, f.lower(operand), operand)
            return inner if inner.kind is None else Typed(negation_of(inner.scalar), Kind.BOOL)
        case Sum(terms=terms):
            lowered = [(sign, numeric(f.lower(t))) for sign, t in terms]
            found = sum_of([(sign, t.scalar) for sign, t in lowered])
            return within_bounds(f, Typed(found, promote(t.kind for _, t in lowered)), e.span)
        case Product(factors=factors):
            return within_bounds(f, _product(f, factors), e.span)
        case Power(base=base, exponent=exponent):
            return power_of(f, numeric(f.lower(base)), numeric(f.lower(exponent)), e.span)
        case Compare(operands=operands, ops=ops):
            return compared(f, e) or _compare(f, operands, ops)
        case Logic(op=op, operands=operands):
            return _logic(f, op, operands)
        case Call():
            return call(f, e)
        case Reduction():
            return reduction(f, e)
        case _:
            assert_never(e)


def _product(f: Frame, factors: Sequence[tuple[str, Expr]]) -> Typed:
    lowered = [(op, numeric(f.lower(e))) for op, e in factors]
    kind = lowered[0][1].kind
    for op, t in lowered[1:]:
        kind = promote((kind, t.kind))
        if op == "/" and kind is not None:
            kind = promote((kind, Kind.FLOAT))
        if op in ("//", "%") and kind is Kind.COMPLEX:
            span = next(e.span for e, (_, other) in zip((e for _, e in factors), lowered, strict=True)
                        if other.kind is Kind.COMPLEX)  # fmt: skip
            return real_number(f, Typed(t.scalar, kind), span, f"`{op}`")
        if op in ("//", "%") and t.scalar == Lit(0):
            span = next(e.span for o, e in factors if o == op)
            return f.error("OPG223", "this divides by zero", span)
    return Typed(product_of([(op, t.scalar) for op, t in lowered]), kind)


def _compare(f: Frame, operands: Sequence[Expr], ops: Sequence[str]) -> Typed:
    lowered = [f.lower(o) for o in operands]
    if any(t.kind is None for t in lowered):
        return BAD
    if not all(t.kind is Kind.BOOL for t in lowered):
        lowered = [numeric(t) for t in lowered]
    if not set(ops) <= {"==", "!="}:
        for t, o in zip(lowered, operands, strict=True):
            if t.kind is Kind.COMPLEX:
                hint = "compare `abs(…)` or `real(…)`"
                return f.error("OPG223", "complex numbers have no order", o.span, hint, label="complex")
    scalars = [t.scalar for t in lowered]
    if all(isinstance(s, Lit) for s in scalars):
        links = zip(scalars, ops, scalars[1:], strict=False)
        return Typed(Lit(all(_literal(op, a, b) for a, op, b in links)), Kind.BOOL)
    return Typed(comparison_of(scalars, ops), Kind.BOOL)


def _literal(op: str, a: Scalar, b: Scalar) -> bool:
    assert isinstance(a, Lit)
    assert isinstance(b, Lit)
    x, y = a.value, b.value
    table = {"==": x == y, "!=": x != y, "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}
    return table[op]


def _or_else(f: Frame, operands: Sequence[Expr]) -> tuple[str, ...]:
    """What `w or 1` means, if the first may be missing."""
    first, other = operands[0], operands[-1]
    if len(operands) != 2 or not isinstance(first, Name | Access):
        return ()
    if first.name in f.decl.inputs and f.decl.inputs[first.name].optional:
        instead = f"`{first.name}: {{…, absent: {unparse(other)}}}`, and read `{unparse(first)}` alone"
        return (f"what it reads as where it was not passed is declared: {instead}",)
    return ()


_JOINED = {"==": "or", "!=": "and"}  # how comparisons of one value with several others are joined


def _each_compared(f: Frame, op: str, operands: Sequence[Expr], e: Expr) -> tuple[str, ...]:
    """What `x[n] == 0 or 1` means: each number, or param, compared with what the number beside it is."""
    beside = next((c for c in operands if isinstance(c, Compare) and len(c.operands) == 2), None)
    numbers = [c for c in operands if _is_literal(c) or (isinstance(c, Name) and _is_number(f, c.name))]
    if beside is None or e not in numbers:
        return ()
    (left, right), (sign,) = beside.operands, beside.ops
    if _is_literal(left) and _is_literal(right):
        return ()

    def compared_with(c: Expr) -> Expr:
        return replace(beside, operands=(c, right) if _is_literal(left) else (left, c)) if c in numbers else c

    meant = Logic(_JOINED.get(sign, op), tuple(map(compared_with, operands)), e.span)
    return (f"write `{unparse(meant)}`", *(() if _is_literal(e) else (f"or compare it with 0: `{unparse(e)} != 0`",)))


def _is_number(f: Frame, name: str) -> bool:
    return name in f.decl.params and f.decl.params[name].type in ("int", "float") and name not in f.args


def _is_literal(e: Expr) -> bool:
    return literal(e) is not None


def _logic(f: Frame, op: str, operands: Sequence[Expr]) -> Typed:
    """`and`, `or` from left to right; what a literal decides is not looked at further (`given(p) and p > 0`)."""
    decisive = op == "or"
    result: Scalar = Lit(not decisive)
    for e in operands:
        value = f.lower(e)
        is_number = value.kind not in (None, Kind.BOOL)
        hints = _or_else(f, operands) if op == "or" and is_number else ()
        hints = hints or (_each_compared(f, op, operands, e) if is_number else ())
        part = condition(f, value, e, *hints)
        if part.kind is None:
            return BAD
        result = either(result, part.scalar) if op == "or" else both(result, part.scalar)
        if result == Lit(decisive):
            break
    return Typed(result, Kind.BOOL)
