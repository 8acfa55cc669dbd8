"""How far positions reach that sizes and params alone decide: numbers that a host compares before a kernel runs.

In go a plan, one of its kernels and the accesses of it that may leave their slot; out come those whose positions are
known to their ends (windows, shifts, strides, parts put side by side), with what is to be compared at a call. Only what
is sure to be met at both of its ends counts: a condition around an access narrows a loop or rules the access out, and
what is read from data stays with the kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce

from opgen.ir.lazy import in_contexts
from opgen.ir.polynomial import Polynomial, number, polynomial
from opgen.ir.program import Axis, Loop
from opgen.ir.ranges import Facts, facts_of, is_nonnegative
from opgen.ir.scalar import (
    ONE,
    ZERO,
    Apply,
    Batch,
    Dim,
    Index,
    Lit,
    Param,
    Position,
    Read,
    Scalar,
    add,
    call,
    children,
    mul,
    sub,
    transform,
    walk,
)
from opgen.kernel.checks import Access
from opgen.kernel.model import Atomic, Body, For, If, Kernel, Store
from opgen.kernel.walk import bound, values
from opgen.plan.model import KernelPlan, Let

_WHOLE = ("add", "sub", "mul", "neg", "floordiv", "mod", "min", "max", "clamp")
_OPPOSITE = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq"}


@dataclass(frozen=True, slots=True)
class Reach:
    """The ends of a position along an axis of a slot of some size; `points`: how often it is met, if at all."""

    slot: str
    axis: int
    low: Scalar
    high: Scalar
    size: Scalar
    points: Scalar


@dataclass(frozen=True, slots=True)
class Reaches:
    """What is to be compared, and the accesses that are in range where it is."""

    compared: tuple[Reach, ...]
    told: frozenset[Access]


def reaches(plan: KernelPlan, k: Kernel, unsure: frozenset[Access]) -> Reaches:
    """The positions of a kernel that a host can tell."""
    search = _Search(plan, k, unsure)
    search.body(k.body, _Box())
    told = frozenset(search.known) - search.unknown
    return Reaches(tuple(dict.fromkeys(r for a in search.known if a in told for r in search.known[a])), told)


@dataclass(frozen=True, slots=True)
class _Box:
    """The loops around, between which values each of their indices runs, and whether that is all there is around.

    `filled`: sizes that are not 0, by the conditions around.
    """

    loops: tuple[Loop, ...] = ()
    low: Mapping[str, Scalar] = field(default_factory=dict)
    high: Mapping[str, Scalar] = field(default_factory=dict)
    narrowed: frozenset[str] = frozenset()
    whole: bool = True
    filled: tuple[Scalar, ...] = ()

    def __hash__(self) -> int:
        return hash((self.loops, self.narrowed, self.whole, self.filled))

    def part(self) -> _Box:
        """Somewhere in it, where nothing is told."""
        return replace(self, whole=False)

    def meet(self, other: _Box) -> _Box:
        """What is told of both."""
        return self if self == other else self.part()

    def within(self, loop: Loop) -> _Box:
        inner = replace(self, loops=(*self.loops, loop))
        if isinstance(loop, Batch):
            return inner
        last = polynomial(loop.extent) - number(1)
        return replace(inner, low={**self.low, loop.name: ZERO}, high={**self.high, loop.name: last.scalar()})


class _Search:
    def __init__(self, plan: KernelPlan, k: Kernel, unsure: frozenset[Access]) -> None:
        self.unsure = unsure
        self.shapes = {s.name: s.shape for s in k.slots}
        self.locals: dict[str, Scalar] = {}  # those that read nothing, as what they stand for
        for name, let in bound(k.body).items():
            whole = self.opened(let.value) if isinstance(let, Let) else None
            if whole is not None and not any(isinstance(n, Read) for n in walk(whole)):
                self.locals[name] = whole
        self.dims = {d.name: d.value for d in plan.dims}
        self.sizes = plan.sizes
        self.facts = facts_of((), self.dims, self.sizes)
        self.integers = {a.name for a in plan.params if a.type == "int"}
        self.known: dict[Access, list[Reach]] = {}
        self.unknown: set[Access] = set()

    # --- what is met where -------------------------------------------------------------------------------------------

    def body(self, body: Body, box: _Box) -> None:
        for node in body:
            match node:
                case For(loop, inner):
                    self.body(inner, box.within(loop))
                case If(condition, then, otherwise):
                    self.value(condition, box)
                    self.body(then, self.under(condition, box, holds=True))
                    self.body(otherwise, self.under(condition, box, holds=False))
                case _:
                    for e in values((node,)):
                        self.value(e, box)
                    if isinstance(node, Store | Atomic):
                        self.places(node.slot, node.at, box)

    def value(self, e: Scalar, box: _Box) -> None:
        for part, here in in_contexts(e, box, self.inner, _Box.meet):
            if isinstance(part, Read) and part.fill is None:
                self.places(part.tensor, part.at, here)

    def inner(self, e: Scalar, box: _Box) -> Iterator[tuple[Scalar, _Box]]:
        """The operands of a value, each with the box that it is evaluated in."""
        match e:
            case Apply("where", (condition, a, b)) if box.whole:
                yield condition, box
                yield a, self.under(condition, box, holds=True)
                yield b, self.under(condition, box, holds=False)
            case Apply("and" | "or", (first, *others)):
                yield first, box
                yield from ((a, box.part()) for a in others)
            case _:
                yield from ((c, box) for c in children(e))

    def places(self, slot: str, at: tuple[Position, ...], box: _Box) -> None:
        for k, (p, size) in enumerate(zip(at, self.shapes.get(slot, ()), strict=False)):
            if (slot, k, p) not in self.unsure or isinstance(p, Batch) or isinstance(size, Batch):
                continue
            ends = self.ends(polynomial(self.opened(p)), box) if box.whole else None
            if ends is None:
                self.unknown.add((slot, k, p))
                continue
            low, high = ends
            found = self.known.setdefault((slot, k, p), [])
            inside = self.facts_in(box)
            if not is_nonnegative(low, inside) or not is_nonnegative(polynomial(size) - high - number(1), inside):
                found.append(Reach(slot, k, low.scalar(), high.scalar(), size, self.points(box)))

    def facts_in(self, box: _Box) -> Facts:
        return facts_of((a for a in box.loops if isinstance(a, Axis)), self.dims, self.sizes)

    def opened(self, e: Scalar) -> Scalar:
        """An expression with what its locals stand for, where these are told by indices, sizes and params."""
        return transform(e, lambda x: self.locals.get(x.tensor, x) if isinstance(x, Read) and not x.at else x)

    # --- conditions --------------------------------------------------------------------------------------------------

    def under(self, condition: Scalar, box: _Box, *, holds: bool) -> _Box:
        """The box where a condition holds, or where it does not."""
        match self.opened(condition):
            case Apply("not", (a,)):
                return self.under(a, box, holds=not holds)
            case Apply("and" | "or" as fn, args) if holds == (fn == "and"):
                return reduce(lambda inner, a: self.under(a, inner, holds=holds), args, box)
            case Apply(fn, (a, b)) if fn in _OPPOSITE:
                left, right = polynomial(a), polynomial(b)
                match fn if holds else _OPPOSITE[fn]:
                    case "lt":
                        return self.narrowed(right - left - number(1), box)
                    case "le":
                        return self.narrowed(right - left, box)
                    case "gt":
                        return self.narrowed(left - right - number(1), box)
                    case "ge":
                        return self.narrowed(left - right, box)
                    case "eq":
                        return self.narrowed(right - left, self.narrowed(left - right, box))
                    case "ne" if b == ZERO and self.is_size(left):
                        return replace(box, filled=(*box.filled, a))
        return box.part()

    def narrowed(self, kept: Polynomial, box: _Box) -> _Box:
        """The box where a polynomial is not negative; one that moves with one index alone narrows its values."""
        names = _indices(kept.atoms())
        index = next((a for a in kept.atoms() if isinstance(a, Index) and {a.name} == names), None)
        parts = None if index is None else kept.split(index)
        if index is None or parts is None or parts[0].constant not in (1, -1) or _indices(parts[1].atoms()):
            return box.part()
        name, rest = index.name, parts[1]
        if name not in box.low or not self.is_told(rest):
            return box.part()
        if parts[0].constant == 1:
            return replace(
                box, low={**box.low, name: self.further(box.low[name], -rest)}, narrowed=box.narrowed | {name}
            )
        high = self.further(box.high[name], rest, least=True)
        return replace(box, high={**box.high, name: high}, narrowed=box.narrowed | {name})

    def further(self, a: Scalar, b: Polynomial, *, least: bool = False) -> Scalar:
        """The larger of two numbers, or the smaller."""
        difference = polynomial(a) - b if least else b - polynomial(a)
        if is_nonnegative(difference, self.facts):
            return b.scalar()
        return a if is_nonnegative(-difference, self.facts) else call("min" if least else "max", a, b.scalar())

    def is_told(self, p: Polynomial) -> bool:
        """Whether all there is are integers that a host knows, and indices."""
        return all(self.is_number(n) for a in p.atoms() for n in walk(a))

    def is_size(self, p: Polynomial) -> bool:
        """Whether a number is one that a host knows, and never negative."""
        return self.is_told(p) and not _indices(p.atoms()) and is_nonnegative(p, self.facts)

    def is_number(self, e: Scalar) -> bool:
        match e:
            case Lit(value):
                return isinstance(value, int)
            case Param(name):
                return name in self.integers
            case Apply(fn):
                return fn in _WHOLE
            case _:
                return isinstance(e, Index | Dim)

    def points(self, box: _Box) -> Scalar:
        """How many points there are."""
        sizes = list(box.filled)
        for a in box.loops:
            if isinstance(a, Batch):
                sizes.append(Dim("..."))
            elif a.name in box.narrowed:
                count = polynomial(sub(add(box.high[a.name], ONE), box.low[a.name]))
                sure = is_nonnegative(count, self.facts)
                sizes.append(count.scalar() if sure else call("max", ZERO, count.scalar()))
            elif not isinstance(a.extent, Lit):
                sizes.append(a.extent)
        return mul(*sizes) if sizes else ONE

    # --- ends --------------------------------------------------------------------------------------------------------

    def ends(self, p: Polynomial, box: _Box) -> tuple[Polynomial, Polynomial] | None:
        """The least and the largest value, where both are met: each index stands in one place only."""
        if not self.is_told(p):
            return None
        low, high, met = number(0), number(0), set[str]()
        for m, c in p.terms:
            moving = [a for a in m if _indices((a,))]
            still = Polynomial(((tuple(a for a in m if a not in moving), c),))
            if not moving:
                low, high = low + still, high + still
                continue
            names = _indices(moving)
            span = self.span(moving[0], box) if len(moving) == 1 and not names & met else None
            up, down = is_nonnegative(still, self.facts), is_nonnegative(-still, self.facts)
            if span is None or not (up or down):
                return None
            first, last = span if up else span[::-1]
            low, high, met = low + still * first, high + still * last, met | names
        return low, high

    def span(self, a: Scalar, box: _Box) -> tuple[Polynomial, Polynomial] | None:
        """The ends of one atom."""
        match a:
            case Index(name) if name in box.low:
                return polynomial(box.low[name]), polynomial(box.high[name])
            case Apply("mod", (Index(name), s)) if box.low.get(name) == ZERO and not _indices((s,)):
                last = self.further(box.high[name], polynomial(s) - number(1), least=True)
                return number(0), polynomial(last)
            case Apply("floordiv", (inner, s)) if not _indices((s,)) and is_nonnegative(polynomial(s), self.facts):
                ends = self.ends(polynomial(inner), box)
                return ends and (_quotient(ends[0], s), _quotient(ends[1], s))
            case _:
                return None


def _quotient(a: Polynomial, s: Scalar) -> Polynomial:
    return polynomial(call("floordiv", a.scalar(), s))


def _indices(found: Iterable[Scalar]) -> set[str]:
    """The indices that some scalars move with."""
    return {n.name for a in found for n in walk(a) if isinstance(n, Index)}
