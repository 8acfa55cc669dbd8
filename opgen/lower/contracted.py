"""Sums over indices that stand twice in a product, as on paper, `a[i, i]**2` for the square of a trace.

In go a term and the indices that nothing binds in it; out comes the term with each sum around the smallest part that
has its index twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from opgen.lang.nodes import (
    Access,
    Binder,
    Call,
    Compare,
    Dots,
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
from opgen.lang.walk import nodes

_TWICE = 2


def times(e: Expr, index: str) -> int:
    """How often an index stands in each product of an expression, at most; a square has it twice as often."""
    match e:
        case Access(items=items):
            inside = (n for i in items if not isinstance(i, Dots) for n in nodes(i))
            return sum(isinstance(n, Name) and n.name == index for n in inside)
        case Unary(operand=operand):
            return times(operand, index)
        case Sum(terms=terms):
            return max(times(t, index) for _, t in terms)
        case Product(factors=factors):
            return sum(times(x, index) for _, x in factors)
        case Power(base=base, exponent=exponent):
            return times(base, index) * (_TWICE if _is_even(exponent) else 1) + times(exponent, index)
        case Call(args=parts) | Compare(operands=parts) | Logic(operands=parts):
            return max((times(p, index) for p in parts), default=0)
        case Reduction(binders=binders, body=body):
            own = any(isinstance(b, Binder) and b.name == index for b in binders)
            return 0 if own else times(body, index)
        case Number() | Text() | Name():
            return 0


def _is_even(exponent: Expr) -> bool:
    return isinstance(exponent, Number) and isinstance(exponent.value, int) and exponent.value % _TWICE == 0


@dataclass(slots=True)
class Contraction:
    """Puts the sums into a term. `within`: whether one stands under a power, a function or in a divisor."""

    within: bool = False
    depth: int = field(default=0)

    def of(self, e: Expr, over: Sequence[str]) -> Expr:
        """The same with sums over all of these indices that stand twice in it."""
        own = [i for i in over if times(e, i)]
        match e:
            case Access():
                return self._sum(e, [i for i in own if times(e, i) >= _TWICE])
            case Unary(operand=operand):
                return replace(e, operand=self.of(operand, own))
            case Sum(terms=terms):
                return replace(e, terms=tuple((sign, self.of(t, own)) for sign, t in terms))
            case Power(base=base):
                around = [i for i in own if times(base, i) == 1 and times(e, i) == _TWICE]
                inner = replace(e, base=self._under(base, [i for i in own if i not in around]))
                return self._sum(inner, around)
            case Call(args=args):
                apart = [i for i in own if sum(times(a, i) > 0 for a in args) == 1]
                return replace(e, args=tuple(self._under(a, apart) for a in args))
            case Product(factors=factors):
                return self._product(e, factors, own)
            case _:
                return e

    def _under(self, e: Expr, over: Sequence[str]) -> Expr:
        self.depth += 1
        made = self.of(e, over)
        self.depth -= 1
        return made

    def _product(self, e: Product, factors: Sequence[tuple[str, Expr]], own: Sequence[str]) -> Expr:
        """A product with a sum around the factors that share indices, and within each for its own."""
        apart = [i for i in own if sum(times(x, i) > 0 for _, x in factors) == 1]
        made = [(op, self.of(x, apart) if op == "*" else self._under(x, apart)) for op, x in factors]
        shared = [i for i in own if i not in apart]
        at = [k for k, (_, x) in enumerate(factors) if any(times(x, i) for i in shared)]
        if not shared or any(made[k][0] not in ("*", "/") for k in at) or made[at[0]][0] != "*":
            return replace(e, factors=tuple(made))
        inner = [made[k] for k in at]
        whole = self._sum(Product(tuple(inner), e.span), shared)
        rest = [("*", whole) if k == at[0] else x for k, x in enumerate(made) if k == at[0] or k not in at]
        return whole if len(rest) == 1 else replace(e, factors=tuple(rest))

    def _sum(self, e: Expr, over: Sequence[str]) -> Expr:
        if not over:
            return e
        self.within |= self.depth > 0
        return Reduction("sum", tuple(Binder(i, None, e.span) for i in over), e, e.span, e.span)
