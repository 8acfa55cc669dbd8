"""Slopes: what a cotangent is multiplied by where that is constant between kinks.

Of a hinge, backward needs the labels and on which side of the margin a score is. The slope, a number for each element,
says both, and it does not vary with the score. In go gradients, out come gradients with such slopes as statements of
their own, so that they can be kept in place of what they are computed from (`opgen.opt.leaves`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from opgen.diff.structure import alone
from opgen.ir.functions import row
from opgen.ir.names import Names
from opgen.ir.point import read_of
from opgen.ir.program import Compute, Program, Role, Statement, names, parts
from opgen.ir.scalar import ONE, ZERO, Apply, Read, Scalar, add, call, children, div, mul, neg, reads, sub, where
from opgen.opt.cse import cse
from opgen.opt.weigh import independent


def is_slope(e: Scalar, constant: Collection[str]) -> bool:
    """Whether an expression of several tensors varies with constant ones only."""
    return len({r.tensor for r in reads(e)}) > 1 and varying(e) <= {*constant}


def constants(p: Program) -> set[str]:
    """The inputs that nothing has a derivative by."""
    return {t.name for t in p.inputs if not t.differentiable}


def varying(e: Scalar) -> set[str]:
    """The tensors that an expression may have a derivative by: those that it reads outside conditions."""
    if isinstance(e, Apply) and row(e.fn).result == "bool":
        return set()
    return {e.tensor} if isinstance(e, Read) else set().union(*map(varying, children(e)))


def with_slopes(gradient: Program, taken: Iterable[str]) -> Program | None:
    """The gradient with its slopes as statements of their own, not called what is `taken`; None where it has none."""
    early = {t.name for t in gradient.inputs if t.role is not Role.COTANGENT}
    early |= {s.target for s in parts(independent(gradient))}
    constant, fresh = constants(gradient), Names((*taken, *names(gradient)))
    statements: list[Statement] = []
    for s in gradient.statements:
        found = _split(s, early)
        if isinstance(s, Compute) and found is not None and is_slope(found[1], constant):
            cotangent, factor = found
            made = replace(alone(factor, s.loops), target=fresh.fresh("slope"))
            slope = read_of(made)
            product = where(call("ne", slope, ZERO), mul(cotangent, slope), ZERO)  # whatever the cotangent is
            statements += [made, replace(s, body=product)]
        else:
            statements.append(s)
    return cse(replace(gradient, statements=tuple(statements))) if len(statements) > len(gradient.statements) else None


def _split(s: Statement, early: Collection[str]) -> tuple[Read, Scalar] | None:
    """The read that a cotangent enters by, and what it is multiplied by there; None where there is more to it."""
    if not isinstance(s, Compute) or s.op is not None:
        return None
    late = {r for r in reads(s.body) if r.tensor not in early}
    if len(late) != 1:
        return None
    (cotangent,) = late
    factor = _factor(s.body, cotangent)
    return None if factor is None else (cotangent, factor)


def _factor(e: Scalar, cotangent: Read) -> Scalar | None:
    """What a cotangent is multiplied by in an expression; None where it is not."""
    if e in (cotangent, ZERO):
        return ONE if e == cotangent else ZERO
    if not isinstance(e, Apply):
        return None
    entered = [cotangent in reads(a) for a in e.args]
    match e:
        case Apply("neg", (a,)):
            inner = _factor(a, cotangent)
            return None if inner is None else neg(inner)
        case Apply("mul", args) if sum(entered) == 1:
            factors = [_factor(a, cotangent) if late else a for a, late in zip(args, entered, strict=True)]
            return None if None in factors else mul(*(f for f in factors if f is not None))
        case Apply("div", (a, b)) if entered == [True, False]:
            inner = _factor(a, cotangent)
            return None if inner is None else div(inner, b)
        case Apply("where", (c, a, b)) if not entered[0]:
            first, second = _factor(a, cotangent), _factor(b, cotangent)
            return None if first is None or second is None else where(c, first, second)
        case Apply("add" | "sub" as fn, args):
            terms = [_factor(a, cotangent) for a in args]
            found = [t for t in terms if t is not None]
            return None if len(found) < len(terms) else add(*found) if fn == "add" else sub(*found)
        case _:
            return None
