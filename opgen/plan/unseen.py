"""Bounds within which a sweep of a stream has something to add, such as `j <= i` under a causal mask.

In goes a sweep, out come comparisons of positions; where one of them does not hold, every fold gets what changes
nothing (0, or an infinity that is never the largest) and every sum gets 0. (A weight of 0 counts for nothing, whatever
it weighs.) Back ends leave such points out, one by one or a whole tile where a bound holds at none of its corners.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from opgen.ir.lazy import deciding
from opgen.ir.polynomial import slope
from opgen.ir.program import Axis
from opgen.ir.scalar import (
    INF,
    NEG_INF,
    ZERO,
    Apply,
    Cast,
    Lit,
    Read,
    Scalar,
    mentions,
    reads,
    rebuild,
    transform,
    walk,
)
from opgen.plan.model import Let, Stream, Sweep

_COMPARISONS = ("ge", "gt", "le", "lt")


class _Value(Enum):
    """What is known of a number."""

    ZERO = auto()
    LOW = auto()  # minus infinity
    HIGH = auto()
    OTHER = auto()


_LITERALS: dict[Scalar, _Value] = {ZERO: _Value.ZERO, NEG_INF: _Value.LOW, INF: _Value.HIGH}
_NOTHING = {"sum": _Value.ZERO, "max": _Value.LOW, "min": _Value.HIGH}  # what changes nothing, by fold


@dataclass(frozen=True, slots=True)
class Bound:
    """A comparison of positions, and whether it rather holds at larger ones of an index (`rises`), by its name."""

    condition: Apply
    rises: Mapping[str, bool]


def bounds(step: Stream, sweep: Sweep) -> tuple[Bound, ...]:
    """The comparisons without which a sweep has nothing to add."""
    values = (*(x.value for x in sweep.lets), *(f.value for f in sweep.folds), *(w.value for w in sweep.sums))
    lets = _locals(step, sweep)
    candidates = dict.fromkeys(e for v in values for e in walk(v) if isinstance(e, Apply) and e.fn in _COMPARISONS)
    made = (_bound(_opened(c, lets), step) for c in candidates if _Without(c, lets).nothing(sweep))
    return tuple(b for b in made if b is not None)


def within(step: Stream, sweep: Sweep) -> Sweep:
    """A sweep where its bounds hold: what asks for them is decided, and locals that nothing reads any more are gone."""
    lets = _locals(step, sweep)
    hold = {b.condition for b in bounds(step, sweep)}
    decided: dict[Scalar, Scalar] = {}

    decide = deciding(lambda e: isinstance(e, Apply) and e.fn in _COMPARISONS and _opened(e, lets) in hold)

    def settled(e: Scalar) -> Scalar:
        return decided.get(e, e) if isinstance(e, Read) and not e.at else decide(e)

    kept: list[Let] = []
    for x in sweep.lets:
        value = transform(x.value, settled)
        if isinstance(value, Lit):
            decided[Read(x.name, ())] = value
        else:
            kept.append(replace(x, value=value))
    folds = tuple(replace(f, value=transform(f.value, settled)) for f in sweep.folds)
    sums = tuple(replace(w, value=transform(w.value, settled)) for w in sweep.sums)
    asked = {r.tensor for e in (*(f.value for f in folds), *(w.value for w in sums)) for r in reads(e)}
    for x in reversed(kept):
        if x.name in asked:
            asked |= {r.tensor for r in reads(x.value)}
    return replace(sweep, lets=tuple(x for x in kept if x.name in asked), folds=folds, sums=sums)


def _locals(step: Stream, sweep: Sweep) -> dict[str, Let]:
    return {x.name: x for x in (*(x for p in step.points for x in p.lets), *sweep.lets)}


def _opened(e: Scalar, lets: Mapping[str, Let]) -> Scalar:
    """A value without locals."""
    if isinstance(e, Read) and not e.at and e.tensor in lets:
        return _opened(lets[e.tensor].value, lets)
    return rebuild(e, lambda a: _opened(a, lets))


def _bound(c: Scalar, step: Stream) -> Bound | None:
    """A comparison that moves evenly with the stream and with the rows; None for others."""
    if not isinstance(c, Apply) or any(reads(c)):
        return None
    small, large = c.args if c.fn in ("le", "lt") else c.args[::-1]
    moves = mentions(c)[0]
    rises: dict[str, bool] = {}
    for a in (step.along, step.outer[-1]):
        if not isinstance(a, Axis) or a.name not in moves:
            continue
        below, above = slope(small, a.name), slope(large, a.name)
        if below is None or above is None:
            return None
        rises[a.name] = above >= below
    return Bound(c, rises) if step.along.name in rises else None


@dataclass(slots=True)
class _Without:
    """What is known of values where a comparison does not hold."""

    condition: Apply
    lets: Mapping[str, Let]
    known: dict[Scalar, _Value] = field(default_factory=dict)

    def nothing(self, sweep: Sweep) -> bool:
        """Whether a sweep adds nothing."""
        folds = all(_NOTHING.get(f.op) is self.of(f.value) for f in sweep.folds)
        return folds and all(self.of(w.value) is _Value.ZERO for w in sweep.sums)

    def of(self, e: Scalar) -> _Value:
        if e not in self.known:
            self.known[e] = self._of(e)
        return self.known[e]

    def _of(self, e: Scalar) -> _Value:
        match e:
            case Read(name, ()) if name in self.lets:
                return self.of(self.lets[name].value)
            case Cast(arg):
                return self.of(arg)
            case Apply("where", (condition, a, b)):
                if self._fails(condition):
                    return self.of(b)
                return self.of(a) if self.of(a) is self.of(b) else _Value.OTHER
            case Apply("exp", (arg,)):
                return _Value.ZERO if self.of(arg) is _Value.LOW else _Value.OTHER
            case Apply("neg", (arg,)) if e != NEG_INF:
                return _negative(self.of(arg))
            case Apply("add", (a, b)):
                return _sum(self.of(a), self.of(b))
            case Apply("sub", (a, b)):
                return _sum(self.of(a), _negative(self.of(b)))
            case Apply("mul", args):
                return _Value.ZERO if _Value.ZERO in map(self.of, args) else _Value.OTHER
            case Apply("div", (a, _)):
                return _Value.ZERO if self.of(a) is _Value.ZERO else _Value.OTHER
            case _:
                return _LITERALS.get(e, _Value.OTHER)

    def _fails(self, e: Scalar) -> bool:
        """Whether a condition does not hold, either."""
        match e:
            case Read(name, ()) if name in self.lets:
                return self._fails(self.lets[name].value)
            case Apply("and", args):
                return any(map(self._fails, args))
            case _:
                return e == self.condition


def _negative(v: _Value) -> _Value:
    return {_Value.LOW: _Value.HIGH, _Value.HIGH: _Value.LOW}.get(v, v)


def _sum(a: _Value, b: _Value) -> _Value:
    """Of two numbers; one that nothing is known of is taken to be finite."""
    infinite = {v for v in (a, b) if v in (_Value.LOW, _Value.HIGH)}
    if infinite:
        return infinite.pop() if len(infinite) == 1 else _Value.OTHER
    return _Value.ZERO if a is b is _Value.ZERO else _Value.OTHER
