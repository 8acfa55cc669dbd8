"""How a change of a scatter's body and base changes its target: one row per operator, used in both directions.

Like the weights of reductions (`opgen.diff.rules`), over two nests: the loops of the body and the axes of the base. The
target is read at the scattered positions; what a padded scatter drops reads as something that has no weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from opgen.diff.algebra import product
from opgen.diff.rules import Weight
from opgen.diff.structure import Builder
from opgen.ir.point import positions
from opgen.ir.program import Kind, Scatter
from opgen.ir.reductions import REDUCTIONS
from opgen.ir.scalar import NAN, ONE, TWO, ZERO, Lit, Read, Scalar, call, div, sub, where

Weights = tuple[Weight, Weight]


def at_body(s: Scatter, tensor: str, outside: Scalar) -> Read:
    """A tensor of the target's shape where the body goes."""
    return Read(tensor, s.at, outside if s.padded else None)


def at_base(s: Scatter, tensor: str) -> Read:
    return Read(tensor, positions(s.axes))


def _sum(b: Builder, s: Scatter) -> Weights:
    return (lambda d: d), (lambda d: d)


def _beside(b: Builder, s: Scatter, name: str, body: Scalar, base: Scalar, op: str, kind: Kind = Kind.FLOAT) -> str:
    """Another scatter to the same places."""
    target = b.names.fresh(name)
    b.statements.append(replace(s, target=target, body=body, base=base, op=op, kind=kind))
    return target


def _extreme(b: Builder, s: Scatter) -> Weights:
    """Shared among those that are equal to the result; the operator's identity is nobody."""
    started = s.base != REDUCTIONS[s.op].identity
    hit = call("eq", s.body, at_body(s, s.target, NAN))
    base_hit = call("eq", s.base, at_base(s, s.target)) if started else Lit(False)
    ties = _beside(b, s, f"ties_{s.target}", where(hit, ONE, ZERO), where(base_hit, ONE, ZERO), "sum", Kind.INT)

    def body(d: Scalar) -> Scalar:
        return where(hit, product(d, div(ONE, at_body(s, ties, ONE))), ZERO)

    def base(d: Scalar) -> Scalar:
        return where(base_hit, product(d, div(ONE, at_base(s, ties))), ZERO)

    return body, base


def _prod(b: Builder, s: Scatter) -> Weights:
    """The product of the others, as for the reduction: zeros are counted, multiplied around and summed."""

    def split(f: Scalar, zero: Scalar, otherwise: Scalar) -> Scalar:
        return (zero if f == ZERO else otherwise) if isinstance(f, Lit) else where(call("eq", f, ZERO), zero, otherwise)

    def beside(name: str, zero: Callable[[Scalar], Scalar], rest: Callable[[Scalar], Scalar], op: str, k: Kind) -> str:
        body, base = (split(f, zero(f), rest(f)) for f in (s.body, s.base))
        return _beside(b, s, f"{name}_{s.target}", body, base, op, k)

    zeros = beside("zeros", lambda f: ONE, lambda f: ZERO, "sum", Kind.INT)
    others = beside("nonzero", lambda f: ONE, lambda f: f, "prod", Kind.FLOAT)
    shift = beside("zero_sum", lambda f: f, lambda f: ZERO, "sum", Kind.FLOAT)

    def weight(f: Scalar, read: Callable[[str, Scalar], Read]) -> Weight:
        count, rest, added = read(zeros, ZERO), read(others, ONE), read(shift, ZERO)

        def apply(d: Scalar) -> Scalar:
            two = where(call("eq", count, TWO), product(d, rest, sub(added, f)), ZERO)
            at_zero = where(call("eq", count, ONE), product(d, rest), two)
            return split(f, at_zero, product(d, div(read(s.target, ZERO), f)))

        return apply

    return weight(s.body, lambda t, outside: at_body(s, t, outside)), weight(s.base, lambda t, _: at_base(s, t))


SCATTER_WEIGHTS: dict[str, Callable[[Builder, Scatter], Weights]] = {
    "sum": _sum,
    "prod": _prod,
    "max": _extreme,
    "min": _extreme,
}
