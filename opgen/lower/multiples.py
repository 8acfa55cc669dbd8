"""Sums of multiples of names, and what is known of their sign whatever values are passed.

In: expressions as they are written. What is known of names is taken away from a sum until a number is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from opgen.diagnostics.model import Bag
from opgen.lang.nodes import Access, Assign, Call, Compare, Expr, Name, Number, Power, Product, Reduction, Sum, Unary
from opgen.lang.parser import parse_expression
from opgen.lang.walk import integer
from opgen.lower.assigned import written_out
from opgen.lower.declare import Declarations
from opgen.lower.whole_numbers import Whole

_DEPTH = 4  # so many facts are used at once
NEVER_NEGATIVE = ("abs", "square", "sqrt", "hypot", "exp", "exp2", "cosh", "relu", "sigmoid", "softplus")

Linear = Mapping[Expr | None, Fraction]  # coefficients of what is no number, and the number itself


@dataclass(frozen=True, slots=True)
class Fact:
    """A sum that is at least 0, or (`strict`) above it."""

    sum: Linear
    strict: bool


def plus(a: Linear, b: Linear, factor: int | Fraction = 1) -> Linear:
    """`a + factor*b`."""
    found = {k: a.get(k, Fraction(0)) + factor * b.get(k, Fraction(0)) for k in (*a, *b)}
    return {k: c for k, c in found.items() if c}


def multiples(e: Expr, once: Mapping[str, Assign]) -> Linear:
    """An expression as a sum of multiples of what is opaque."""
    e = written_out(e, once)
    match e:
        case Number(value=value):
            return {None: Fraction(value)} if value else {}
        case Unary(op="-", operand=operand):
            return plus({}, multiples(operand, once), -1)
        case Sum(terms=terms):
            found: Linear = {}
            for sign, t in terms:
                found = plus(found, multiples(t, once), 1 if sign == "+" else -1)
            return found
        case Product(factors=((_, a), (op, b))):
            above, below = multiples(a, once), multiples(b, once)
            if op == "*" and {*above} <= {None}:
                above, below = below, above
            number = below.get(None, Fraction(0))
            if {*below} == {None} and op in ("*", "/"):
                return plus({}, above, number if op == "*" else 1 / number)
            return {e: Fraction(1)}
        case _:
            return {e: Fraction(1)}


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the names in a statement: by the spec, and how far indices run; and which sizes are not 0 there.

    `declared`: what the domains of params say counts as well, and `inputs`: those of inputs, too.
    """

    d: Declarations
    sizes: frozenset[str] = frozenset()
    ends: Mapping[str, Linear] = field(default_factory=dict)  # of indices
    declared: bool = True
    inputs: bool = True
    whole: Whole | None = None  # what tells integers apart, of which remainders are known

    def shown(self, e: Linear, *, strict: bool, depth: int = _DEPTH) -> bool:
        """Whether a sum is above 0, or at least 0, by what the domains say."""
        opaque = next((k for k in e if k is not None), None)
        if opaque is None:
            number = e.get(None, Fraction(0))
            return number > 0 or (number == 0 and not strict)
        for fact in self.facts(opaque) if depth else ():
            ratio = e[opaque] / fact.sum[opaque]
            rest = plus(e, fact.sum, -ratio)
            if ratio > 0 and self.shown(rest, strict=strict and not fact.strict, depth=depth - 1):
                return True
        return False

    def facts(self, e: Expr) -> Iterator[Fact]:
        """What is known of a name, or of what a function gives."""
        one = Fraction(1)
        match e:
            case Product() if self.whole is not None and (by := self.whole.divisor(e)) is not None:
                yield Fact({e: one}, strict=False)
                yield Fact(plus(multiples(by, {}), {e: one, None: one}, -1), strict=False)
            case Call(name=name) if name in NEVER_NEGATIVE:
                yield Fact({e: one}, strict=False)
            case Reduction(name="norm" | "var" | "count"):
                yield Fact({e: one}, strict=False)
            case Power(exponent=exponent) if (integer(exponent) or 1) % 2 == 0:
                yield Fact({e: one}, strict=False)
            case Name(name=name) if name in self.ends:
                yield Fact({e: one}, strict=False)
                yield Fact(plus(self.ends[name], {e: one, None: one}, -1), strict=False)
            case Name(name=name) if name in self.d.known_dims():
                yield Fact({e: one, None: -one} if name in self.sizes else {e: one}, strict=False)
            case Name() | Access() if self.declared:
                yield from self.domains(e)

    def domains(self, e: Name | Access) -> Iterator[Fact]:
        """The inequalities of the domain of an input or param, and of the params that are bounded by it."""
        own = self.d.inputs.items() if self.inputs else ()
        given = {n: t.domain for n, t in own if n == e.name and not t.optional}
        given |= {n: p.domain for n, p in self.d.params.items()}
        for formula in (f for f in given.values() if f is not None):
            domain = parse_expression(formula, Bag())
            if not isinstance(domain, Compare):
                continue
            for left, op, right in zip(domain.operands, domain.ops, domain.operands[1:], strict=False):
                low, high = (left, right) if op in ("<", "<=") else (right, left)
                low, high = (e if side == Name(e.name, side.span) else side for side in (low, high))
                away = plus(multiples(high, {}), multiples(low, {}), -1)
                if e in away:
                    yield Fact(away, strict="=" not in op)
