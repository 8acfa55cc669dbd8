"""Operators of formulas as scalar expressions: sums, products, powers and comparisons in, `Scalar` out.

Shared by what lowers spec formulas and what reads the formulas of the function table, so that both fold alike.
"""

from __future__ import annotations

from collections.abc import Sequence

from opgen.ir.scalar import Apply, Lit, Scalar, add, all_of, both, div, mul, neg, sub

COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


def sum_of(terms: Sequence[tuple[str, Scalar]]) -> Scalar:
    """`a + b - c`; a difference of two stays one."""
    if len(terms) == 2 and terms[0][0] == "+" and terms[1][0] == "-":
        return sub(terms[0][1], terms[1][1])
    return add(*(neg(t) if sign == "-" else t for sign, t in terms))


def product_of(factors: Sequence[tuple[str, Scalar]]) -> Scalar:
    """`a * b / c % d`, left to right; factors that are multiplied in a row make one product."""
    pending = [factors[0][1]]
    for op, factor in factors[1:]:
        if op == "*":
            pending.append(factor)
            continue
        left = mul(*pending) if len(pending) > 1 else pending[0]
        pending = [_divide(op, left, factor)]
    return mul(*pending) if len(pending) > 1 else pending[0]


def _divide(op: str, left: Scalar, right: Scalar) -> Scalar:
    if op == "/":
        return div(left, right)
    return Apply("floordiv" if op == "//" else "mod", (left, right))


def comparison_of(operands: Sequence[Scalar], ops: Sequence[str]) -> Scalar:
    """`a < b <= c` means `a < b and b <= c`."""
    result: Scalar | None = None
    for left, op, right in zip(operands, ops, operands[1:], strict=False):
        link = Apply(COMPARISONS[op], (left, right))
        result = link if result is None else both(result, link)
    assert result is not None
    return result


def either(a: Scalar, b: Scalar) -> Scalar:
    """Logical or, with literal conditions folded; what holds wherever the other one does is all of it."""
    if isinstance(a, Lit):
        return a if a.value else b
    if isinstance(b, Lit):
        return b if b.value else a
    first, second = set(all_of(a)), set(all_of(b))
    return a if first <= second else b if second <= first else Apply("or", (a, b))


def negation_of(a: Scalar) -> Scalar:
    """Logical not, with literals and double negation folded."""
    if isinstance(a, Lit):
        return Lit(not a.value)
    if isinstance(a, Apply) and a.fn == "not":
        return a.args[0]
    return Apply("not", (a,))
