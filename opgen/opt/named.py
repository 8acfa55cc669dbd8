"""Sums of a matrix product and more, as statements of their own where a function is applied to them.

In `sigmoid(sum[k](x*w) + bias)` what the gradient needs is the sum. Without a name it could not be kept, and both terms
were: two products in place of one tensor. A product that is kept cannot add its bias itself either
(`opgen.plan.bias`). In goes a program, out comes the same one as if the sums had been written on lines of their own;
what stands under a condition is left where it is.
"""

from __future__ import annotations

from dataclasses import replace

from opgen.diff.structure import alone
from opgen.ir.names import Names
from opgen.ir.point import read_of
from opgen.ir.program import Compute, Loop, Program, Statement, names
from opgen.ir.scalar import Apply, Scalar, reads, rebuild
from opgen.opt.products import factors_of_product

_LINEAR = ("add", "sub", "neg")


def name_sums(p: Program) -> Program:
    """The program with such sums as statements in front of those that they stand in."""
    products = {s.target: s.loops for s in p.statements if isinstance(s, Compute) and factors_of_product(s)}
    fresh, statements = Names(tuple(names(p))), [*p.statements]
    if products:
        statements = [part for s in p.statements for part in _named(s, {*products}, fresh)]
    return replace(p, statements=tuple(statements))


def _named(s: Statement, products: set[str], fresh: Names) -> list[Statement]:
    made: dict[Scalar, Compute] = {}
    if not isinstance(s, Compute) or factors_of_product(s):
        return [s]

    def inside(e: Scalar, *, outer: bool) -> Scalar:
        match e:
            case Apply("where"):
                return e
            case Apply("add" | "sub") if not outer and _is_sum(e, s.loops, products):
                if e not in made:
                    made[e] = replace(alone(e, s.loops), target=fresh.fresh(f"{s.target}_sum"))
                return read_of(made[e])
            case Apply(fn):
                return rebuild(e, lambda a: inside(a, outer=fn in _LINEAR and outer))
            case _:
                return e

    body = inside(s.body, outer=True)
    return [*made.values(), replace(s, body=body) if made else s]


def _is_sum(e: Scalar, loops: tuple[Loop, ...], products: set[str]) -> bool:
    """Whether an expression is of a product and other tensors, each point of it its own."""
    found = reads(e)
    own = {a for r in found for a in alone(r, loops).axes}
    whole = [r for r in found if r.tensor in products and {*alone(r, loops).axes} == own]
    return bool(whole) and len(found) > 1
