"""Positions that the conditions around them keep in range: `where(i + 1 < N, x[i + 1], 0)` needs no check.

In go a finished plan and one of its steps; out come computed positions, by buffer and axis, that are proven wherever
the step has them: by the loops, or with the integer comparisons under which an access is evaluated. A plain index is
left out: what moves with a loop may be read ahead of a condition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from opgen.ir.held import Held, parts_held, where_it
from opgen.ir.polynomial import Polynomial, number, polynomial
from opgen.ir.program import Kind, Loop
from opgen.ir.ranges import Facts, facts_of, inside, is_nonnegative
from opgen.ir.scalar import Apply, Batch, Dim, Index, Lit, Param, Position, Read, Scalar, transform, walk
from opgen.plan.model import Chain, Contract, Convolve, KernelPlan, Let, Nest, Pass, ScatterStep, Sort, Step, Stream

Place = tuple[str, int, Scalar]  # a buffer, one of its axes, and a position there

_WHOLE = frozenset(["add", "sub", "mul", "neg", "floordiv", "mod", "min", "max", "clamp"])
_OPPOSITE = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq"}


def guarded(p: KernelPlan, step: Step) -> frozenset[Place]:
    """The positions of a step that need no check although their loops alone do not tell."""
    found = _Search(p)
    found.step(step)
    return frozenset(found.proven) - frozenset(found.doubtful)


@dataclass(slots=True)
class _Search:
    plan: KernelPlan
    proven: dict[Place, None] = field(default_factory=dict)
    doubtful: dict[Place, None] = field(default_factory=dict)
    loops: tuple[Loop, ...] = ()
    lets: dict[str, Let] = field(default_factory=dict)
    whole: dict[Scalar, bool] = field(default_factory=dict)  # what `_is_whole` found of these lets

    def step(self, s: Step) -> None:
        match s:
            case Nest():
                for p in s.passes:
                    self._pass(p, (*s.outer, *p.loops))
            case ScatterStep():
                self._enter(s.axes, s.base_lets)
                self._values((s.base,))
                self._enter(s.loops, s.lets)
                self._values((s.value,))
                self._places(s.out, s.at, ())
            case Chain():
                for t in s.tasks:
                    loops = (*s.outer, s.along, *t.loops)
                    self._enter(loops, t.lets)
                    self._values((t.store.value,))
                    self._places(t.store.buffer, t.store.at, ())
                    self._enter((*loops, *t.over), t.inner)
                    self._values(() if t.fold is None else (t.fold.value,))
            case Stream():
                for e in _scalars(s):
                    self.doubtful.update((place, None) for place in _computed(e))
            case Contract() | Convolve() | Sort():
                pass

    def _pass(self, p: Pass, loops: tuple[Loop, ...]) -> None:
        self._enter(loops, p.lets)
        self._values(tuple(f.value for f in p.folds))
        for s in p.stores:
            self._values((s.value,))
            self._places(s.buffer, s.at, ())

    def _enter(self, loops: tuple[Loop, ...], lets: tuple[Let, ...]) -> None:
        self.loops = loops
        for let in lets:
            self._value(let.value)
            if let.name in self.lets:
                self.whole = {}
            self.lets[let.name] = let

    def _values(self, values: tuple[Scalar, ...]) -> None:
        for e in values:
            self._value(e)

    def _value(self, e: Scalar) -> None:
        for part, held in parts_held(e, self._told):
            if isinstance(part, Read):
                self._places(part.tensor, part.at, held)

    def _places(self, buffer: str, at: tuple[Position, ...], held: Held) -> None:
        if not at:
            return
        for k, (p, size) in enumerate(zip(at, self.plan.buffer(buffer).shape, strict=True)):
            if isinstance(p, Batch | Index) or isinstance(size, Batch):
                continue
            facts = replace(self._facts(), assumed=held)
            (self.proven if inside(self._opened(p), size, facts) else self.doubtful)[buffer, k, p] = None

    def _opened(self, e: Scalar) -> Scalar:
        """An expression with what its locals stand for."""

        def value(x: Scalar) -> Scalar:
            return self._opened(self.lets[x.tensor].value) if isinstance(x, Read) and self._is_local(x) else x

        return transform(e, value)

    def _is_local(self, r: Read) -> bool:
        return not r.at and r.tensor in self.lets

    # --- conditions --------------------------------------------------------------------------------------------------

    def _told(self, condition: Scalar, holds: bool) -> Iterator[Polynomial]:
        """What is at least zero where a comparison holds, or where it does not."""
        match condition:
            case Read(tensor) if self._is_local(condition):
                yield from where_it(self.lets[tensor].value, self._told, holds=holds)
            case Apply(fn, (a, b)) if fn in _OPPOSITE and self._is_whole(a) and self._is_whole(b):
                left, right = polynomial(self._opened(a)), polynomial(self._opened(b))
                yield from self._differences(fn if holds else _OPPOSITE[fn], left, right)

    def _differences(self, fn: str, a: Polynomial, b: Polynomial) -> Iterator[Polynomial]:
        match fn:
            case "lt":
                yield b - a - number(1)
            case "le":
                yield b - a
            case "gt":
                yield a - b - number(1)
            case "ge":
                yield a - b
            case "eq":
                yield from (a - b, b - a)
            case "ne":  # tells something where one is never below the other
                yield from (d - number(1) for d in (a - b, b - a) if is_nonnegative(d, self._facts()))

    def _facts(self) -> Facts:
        """What the loops tell."""
        return facts_of(self.loops, {d.name: d.value for d in self.plan.dims}, self.plan.sizes)

    def _is_whole(self, e: Scalar) -> bool:
        """Is this an integer for sure?"""
        if e not in self.whole:
            self.whole[e] = self._seen_whole(e)
        return self.whole[e]

    def _seen_whole(self, e: Scalar) -> bool:
        match e:
            case Index() | Dim():
                return True
            case Lit(value):
                return isinstance(value, int)
            case Param(name):
                return any(a.name == name and a.type == "int" for a in self.plan.params)
            case Read(tensor) if self._is_local(e):
                return self._is_whole(self.lets[tensor].value)
            case Read(tensor):
                buffer = self.plan.find(tensor)
                return buffer is not None and buffer.kind is Kind.INT
            case Apply(fn, args):
                return fn in _WHOLE and all(map(self._is_whole, args))
            case _:
                return False


def _scalars(s: Stream) -> Iterator[Scalar]:
    for p in s.points:
        yield from (x.value for x in p.named)
        yield from (x.value for x in p.stores)
    for w in s.sweeps:
        yield from (x.value for x in w.dots)
        yield from (x.value for x in w.lets)
        yield from (x.value for x in w.folds)
        yield from (e for x in w.sums for e in (x.value, x.scale))


def _computed(e: Scalar) -> Iterator[Place]:
    for r in walk(e):
        if isinstance(r, Read):
            yield from ((r.tensor, k, p) for k, p in enumerate(r.at) if not isinstance(p, Batch | Index))
