"""Trusted formulas as scalars: the text of a table of opgen's own in, a `Scalar` over `Param` leaves out.

Derivatives in the function table and rewrite rules are written in the language of specs and read by the same parser.
A mistake in such text is ours, so it raises.
"""

from __future__ import annotations

from functools import cache
from typing import assert_never

from opgen.diagnostics.model import Bag
from opgen.ir.arithmetic import comparison_of, either, negation_of, product_of, sum_of
from opgen.ir.scalar import INF, NAN, PI, Apply, Lit, Param, Scalar, both, neg, power, where
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
from opgen.lang.parser import parse_expression
from opgen.schema.formula import Formula

CONSTANTS: dict[str, Scalar] = {"pi": PI, "inf": INF, "nan": NAN, "true": Lit(True), "false": Lit(False)}


@cache
def scalar(text: str, params: tuple[str, ...]) -> Scalar:
    """Read a formula of a table; the names in `params` become `Param` leaves."""
    bag = Bag()
    tree = parse_expression(Formula.plain(text), bag)
    if tree is None:
        raise ValueError(f"{text!r}: {bag.items[0].message}")
    return read(tree, params)


def read(e: Expr, params: tuple[str, ...]) -> Scalar:
    """An expression of numbers; the names in `params` become `Param` leaves."""
    match e:
        case Number(value=value):
            return Lit(value)
        case Name(name=name):
            if name in params:
                return Param(name)
            return CONSTANTS[name]
        case Unary(op="-", operand=operand):
            return neg(read(operand, params))
        case Unary(operand=operand):
            return negation_of(read(operand, params))
        case Sum(terms=terms):
            return sum_of([(sign, read(t, params)) for sign, t in terms])
        case Product(factors=factors):
            return product_of([(op, read(f, params)) for op, f in factors])
        case Power(base=base, exponent=exponent):
            return power(read(base, params), read(exponent, params))
        case Compare(operands=operands, ops=ops):
            return comparison_of([read(o, params) for o in operands], ops)
        case Logic(op=op, operands=operands):
            first, *rest = (read(o, params) for o in operands)
            for other in rest:
                first = both(first, other) if op == "and" else either(first, other)
            return first
        case Call(name="where", args=(condition, a, b)):
            return where(read(condition, params), read(a, params), read(b, params))
        case Call(name=name, args=args):
            return Apply(name, tuple(read(a, params) for a in args))
        case Text() | Access() | Reduction():
            raise ValueError(f"{e.span.text!r} has no place in a table formula")
        case _:
            assert_never(e)
