"""Sums of deviations from the mean of the very same values, which are 0 but for rounding: a warning.

A mean of deviations is meant to be one of their squares. In: the variants; what a name holds is looked up, so that it
makes no difference whether the mean, or the deviation, has a name. A sum cancels if nothing is left of its terms once
each mean in them, beside what does not move with its indices, is replaced by what it is the mean of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from opgen.diagnostics.model import Diagnostic, Span
from opgen.ir.operator import Variant
from opgen.ir.polynomial import Monomial, Polynomial, atom, number, polynomial, same_number
from opgen.ir.program import Axis, Compute, Loop
from opgen.ir.scalar import BATCH, ONE, Apply, Batch, Index, Position, Read, Scalar, call, mentions, mul, substitute
from opgen.lang.nodes import Reduction
from opgen.lang.unparse import respelled
from opgen.lang.walk import nodes, statement_at
from opgen.lower.declare import Declarations
from opgen.lower.doubts import doubt

_SUMS = ("sum", "mean")
_MAX_TERMS = 64


def deviations(d: Declarations, variants: Sequence[Variant]) -> Iterator[Diagnostic]:
    """A warning for each sum that cancels in all variants that have it."""
    found: dict[tuple[int, int], tuple[Span, bool]] = {}
    for v in variants:
        known = {s.target: s for s in v.program.statements if isinstance(s, Compute)}
        terms = _Terms(known)
        for s in (s for s in known.values() if s.op in _SUMS and s.span is not None):
            assert s.span is not None
            at = (s.span.start, s.span.end)
            found[at] = (s.span, found.get(at, (s.span, True))[1] and terms.cancel(s))
    for span, cancels in found.values():
        r = _reduction(d, span) if cancels else None
        if r is not None:
            squares = respelled(r, (r.body, f"square({respelled(r.body)})"))
            message = "deviations from a mean add up to 0, but for rounding"
            hints = (f"for their squares write `{squares}`", "or take `abs(…)` of each, if that is meant")
            yield doubt("OPG258", message, r, "from the mean of the same values", *hints)


def _reduction(d: Declarations, span: Span) -> Reduction | None:
    """The reduction that a statement of a program was made of."""
    own = statement_at(d.forward, span)
    if own is None:
        return None
    whole = own.value if own.span == span else next((n for n in nodes(own.value) if n.span == span), None)
    return whole if isinstance(whole, Reduction) else None


@dataclass(frozen=True, slots=True)
class _Terms:
    """What expressions are as sums of products, with the formulas of names in place of the names."""

    known: Mapping[str, Compute]
    found: dict[Scalar, Polynomial] = field(default_factory=dict)

    def cancel(self, s: Compute) -> bool:
        """Is a sum, or mean, 0 because of one mean in it, or of all of them?"""
        terms = self.of(s.body).terms
        means = {r: None for m, _ in terms for r in m if self._values(s, m, r) is not None}
        return any(self._cancel(s, terms, chosen) for chosen in ([*means], *([r] for r in means)) if chosen)

    def _cancel(self, s: Compute, terms: Sequence[tuple[Monomial, int]], means: Sequence[Scalar]) -> bool:
        left = number(0)
        for m, factor in terms:
            values = next((v for r in m if r in means and (v := self._values(s, m, r)) is not None), None)
            left = left + (Polynomial(((m, 1),)) if values is None else values).times(factor)
        return not left.terms

    def of(self, e: Scalar) -> Polynomial:
        """A value as a sum of products."""
        found = self.found.get(e)
        if found is None:
            made = self._of(e)
            found = self.found[e] = made if len(made.terms) <= _MAX_TERMS else atom(e)
        return found

    def _of(self, e: Scalar) -> Polynomial:
        match e:
            case Read(tensor, at, None) if tensor in self.known and self.known[tensor].op is None:
                return self.of(_placed(self.known[tensor], at))
            case Apply("add", args):
                return sum(map(self.of, args), number(0))
            case Apply("sub", (a, b)):
                return self.of(a) - self.of(b)
            case Apply("neg", (a,)):
                return -self.of(a)
            case Apply("div", (a, b)):
                return self.of(a) * atom(call("reciprocal", b))
            case Apply("mul", args):
                result = number(1)
                for a in args:
                    result = result * self.of(a)
                return result
            case _:
                return polynomial(e)

    def _values(self, s: Compute, m: Monomial, r: Scalar) -> Polynomial | None:
        """A product with the values in place of a mean of them, over indices that nothing else in it moves with."""
        if not isinstance(r, Read) or r.fill is not None or r.tensor not in self.known:
            return None
        mean, rest = self.known[r.tensor], list(m)
        rest.remove(r)
        if mean.op == "sum":
            count = call("reciprocal", mul(ONE, *(a.extent for a in mean.over if isinstance(a, Axis))))
            if count not in rest or BATCH in mean.over:
                return None
            rest.remove(count)
        elif mean.op != "mean":
            return None
        indices, batch = mentions(call("mul", *rest, r))
        free = [a for a in s.over if (not batch if isinstance(a, Batch) else a.name not in indices)]
        instead = _matched(mean.over, free)
        if instead is None:
            return None
        result = self.of(_placed(mean, r.at, instead))
        for a in rest:
            result = result * atom(a)
        return result


def _placed(s: Compute, at: Sequence[Position], instead: Mapping[Scalar, Scalar] | None = None) -> Scalar:
    """What a statement computes at a position, with other indices than those that it reduces."""
    own: dict[Scalar, Scalar] = dict(instead or {})
    own |= {
        Index(a.name): p for a, p in zip(s.axes, at, strict=True) if isinstance(a, Axis) and not isinstance(p, Batch)
    }
    return substitute(s.body, own)


def _matched(over: Sequence[Loop], free: Sequence[Loop]) -> dict[Scalar, Scalar] | None:
    """An index for each that is reduced, of the same extent; None where there is none."""
    left, found = list(free), dict[Scalar, Scalar]()
    for a in over:
        alike = [b for b in left if a == b or (isinstance(a, Axis) and isinstance(b, Axis) and _as_long(a, b))]
        if not alike:
            return None
        b = a if a in alike else alike[0]
        left.remove(b)
        if isinstance(a, Axis) and isinstance(b, Axis):
            found[Index(a.name)] = Index(b.name)
    return found


def _as_long(a: Axis, b: Axis) -> bool:
    return same_number(a.extent, b.extent)
