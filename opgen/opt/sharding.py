"""How the tensors of a program may be spread over devices.

In goes a program; out come its `Sharding`s, one for each dim along which every device can work on a slice by itself.
A device then holds a slice of the tensors that have this dim and the whole of all others; what it sums over the dim is
a part of a sum over all devices. Other tensors may have to come as such parts as well, so that what is added to a sum
is added once. The statements themselves do not change, and so neither may the dim be used as a number, nor an index
along it for anything but reading at this index.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from opgen.ir.program import (
    Axis,
    Compute,
    Kind,
    Loop,
    Program,
    Recurrence,
    Scatter,
    Shape,
    Statement,
    Tensor,
    targets,
)
from opgen.ir.scalar import BATCH, PLACE, ZERO, Apply, Batch, Dim, Index, Position, Read, Scalar, children, reads, walk

BATCH_DIM = "..."
LINEAR_REDUCTIONS = (None, "sum", "mean")


class Held(StrEnum):
    """What a device has of a tensor that it has no slice of."""

    WHOLE = "whole"
    PART = "part"  # all devices' together add up to the tensor
    NOTHING = "nothing"  # it cannot be had without the other devices


Placement = int | Held  # the axis, as declared, that slices are along


@dataclass(frozen=True, slots=True)
class Sharding:
    """A way to spread the arguments, and how results come out; one of them at least is not `NOTHING`."""

    dim: str
    arguments: tuple[Placement, ...]
    results: tuple[Placement, ...]


def shardings(p: Program) -> tuple[Sharding, ...]:
    """The dims of a program that slices may be along, in order of appearance."""
    if not p.statements:
        return ()
    dims = dict.fromkeys(_name(e) for t in p.inputs for e in t.shape)
    found = [_sharding(p, d) for d in dims if d is not None]
    return tuple(s for s in found if s is not None)


def _name(extent: Scalar | Batch) -> str | None:
    match extent:
        case Batch():
            return BATCH_DIM
        case Dim(name):
            return name
        case _:
            return None


def _sharding(p: Program, dim: str) -> Sharding | None:
    arguments: dict[str, Placement] = {}
    sizes = _sizes_from(p, dim)
    for t in p.inputs:
        along = [k for k, e in enumerate(t.shape) if _name(e) == dim]
        if len(along) > 1 or any(_uses(e, sizes) for k, e in enumerate(t.shape) if k not in along):
            return None
        arguments[t.name] = along[0] if along else Held.WHOLE
    best = _Walk(p, dim, sizes, arguments).run()
    wanted = best.wanted
    while wanted:  # arguments that are added to parts of sums have to come in parts as well
        arguments = arguments | dict.fromkeys(wanted, Held.PART)
        trial = _Walk(p, dim, sizes, arguments).run()
        if trial.lost() < best.lost():
            best = trial
        wanted = tuple(n for n in trial.wanted if arguments[n] is not Held.PART)
    results = tuple(best.held[o.value] for o in p.outputs)
    if all(r is Held.NOTHING for r in results):
        return None
    return Sharding(dim, tuple(best.arguments[t.name] for t in p.inputs), results)


def _sizes_from(p: Program, dim: str) -> tuple[str, ...]:
    """The dim, and those whose size is computed from it."""
    found = [dim]
    for d in p.dims:
        if d.value is not None and d.name not in found and _uses(d.value, found):
            found.append(d.name)
    return tuple(found)


def _uses(e: Scalar | Batch, sizes: Sequence[str]) -> bool:
    return not isinstance(e, Batch) and any(isinstance(n, Dim) and n.name in sizes for n in walk(e))


class _LostError(Exception):
    """A tensor cannot be computed from what a device has."""


@dataclass(slots=True)
class _Walk:
    """The placements of all tensors, given those of the arguments."""

    program: Program
    dim: str
    sizes: tuple[str, ...]
    arguments: Mapping[str, Placement]
    held: dict[str, Placement] = field(default_factory=dict)
    wanted: tuple[str, ...] = ()  # arguments that would have to come in parts

    def run(self) -> _Walk:
        self.held = dict(self.arguments)
        for s in self.program.statements:
            try:
                self._follow(s)
            except _LostError:
                self.held |= dict.fromkeys(targets(s), Held.NOTHING)
        return self

    def lost(self) -> int:
        """How many results cannot be had."""
        return sum(self.held[o.value] is Held.NOTHING for o in self.program.outputs)

    def _follow(self, s: Statement) -> None:
        match s:
            case Compute():
                self.held[s.target] = self._compute(s)
            case Scatter():
                self.held[s.target] = self._scatter(s)
            case Recurrence():
                if self._is_sliced(s.along):
                    raise _LostError
                expected = {step.target: self._along(step.shape) for step in s.steps}
                self.held |= expected
                if any(self._compute(step) != expected[step.target] for step in s.steps):
                    raise _LostError

    def _compute(self, s: Compute) -> Placement:
        sliced = self._sliced(s.loops)
        self._look(s.body, sliced)
        in_parts = self._in_parts(s.body)
        if sliced is None:
            if in_parts and s.op not in LINEAR_REDUCTIONS:
                raise _LostError
            return Held.PART if in_parts else Held.WHOLE
        if in_parts:
            raise _LostError
        if sliced not in s.over:
            return s.axes.index(sliced)
        if s.op != "sum" or sliced in s.axes:
            raise _LostError
        return Held.PART

    def _scatter(self, s: Scatter) -> Placement:
        sliced, written = self._sliced(s.loops), self._sliced(s.axes)
        self._look(s.body, sliced)
        self._look(s.base, written)
        for position in s.at:
            if not isinstance(position, Batch) and position != _index(sliced):
                self._look(position, sliced)
                if self._in_parts(position):
                    raise _LostError
        in_parts = self._in_parts(s.body)
        here = [k for k, p in enumerate(s.at) if p == _index(sliced)]
        if here != ([] if written is None else [s.axes.index(written)]):
            raise _LostError
        if written is not None:
            if in_parts or self._in_parts(s.base):
                raise _LostError
            return here[0]
        if sliced is not None and in_parts:
            raise _LostError
        if sliced is None and not in_parts:
            if self._in_parts(s.base):
                raise _LostError
            return Held.WHOLE
        if s.op != "sum":
            raise _LostError
        if s.base != ZERO and not self._in_parts(s.base):
            self._want(s.base)
            raise _LostError
        return Held.PART

    # slices

    def _is_sliced(self, loop: Loop) -> bool:
        return _name(BATCH if isinstance(loop, Batch) else loop.extent) == self.dim

    def _sliced(self, loops: Sequence[Loop]) -> Loop | None:
        """The loop over the dim; no other may depend on its size."""
        found = [loop for loop in loops if self._is_sliced(loop)]
        if len(found) > 1:
            raise _LostError
        if any(isinstance(a, Axis) and a not in found and _uses(a.extent, self.sizes) for a in loops):
            raise _LostError
        return found[0] if found else None

    def _along(self, shape: Shape) -> Placement:
        return next((k for k, e in enumerate(shape) if _name(e) == self.dim), Held.WHOLE)

    def _look(self, e: Scalar, sliced: Loop | None) -> None:
        """Raise unless a device can tell the value of an expression."""
        if (isinstance(e, Dim) and e.name in self.sizes) or (isinstance(e, Index) and e == _index(sliced)):
            raise _LostError
        if e is PLACE and sliced == BATCH:
            raise _LostError
        if isinstance(e, Read):
            along = self.held[e.tensor]
            if along is Held.NOTHING:
                raise _LostError
            for k, position in enumerate(e.at):
                if k == along:
                    if sliced is None or position != _index(sliced):
                        raise _LostError
                elif isinstance(position, Batch):
                    if sliced == BATCH:
                        raise _LostError
                else:
                    self._look(position, sliced)
            if e.fill is not None:
                self._look(e.fill, sliced)
            return
        for child in children(e):
            self._look(child, sliced)

    # parts of sums

    def _in_parts(self, e: Scalar) -> bool:
        """Is an expression a part of a sum, being linear in such parts?"""
        match e:
            case Read(tensor, _, fill):
                if any(self._in_parts(p) for p in children(e)):
                    raise _LostError
                in_parts = self.held[tensor] is Held.PART
                if in_parts and fill not in (None, ZERO):
                    raise _LostError
                return in_parts
            case Apply("add" | "sub", args):
                return self._alike(args)
            case Apply("neg", (a,)):
                return self._in_parts(a)
            case Apply("where", (condition, a, b)):
                if self._in_parts(condition):
                    raise _LostError
                return self._alike((a, b))
            case Apply("mul", args):
                found = [self._in_parts(a) for a in args]
                if sum(found) > 1:
                    raise _LostError
                return any(found)
            case Apply("div", (a, b)):
                if self._in_parts(b):
                    raise _LostError
                return self._in_parts(a)
            case _:
                if any(self._in_parts(c) for c in children(e)):
                    raise _LostError
                return False

    def _alike(self, terms: Sequence[Scalar]) -> bool:
        """Terms of a sum come all in parts, or all whole."""
        found = [(t, self._in_parts(t)) for t in terms if t != ZERO]
        whole = [t for t, in_parts in found if not in_parts]
        if whole and len(whole) < len(found):
            self._want(*whole)
            raise _LostError
        return bool(found) and not whole

    def _want(self, *terms: Scalar) -> None:
        """Note the arguments that would have to come in parts for these terms to do so."""
        found = (n for term in terms for n in self._factors(term) if self.arguments[n] is Held.WHOLE)
        self.wanted = tuple(dict.fromkeys((*self.wanted, *found)))

    def _factors(self, term: Scalar, seen: tuple[str, ...] = ()) -> Iterator[str]:
        if isinstance(term, Apply) and term.fn in ("add", "sub"):
            for a in term.args:
                yield from self._factors(a, seen)
            return
        for r in reads(term)[:1]:
            t = self.program.tensor(r.tensor)
            if isinstance(t, Compute) and t.target not in seen:
                yield from self._factors(t.body, (*seen, t.target))
            elif isinstance(t, Tensor) and t.kind is Kind.FLOAT:
                yield t.name


def _index(loop: Loop | None) -> Position | None:
    """What reads at the index of a loop."""
    match loop:
        case None:
            return None
        case Batch():
            return BATCH
        case Axis(name):
            return Index(name)
