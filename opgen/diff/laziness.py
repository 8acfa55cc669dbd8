"""Where a cotangent is surely zero, so that no slope is looked at: a branch that is not taken, an output nobody uses.

A zero times a slope that is infinite or nan would be nan. What is known of a cotangent is a *guard*, a condition
outside of which it is zero. Guards are found where a `where` leaves zero, and follow the cotangent through sums and
products; they are asked for only where a slope is *wild*, that is, may be infinite or nan though the inputs are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce

from opgen.diff.algebra import product
from opgen.diff.conditions import conjuncts
from opgen.diff.contribution import either_of
from opgen.diff.simple import simple
from opgen.ir.arithmetic import either, negation_of
from opgen.ir.functions import row as function
from opgen.ir.program import Axis, Compute, Loop, Program, Recurrence, Scatter, statement_reads, statement_scalars
from opgen.ir.scalar import (
    TRUE,
    ZERO,
    Apply,
    Batch,
    Cast,
    Const,
    Index,
    Lit,
    Param,
    Read,
    Scalar,
    both,
    call,
    children,
    mentions,
    reads,
    substitute,
    where,
)

# The param of a gradient that says of which outputs it has a cotangent; what nobody uses has none.
GIVEN = "given_grads"

# The largest guard that is remembered, in distinct nodes: what shifted conditions come to grows with every step.
_LARGEST = 300

# Masks are made for them: where everything is -inf, they are nan or infinite.
_WILD_OPERATORS = ("softmax", "log_softmax", "logsumexp", "logcumsumexp")


@dataclass
class Laziness:
    """What is known of the tensors of a program and of its derivative: which are wild, and their guards."""

    wild: set[str] = field(default_factory=set)
    guards: dict[str, tuple[tuple[Loop, ...], Scalar]] = field(default_factory=dict)
    noted: dict[str, Compute | Scatter] = field(default_factory=dict)  # of these the guards were not asked for yet

    @staticmethod
    def of(p: Program) -> Laziness:
        found = Laziness()
        for s in p.statements:
            steps = s.steps if isinstance(s, Recurrence) else (s,)
            if any(found._makes_wild(c) for c in steps):
                found.wild.update(c.target for c in steps)
            if not isinstance(s, Recurrence):
                found.note(s)
        return found

    def _makes_wild(self, s: Compute | Scatter) -> bool:
        return s.op in _WILD_OPERATORS or any(map(self.is_wild, statement_scalars(s)))

    def is_wild(self, e: Scalar) -> bool:
        """May it be infinite or nan though the inputs are not?"""
        match e:
            case Const(name):
                return name != "pi"
            case Read(tensor):
                return tensor in self.wild
            case Apply("where", (_, a, b)):
                return self.is_wild(a) or self.is_wild(b)
            case Apply(fn, args):
                if function(fn).result == "bool":
                    return False
                return (not function(fn).tame and _is_singular(fn, args)) or any(map(self.is_wild, args))
            case Cast(arg):
                return self.is_wild(arg)
            case _:
                return False

    def asks(self, tensor: str) -> tuple[int, ...]:
        """The outputs of which one has to have a cotangent, or else a tensor is zero; none where that is not known."""
        axes, guard = self.known(tensor) or ((), TRUE)
        found = _weakened(guard, axes)
        parts = found.args if isinstance(found, Apply) and found.fn == "or" else (found,)
        flags = [p.item for p in parts if isinstance(p, Param) and p.name == GIVEN and p.item is not None]
        return tuple(sorted(flags)) if len(flags) == len(parts) else ()

    # --- guards ------------------------------------------------------------------------------------------------------

    def note(self, s: Compute | Scatter) -> None:
        """The guard of a tensor follows from the statement that makes it."""
        self.noted[s.target] = s

    def known(self, tensor: str) -> tuple[tuple[Loop, ...], Scalar] | None:
        """The guard of a tensor, over its axes."""
        asked = [tensor]
        while asked:
            s = self.noted.get(asked[-1])
            before = [] if s is None else [r.tensor for r in statement_reads(s) if r.tensor in self.noted]
            if before:
                asked += before
                continue
            del asked[-1]
            if s is not None:
                del self.noted[s.target]
                self._settle(s)
        return self.guards.get(tensor)

    def _settle(self, s: Compute | Scatter) -> None:
        if isinstance(s, Scatter):
            gone: tuple[Loop, ...] = s.loops if s.op == "sum" and s.base == ZERO else (*s.loops, *s.axes)
            guard = self.guard(s.body) if s.base == ZERO else None
        else:
            gone, guard = s.over, self.guard(s.body) if s.op in (None, "sum", "mean") else None
        axes = (a for a in (*s.axes, *gone) if isinstance(a, Axis))
        sizes = {a.name: int(a.extent.value) for a in axes if isinstance(a.extent, Lit)}
        guard = None if guard is None else _somewhere(simple(guard, sizes), gone)
        if guard is not None and not _is_large(guard):
            self.guards[s.target] = s.axes, guard

    def guard(self, e: Scalar) -> Scalar | None:
        """A condition outside of which a scalar is surely zero, if one is known."""
        match e:
            case Read(tensor, at, fill):
                found = self.known(tensor)
                if found is None:
                    return None
                axes, condition = found
                if fill is not None and not _is_constant(condition):
                    return None
                pairs = zip(axes, at, strict=True)
                places: dict[Scalar, Scalar] = {
                    Index(a.name): q for a, q in pairs if isinstance(a, Axis) and not isinstance(q, Batch)
                }
                return _certain(simple(substitute(condition, places), {}))
            case Apply("where", (condition, taken, other)) if other == ZERO:
                return _both(condition, self.guard(taken))
            case Apply("where", (condition, taken, other)) if taken == ZERO:
                return _both(negation_of(condition), self.guard(other))
            case Apply("mul", args):
                return next((g for g in map(self.guard, args) if g is not None), None)
            case Apply("neg", (a,)) | Apply("div", (a, _)) | Cast(a):
                return self.guard(a)
            case Apply("add" | "sub", args):
                return _any([self.guard(a) for a in args])
            case _:
                return None

    def share(self, cotangents: Sequence[Read], others: Iterable[tuple[str, tuple[Loop, ...]]]) -> None:
        """What else comes of these cotangents alone is zero where they all are, if that is so everywhere at once."""
        guard = _any([self.guard(r) for r in cotangents])
        if guard is not None and _is_constant(guard):
            self.guards |= {name: (axes, guard) for name, axes in others}

    def weighted(self, cotangent: Scalar, slope: Scalar) -> Scalar:
        """Their product, which is zero wherever the cotangent surely is."""
        return product(self.kept(cotangent, cotangent, slope), slope)

    def kept(self, e: Scalar, cotangent: Scalar, slope: Scalar, without: tuple[Loop, ...] = ()) -> Scalar:
        """`e`, with a zero written out where the cotangent has one if the slope is wild.

        `without`: loops on which the guard may not depend.
        """
        guard = self.guard(cotangent) if self.is_wild(slope) else None
        guard = None if guard is None else _somewhere(guard, without)
        return e if guard is None else lazily(guard, e)


def lazily(guard: Scalar, e: Scalar) -> Scalar:
    """`e` where the guard holds, else zero."""
    match guard:
        case Apply("not", (condition,)):
            return where(condition, ZERO, e)
        case _:
            return where(guard, e, ZERO)


def _any(guards: Sequence[Scalar | None]) -> Scalar | None:
    """A guard of a sum; None where a term has none, or where one of them always holds."""
    found = [g for g in guards if g is not None]
    if not found or len(found) < len(guards):
        return None
    opposite = [negation_of(g) for g in found]
    found = [_all(c for c in conjuncts(g) if c not in opposite) for g in found]
    return None if TRUE in found else reduce(either_of, found)


def _all(conditions: Iterable[Scalar]) -> Scalar:
    whole: Scalar = TRUE
    for c in conditions:
        whole = both(whole, c)
    return whole


def _both(condition: Scalar, guard: Scalar | None) -> Scalar:
    return condition if guard is None or guard == condition else both(condition, guard)


def _somewhere(guard: Scalar, loops: tuple[Loop, ...]) -> Scalar | None:
    """A condition that holds if the guard does anywhere along some loops; None where that is not known to fail.

    A place that all points read may be there for no other reason than that there are points.
    """
    weak = _weakened(guard, loops)
    if any(_is_one_place(r) for r in reads(weak)):
        extents = (a.extent for a in loops if isinstance(a, Axis) and not isinstance(a.extent, Lit))
        weak = both(_all(call("gt", n, ZERO) for n in dict.fromkeys(extents)), weak)
    return _certain(weak)


def _certain(guard: Scalar) -> Scalar | None:
    return None if guard == TRUE else guard


def _is_large(guard: Scalar) -> bool:
    found, left = {guard}, [guard]
    while left and len(found) <= _LARGEST:
        new = [c for c in children(left.pop()) if c not in found]
        found.update(new)
        left += new
    return len(found) > _LARGEST


def _weakened(guard: Scalar, loops: tuple[Loop, ...]) -> Scalar:
    done: dict[Scalar, Scalar] = {}

    def step(g: Scalar) -> Scalar:
        if g not in done:
            done[g] = weaker(g)
        return done[g]

    def weaker(g: Scalar) -> Scalar:
        match g:
            case Apply("and", args):
                return _all(map(step, args))
            case Apply("or", args):
                return reduce(either, map(step, args))
            case _:
                return TRUE if _depends(g, loops) else g

    return step(guard)


def _is_singular(fn: str, args: tuple[Scalar, ...]) -> bool:
    """May a function that is not tame turn what tensors hold into something infinite or nan?"""
    match fn, args:
        case "div", (_, below):
            return bool(reads(below))
        case "pow", (base, Lit(exponent)):
            return bool(reads(base)) and (exponent < 0 or exponent != int(exponent))
        case _:
            return any(map(reads, args))


def _is_one_place(r: Read) -> bool:
    """Does an access have a position that moves with no index?"""
    return r.fill is None and any(not isinstance(p, Batch) and not mentions(p)[0] for p in r.at)


def _is_constant(guard: Scalar) -> bool:
    """The same for every point?"""
    return mentions(guard) == (frozenset(), False) and not reads(guard)


def _depends(guard: Scalar, loops: tuple[Loop, ...]) -> bool:
    names, batch = mentions(guard)
    return any(batch if isinstance(a, Batch) else a.name in names for a in loops)
