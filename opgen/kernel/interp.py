"""The oracle of kernels: a plan run by its kernels in plain Python, one point at a time, dumb on purpose.

In go a plan and the arrays and params of a call, out come its results. Loops run in the order in which they stand,
parallel ones as well; floats are IEEE doubles, so that nothing is rounded to storage. A position out of range raises
`IndexError`, a local or a place that nothing was stored in yet is nan or fails: a rewrite that reads too early shows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from opgen.ir.evaluate import Evaluator, Value
from opgen.ir.interp import Array, batch_part, expand_to, place, product, sum_to, wider
from opgen.ir.interp_functions import reduce_values
from opgen.ir.program import Axis, Kind, Loop, Shape
from opgen.ir.scalar import Batch, Position, Read, Scalar
from opgen.kernel.lower import lower
from opgen.kernel.model import Acc, Atomic, Body, For, If, Join, Kernel, Node, Store, Tile
from opgen.plan.model import KernelPlan, Let, Result, Storage


@dataclass(slots=True)
class _Joined:
    """What an accumulator has been given, and where it stood."""

    op: str
    whole: bool
    values: list[Value] = field(default_factory=list)
    places: list[Value] = field(default_factory=list)

    def value(self) -> Value:
        if not self.places:
            return reduce_values(self.op, self.values, whole=self.whole)
        in_order = sorted(zip(self.places, self.values, strict=True), key=lambda pair: pair[0])
        best = reduce_values(self.op, [v for _, v in in_order])
        return in_order[int(best)][0]


@dataclass(slots=True)
class _Point:
    """Where a kernel stands: the indices, the batch, and the locals and tiles that are known there."""

    index: dict[str, int] = field(default_factory=dict)
    batch: tuple[int, ...] = ()
    locals: dict[str, Value | _Joined] = field(default_factory=dict)
    tiles: dict[str, Array] = field(default_factory=dict)


class Machine(Evaluator[_Point]):
    """The memory and the numbers of one call of a plan."""

    def __init__(self, plan: KernelPlan, arrays: Mapping[str, Array], params: Mapping[str, object]) -> None:
        super().__init__(plan.params, plan.functions, params)
        self.plan = plan
        self.conditions = {b.name for b in plan.buffers if b.kind is Kind.BOOL}
        self.batch: tuple[int, ...] = ()
        for b in plan.arguments:
            if b.name in arrays:
                self.batch = wider(self.batch, batch_part(b.shape, arrays[b.name].shape))
        self.dims["..."] = product(self.batch)
        for d in plan.dims:
            if d.value is not None:
                self.dims[d.name] = int(self.value(d.value, _Point()))
            elif d.tensor is not None and d.tensor in arrays:
                shape, actual = plan.buffer(d.tensor).shape, arrays[d.tensor].shape
                behind = any(isinstance(s, Batch) for s in shape[: d.position])
                self.dims[d.name] = actual[d.position - len(shape)] if behind else actual[d.position]
        self.params |= {name: self.number(e) for name, e in plan.numbers.items()}
        self.memory = dict(arrays)
        for b in plan.buffers:
            if b.role is None:
                self.memory[b.name] = self.empty(self.size(b.shape))

    def empty(self, size: tuple[int, ...]) -> Array:
        return Array(size, [float("nan")] * product(size))

    def size(self, shape: Shape) -> tuple[int, ...]:
        sizes: list[int] = []
        for s in shape:
            sizes.extend(self.batch if isinstance(s, Batch) else (int(self.value(s, _Point())),))
        return tuple(sizes)

    def number(self, e: Scalar) -> Value:
        """A dim, a param, or what is computed from these."""
        return self.value(e, _Point())

    # --- nodes -------------------------------------------------------------------------------------------------------

    def kernel(self, k: Kernel) -> None:
        """Run a kernel on the buffers of its slots' names."""
        self.body(k.body, _Point())

    def body(self, body: Body, point: _Point) -> None:
        known, tiles = point.locals, point.tiles
        point.locals, point.tiles = dict(known), dict(tiles)
        for node in body:
            self.node(node, point)
        point.locals, point.tiles = known, tiles

    def node(self, node: Node, point: _Point) -> None:
        match node:
            case For(loop, body):
                for _ in self.points(loop, point, node.reverse):
                    self.body(body, point)
            case If(condition, body, otherwise):
                self.body(body if self.value(condition, point) else otherwise, point)
            case Let(name, value):
                point.locals[name] = self.value(value, point)
            case Acc(name, op, kind):
                point.locals[name] = _Joined(op, kind is Kind.INT)
            case Join(acc, value, place):
                held = point.locals[acc]
                assert isinstance(held, _Joined)
                held.values.append(self.value(value, point))
                if place is not None:
                    held.places.append(self.value(place, point))
            case Store(slot, at, value):
                self.put(slot, at, self.value(value, point), point)
            case Atomic(slot, at, op, value):
                more = self.value(value, point)
                self.put(slot, at, reduce_values(op, [self.load(slot, at, point), more]), point)
            case Tile(name, shape):
                point.tiles[name] = self.empty(tuple(int(self.value(s, point)) for s in shape))
            case _:
                assert_never(node)

    def points(self, loop: Loop, point: _Point, reverse: bool) -> Iterator[None]:
        """Every point of a loop in turn, set in `point` and taken out again."""
        if isinstance(loop, Axis):
            places = range(int(self.value(loop.extent, point)))
            for i in reversed(places) if reverse else places:
                point.index[loop.name] = i
                yield
            point.index.pop(loop.name, None)
        else:
            for at in itertools.product(*map(range, self.batch)):
                point.batch = at
                yield
            point.batch = ()

    def put(self, slot: str, at: tuple[Position, ...], value: Value, point: _Point) -> None:
        held = self.held(slot, point)
        held.data[held.offset(self.at(held, at, point))] = bool(value) if slot in self.conditions else value

    def held(self, slot: str, point: _Point) -> Array:
        return point.tiles[slot] if slot in point.tiles else self.memory[slot]

    # --- scalars -----------------------------------------------------------------------------------------------------

    def index(self, name: str) -> Callable[[_Point], int]:
        if name == "...":
            return lambda point: place(self.batch, point.batch)
        return lambda point: point.index[name]

    def read(self, e: Read) -> Callable[[_Point], Value]:
        if e.at:
            return lambda point: self.load(e.tensor, e.at, point, e.fill)

        def value(point: _Point) -> Value:
            if e.tensor not in point.locals:
                return self.load(e.tensor, e.at, point, e.fill)
            found = point.locals[e.tensor]
            return found.value() if isinstance(found, _Joined) else found

        return value

    def load(self, slot: str, at: tuple[Position, ...], point: _Point, fill: Scalar | None = None) -> Value:
        held = self.held(slot, point)
        place = self.at(held, at, point)
        if fill is not None and not all(0 <= i < n for i, n in zip(place, held.shape, strict=True)):
            return self.value(fill, point)
        return held.data[held.offset(place)]

    def at(self, held: Array, at: tuple[Position, ...], point: _Point) -> list[int]:
        """Positions as numbers; along the batch, a dim of one stands for any."""
        place: list[int] = []
        for p in at:
            if isinstance(p, Batch):
                own = len(held.shape) - len(at) + 1
                sizes = held.shape[len(place) : len(place) + own]
                aligned = point.batch[len(point.batch) - own :]
                place.extend(0 if n == 1 else i for n, i in zip(sizes, aligned, strict=True))
            else:
                place.append(int(self.value(p, point)))
        return place

    # --- results -----------------------------------------------------------------------------------------------------

    def result(self, r: Result) -> Array:
        value = self.memory[r.buffer]
        full = self.size(r.shape)
        if value.shape != full:
            value = expand_to(value, r.shape, full)
        if r.like is not None:
            value = sum_to(value, r.shape, self.memory[r.like])
        return Array(value.shape, [_stored(v, r.storage) for v in value.data])


def _stored(value: Value, storage: Storage) -> Value:
    match storage:
        case Storage.INT64:
            return int(value)
        case Storage.BOOL:
            return bool(value)
        case _:
            return value


def run(plan: KernelPlan, arrays: Mapping[str, Array], params: Mapping[str, object] | None = None) -> dict[str, Array]:
    """Run the kernels of a plan. `arrays` holds every argument by name; the result holds every result by name."""
    machine = Machine(plan, arrays, params or {})
    for step in plan.steps:
        machine.kernel(lower(plan, step))
    return {r.name: machine.result(r) for r in plan.results}
