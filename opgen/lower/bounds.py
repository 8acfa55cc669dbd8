"""Bounds that are the wrong way round for all values that the domains allow: a warning.

`clamp(x, 1 + eps, 1 - eps)` is `1 - eps` for each `eps > 0`. In: the statements as they are written, and the domains.
The difference of bounds is a sum of multiples of names; what is known of those is taken away until a number is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from opgen.diagnostics.model import Bag, Diagnostic
from opgen.lang.nodes import Access, Assign, Binder, Call, Compare, Expr, Name, Number, Product, Reduction, Sum, Unary
from opgen.lang.parser import parse_expression
from opgen.lang.unparse import respelled
from opgen.lang.walk import nodes
from opgen.lower.along import size_of
from opgen.lower.assigned import assigned_once, written_out
from opgen.lower.declare import Declarations
from opgen.lower.doubts import doubt

_DEPTH = 4  # so many domains are used at once
_NEVER_NEGATIVE = ("abs", "square", "sqrt", "exp", "relu", "sigmoid", "softplus")

Linear = Mapping[Expr | None, Fraction]  # coefficients of what is no number, and the number itself


@dataclass(frozen=True, slots=True)
class _Fact:
    """A sum that is at least 0, or above it."""

    sum: Linear
    strict: bool


def bounds(d: Declarations) -> Iterator[Diagnostic]:
    """A warning for each pair of bounds of which the lower one is never below the upper one."""
    once = assigned_once(d)
    calls = ((a, n) for a in d.forward for n in nodes(a.value) if isinstance(n, Call))
    for a, c, (low, high, value, meant) in ((a, n, pair) for a, n in calls for pair in _pairs(n)):
        known, away = _Known(d, _sizes(d, a)), _plus(_linear(low, once), _linear(high, once), -1)
        strict = known.shown(away, strict=True)
        if strict or (away and known.shown(away, strict=False)):
            than = "above" if strict else "never below"
            message = f"the lower bound is {than} the upper one: this is `{respelled(value)}`"
            yield doubt("OPG276", message, c, "whatever is bounded", f"write `{meant}`")


def _sizes(d: Declarations, a: Assign) -> frozenset[str]:
    """The sizes that are not 0 where a statement computes anything."""
    own = [i for i in a.target.items or () if isinstance(i, Binder)]
    stated = (i.extent.name for i in own if isinstance(i.extent, Name))
    return frozenset((*stated, *(size_of(d, a, i.name) for i in own if i.extent is None)))


def _pairs(c: Call) -> Iterator[tuple[Expr, Expr, Expr, str]]:
    """A lower and an upper bound, what a call is if they are the wrong way round, and the call with them exchanged."""
    if c.name == "clamp" and len(c.args) == 3:
        _, low, high = c.args
        yield low, high, high, respelled(c, (low, respelled(high)), (high, respelled(low)))
    inner = {"min": "max", "max": "min"}.get(c.name)
    for k, within in enumerate(c.args if inner is not None and len(c.args) == 2 else ()):
        if isinstance(within, Call) and within.name == inner and len(within.args) == 2:
            outer = c.args[1 - k]
            for bound in within.args:
                low, high = (bound, outer) if inner == "max" else (outer, bound)
                turned = ((bound, respelled(outer)), (outer, respelled(bound)))
                yield low, high, outer, respelled(c, *(turned if k == 0 else turned[::-1]))


# --- sums of multiples -----------------------------------------------------------------------------------------------


def _plus(a: Linear, b: Linear, factor: int | Fraction = 1) -> Linear:
    """`a + factor*b`."""
    found = {k: a.get(k, Fraction(0)) + factor * b.get(k, Fraction(0)) for k in (*a, *b)}
    return {k: c for k, c in found.items() if c}


def _linear(e: Expr, once: Mapping[str, Assign]) -> Linear:
    """An expression as a sum of multiples of what is opaque."""
    e = written_out(e, once)
    match e:
        case Number(value=value):
            return {None: Fraction(value)} if value else {}
        case Unary(op="-", operand=operand):
            return _plus({}, _linear(operand, once), -1)
        case Sum(terms=terms):
            found: Linear = {}
            for sign, t in terms:
                found = _plus(found, _linear(t, once), 1 if sign == "+" else -1)
            return found
        case Product(factors=((_, a), (op, b))):
            above, below = _linear(a, once), _linear(b, once)
            if op == "*" and {*above} <= {None}:
                above, below = below, above
            number = below.get(None, Fraction(0))
            if {*below} == {None} and op in ("*", "/"):
                return _plus({}, above, number if op == "*" else 1 / number)
            return {e: Fraction(1)}
        case _:
            return {e: Fraction(1)}


# --- what is known ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Known:
    """What a spec says of the names in a statement, and which sizes are not 0 there."""

    d: Declarations
    sizes: frozenset[str]

    def shown(self, e: Linear, *, strict: bool, depth: int = _DEPTH) -> bool:
        """Whether a sum is above 0, or at least 0, by what the domains say."""
        opaque = next((k for k in e if k is not None), None)
        if opaque is None:
            number = e.get(None, Fraction(0))
            return number > 0 or (number == 0 and not strict)
        for fact in self.facts(opaque) if depth else ():
            ratio = e[opaque] / fact.sum[opaque]
            rest = _plus(e, fact.sum, -ratio)
            if ratio > 0 and self.shown(rest, strict=strict and not fact.strict, depth=depth - 1):
                return True
        return False

    def facts(self, e: Expr) -> Iterator[_Fact]:
        """What is known of a name, or of what a function gives."""
        one = Fraction(1)
        match e:
            case Call(name=name) if name in _NEVER_NEGATIVE:
                yield _Fact({e: one}, strict=False)
            case Reduction(name="norm" | "var" | "count"):
                yield _Fact({e: one}, strict=False)
            case Name(name=name) if name in self.d.known_dims():
                yield _Fact({e: one, None: -one} if name in self.sizes else {e: one}, strict=False)
            case Name() | Access():
                yield from self.domains(e)

    def domains(self, e: Name | Access) -> Iterator[_Fact]:
        """The inequalities of the domain of an input or param, and of the params that are bounded by it."""
        given = {n: t.domain for n, t in self.d.inputs.items() if n == e.name and not t.optional}
        given |= {n: p.domain for n, p in self.d.params.items()}
        for formula in (f for f in given.values() if f is not None):
            domain = parse_expression(formula, Bag())
            if not isinstance(domain, Compare):
                continue
            for left, op, right in zip(domain.operands, domain.ops, domain.operands[1:], strict=False):
                low, high = (left, right) if op in ("<", "<=") else (right, left)
                low, high = (e if side == Name(e.name, side.span) else side for side in (low, high))
                away = _plus(_linear(high, {}), _linear(low, {}), -1)
                if e in away:
                    yield _Fact(away, strict="=" not in op)
