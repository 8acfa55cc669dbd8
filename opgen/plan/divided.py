"""Plans that differ in divisions by a number of the call alone, as a mean does from a sum: one of them serves for both.

In go two plans; out comes the first twice, with a param in the place of what only it divides by, and the number for
either: the kernels of both are the same then. None where they differ in anything else but names.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TypeVar, cast

from opgen.ir.names import Names
from opgen.ir.scalar import ONE, Apply, Batch, Cast, Const, Dim, Index, Lit, Param, Position, Read, Scalar, walk
from opgen.plan.model import Buffer, KernelPlan, Library, Result
from opgen.plan.numbers import words

_SCALARS = (Lit, Const, Param, Dim, Index, Read, Apply, Cast)
_Part = TypeVar("_Part")


class _UnlikeError(Exception):
    """Two plans differ in more than divisions."""


def alike(divided: KernelPlan, plain: KernelPlan) -> tuple[KernelPlan, KernelPlan] | None:
    """Both as one plan with two sets of numbers; None where there is no such plan, or they are the same already."""
    pair = _Pair(divided)
    try:
        made = pair.plan(plain)
    except _UnlikeError:
        return None
    if not pair.divisors:
        return None
    own = {p.name: n for n, p in pair.divisors.items()}
    numbers = ({**divided.numbers, **more} for more in (own, dict.fromkeys(own, ONE)))
    first, second = (replace(made, numbers=n) for n in numbers)
    return first, second


@dataclass(slots=True)
class _Pair:
    divided: KernelPlan
    divisors: dict[Scalar, Param] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)  # in the plan that is not divided, by those of the other
    taken: Names = field(init=False)
    done: dict[tuple[Scalar, Scalar], Scalar] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.taken = Names(words(self.divided))

    def plan(self, plain: KernelPlan) -> KernelPlan:
        own = self.divided
        if (own.params, own.dims, own.sizes, own.functions) != (plain.params, plain.dims, plain.sizes, plain.functions):
            raise _UnlikeError
        if own.numbers != plain.numbers:
            raise _UnlikeError
        for parts in (own.buffers, plain.buffers), (own.steps, plain.steps), (own.results, plain.results):
            if len(parts[0]) != len(parts[1]):
                raise _UnlikeError
        for a, b in zip(own.buffers, plain.buffers, strict=True):
            self._buffer(a, b)
        for x, y in zip(own.results, plain.results, strict=True):
            self._result(x, y)
        steps = []
        for s, t in zip(own.steps, plain.steps, strict=True):
            if isinstance(s, Library) and s != t:
                raise _UnlikeError
            steps.append(s if isinstance(s, Library) else self.inside(s, t))
        return replace(own, steps=tuple(steps))

    def _buffer(self, a: Buffer, b: Buffer) -> None:
        self.name(a.name, b.name)
        if replace(a, name=b.name) != b or (a.role is not None and a.name != b.name):
            raise _UnlikeError

    def _result(self, a: Result, b: Result) -> None:
        self.name(a.buffer, b.buffer)
        if replace(a, buffer=b.buffer) != b:
            raise _UnlikeError

    def name(self, a: str, b: str) -> None:
        """One name stands for another, everywhere."""
        if self.names.setdefault(a, b) != b:
            raise _UnlikeError

    def inside(self, a: _Part, b: object) -> _Part:
        """A part of the first plan as both have it."""
        if isinstance(a, _SCALARS):
            return cast("_Part", self.scalar(a, cast("Scalar", b)))
        if type(a) is not type(b):
            raise _UnlikeError
        if isinstance(a, tuple) and isinstance(b, tuple):
            if len(a) != len(b):
                raise _UnlikeError
            return cast("_Part", tuple(self.inside(x, y) for x, y in zip(a, b, strict=True)))
        if is_dataclass(a) and not isinstance(a, type):
            kept = ("reason",)
            own = {f.name: getattr(a, f.name) for f in fields(a) if f.name not in kept}
            return replace(a, **{n: self.inside(part, getattr(b, n)) for n, part in own.items()})
        if isinstance(a, str) and isinstance(b, str) and type(a) is str:
            self.name(a, b)
        elif a != b:
            raise _UnlikeError
        return a

    def scalar(self, a: Scalar, b: Scalar) -> Scalar:
        if (a, b) not in self.done:
            self.done[a, b] = self._scalar(a, b)
        return self.done[a, b]

    def _scalar(self, a: Scalar, b: Scalar) -> Scalar:
        match a, b:
            case Apply("div", (value, by)), _ if not (isinstance(b, Apply) and b.fn == "div") and _hosted(by):
                return Apply("div", (self.scalar(value, b), self._divisor(by)))
            case Apply(fn, args), Apply(other, others) if fn == other and len(args) == len(others):
                return Apply(fn, tuple(self.scalar(x, y) for x, y in zip(args, others, strict=True)))
            case Read(tensor, at, fill, wanted), Read() if len(at) == len(b.at):
                self.name(tensor, b.tensor)
                places = tuple(self._place(p, q) for p, q in zip(at, b.at, strict=True))
                return Read(tensor, places, self._maybe(fill, b.fill), self._maybe(wanted, b.wanted))
            case Cast(arg, like), Cast():
                self.name(like, b.like)
                return Cast(self.scalar(arg, b.arg), like)
            case _ if a == b:
                return a
            case _:
                raise _UnlikeError

    def _place(self, a: Position, b: Position) -> Position:
        if isinstance(a, Batch) or isinstance(b, Batch):
            if a != b:
                raise _UnlikeError
            return a
        return self.scalar(a, b)

    def _maybe(self, a: Scalar | None, b: Scalar | None) -> Scalar | None:
        if a is None or b is None:
            if a is not b:
                raise _UnlikeError
            return None
        return self.scalar(a, b)

    def _divisor(self, e: Scalar) -> Param:
        if e not in self.divisors:
            self.divisors[e] = Param(self.taken.fresh("divisor"))
        return self.divisors[e]


def _hosted(e: Scalar) -> bool:
    """Whether it is made of sizes: a host knows it before the call."""
    return all(isinstance(n, Dim | Lit) or (isinstance(n, Apply) and n.fn == "mul") for n in walk(e))
