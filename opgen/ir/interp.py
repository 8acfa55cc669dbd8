"""The reference interpreter of Programs: plain loops over Python numbers, dumb on purpose.

It is the oracle of every pass and back end, so it shares nothing with them but the Program itself: no algebra, no
shortcuts, one element at a time. Floats are IEEE doubles with torch's behaviour at the edges (log(0) is -inf).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from opgen.ir.evaluate import Evaluator, Value
from opgen.ir.interp_functions import INDEX_OPERATORS, reduce_values
from opgen.ir.program import Axis, Compute, Kind, Loop, Program, Recurrence, Scatter, Shape, Statement
from opgen.ir.reductions import REDUCTIONS
from opgen.ir.scalar import Batch, Read


@dataclass(frozen=True)
class Array:
    """A dense row-major array of Python numbers."""

    shape: tuple[int, ...]
    data: list[Value]

    def offset(self, at: Sequence[int]) -> int:
        flat = 0
        for size, i in zip(self.shape, at, strict=True):
            if not 0 <= i < size:
                raise IndexError(f"index {i} is out of range for size {size}")
            flat = flat * size + i
        return flat

    def __getitem__(self, at: Sequence[int]) -> Value:
        return self.data[self.offset(at)]


def array(nested: object) -> Array:
    """An array from nested lists or a number."""
    shape: list[int] = []
    level = nested
    while isinstance(level, (list, tuple)):
        shape.append(len(level))
        if not level:
            break
        level = level[0]
    flat: list[Value] = []

    def collect(item: object) -> None:
        if isinstance(item, (list, tuple)):
            for part in item:
                collect(part)
        else:
            assert isinstance(item, (int, float, bool))
            flat.append(item)

    collect(nested)
    return Array(tuple(shape), flat)


@dataclass(slots=True)
class _Point:
    """Where in its loops a statement stands."""

    index: dict[str, int]
    batch: tuple[int, ...]


class Machine(Evaluator[_Point]):
    def __init__(self, program: Program, arrays: Mapping[str, Array], params: Mapping[str, object]) -> None:
        super().__init__(program.params, program.functions, params)
        self.program = program
        self.arrays = dict(arrays)
        self.shapes: dict[str, Shape] = {t.name: t.shape for t in program.inputs}
        self.batch = self._batch_shape()
        self.dims["..."] = product(self.batch)
        for d in program.dims:
            self.dims[d.name] = self._dim(d.name)

    def _batch_shape(self) -> tuple[int, ...]:
        batch: tuple[int, ...] = ()
        for t in self.program.inputs:
            batch = wider(batch, batch_part(t.shape, self.arrays[t.name].shape))
        return batch

    def _dim(self, name: str) -> int:
        source = next(d for d in self.program.dims if d.name == name)
        if source.value is not None:
            return int(self.value(source.value, _Point({}, ())))
        assert source.tensor is not None
        shape = self.shapes[source.tensor]
        actual = self.arrays[source.tensor].shape
        after = len(shape) - source.position
        behind_batch = any(isinstance(s, Batch) for s in shape[: source.position])
        return actual[-after] if behind_batch else actual[source.position]

    # --- loops ---------------------------------------------------------------------------------------------------

    def points(self, loops: tuple[Loop, ...], outer: _Point) -> Iterator[_Point]:
        """Every point of some loops; it is one object that moves on."""
        names = [None if isinstance(a, Batch) else a.name for a in loops]
        ranges: list[Iterable[Any]] = [
            itertools.product(*map(range, self.batch)) if isinstance(a, Batch) else range(self.extent(a)) for a in loops
        ]
        point = _Point(dict(outer.index), outer.batch)
        for choice in itertools.product(*ranges):
            for name, c in zip(names, choice, strict=True):
                if name is None:
                    point.batch = c
                else:
                    point.index[name] = c
            yield point

    def extent(self, a: Axis) -> int:
        return int(self.value(a.extent, _Point({}, ())))

    def size(self, shape: Shape) -> tuple[int, ...]:
        sizes: list[int] = []
        for s in shape:
            sizes.extend(self.batch if isinstance(s, Batch) else (int(self.value(s, _Point({}, ()))),))
        return tuple(sizes)

    # --- statements ----------------------------------------------------------------------------------------------

    def execute(self, s: Statement) -> None:
        match s:
            case Compute():
                element = self.element(s)
                data = [element(point) for point in self.points(s.axes, _Point({}, ()))]
                self.arrays[s.target] = Array(self.size(s.shape), data)
            case Scatter():
                self.arrays[s.target] = self.scatter(s)
            case Recurrence():
                self.repeat(s)
                return
            case _:
                assert_never(s)
        self.shapes[s.target] = s.shape

    def repeat(self, s: Recurrence) -> None:
        """Step after step for every place; what is not there yet is nan, in case somebody looks."""
        for step in s.steps:
            size = self.size(step.shape)
            self.arrays[step.target] = Array(size, [float("nan")] * product(size))
            self.shapes[step.target] = step.shape
        places = range(self.extent(s.along))
        elements = [self.element(step) for step in s.steps]
        for t in reversed(places) if s.reverse else places:
            for step, element in zip(s.steps, elements, strict=True):
                axes = tuple(a for a in step.axes if a != s.along)
                held = self.arrays[step.target]
                for point in self.points(axes, _Point({s.along.name: t}, ())):
                    at: list[int] = []
                    for a in step.axes:
                        at.extend(point.batch if isinstance(a, Batch) else (point.index[a.name],))
                    held.data[held.offset(at)] = element(point)

    def element(self, s: Compute) -> Callable[[_Point], Value]:
        body, op = self.at_point(s.body), s.op
        if op is None:
            return body
        if not REDUCTIONS[op].keeps_index:
            whole = s.kind is Kind.INT
            return lambda point: reduce_values(op, [body(p) for p in self.points(s.over, point)], whole=whole)

        def in_line(point: _Point) -> Value:
            line = [_Point(dict(p.index), p.batch) for p in self.points(s.over, point)]
            here = next(k for k, other in enumerate(line) if other == point)
            return INDEX_OPERATORS[op]([body(other) for other in line], here)

        return in_line

    def scatter(self, s: Scatter) -> Array:
        base, body = self.at_point(s.base), self.at_point(s.body)
        positions = [None if isinstance(p, Batch) else self.at_point(p) for p in s.at]
        out = Array(self.size(s.shape), [base(point) for point in self.points(s.axes, _Point({}, ()))])
        for point in self.points(s.loops, _Point({}, ())):
            at: list[int] = []
            for p in positions:
                at.extend(point.batch if p is None else (int(p(point)),))
            if s.padded and not all(0 <= i < n for i, n in zip(at, out.shape, strict=True)):
                continue
            k = out.offset(at)
            out.data[k] = reduce_values(s.op, [out.data[k], body(point)])
        return out

    # --- scalars -------------------------------------------------------------------------------------------------

    def index(self, name: str) -> Callable[[_Point], int]:
        if name == "...":
            return lambda point: place(self.batch, point.batch)
        return lambda point: point.index[name]

    def read(self, e: Read) -> Callable[[_Point], Value]:
        name, arrays, where = e.tensor, self.arrays, self.where(e)
        if e.fill is None:

            def value(point: _Point) -> Value:
                held = arrays[name]
                return held.data[held.offset(where(held, point))]

            return value
        fill = self.at_point(e.fill)

        def padded(point: _Point) -> Value:
            held = arrays[name]
            at = where(held, point)
            inside = all(0 <= i < n for i, n in zip(at, held.shape, strict=True))
            return held.data[held.offset(at)] if inside else fill(point)

        return padded

    def where(self, e: Read) -> Callable[[Array, _Point], list[int]]:
        """The place that is read in what is held; along the batch, a dim of one stands for any."""
        positions = [None if isinstance(p, Batch) else self.at_point(p) for p in e.at]
        if None not in positions:
            known = [p for p in positions if p is not None]
            return lambda _, point: [int(p(point)) for p in known]
        k = positions.index(None)
        before, after = ([p for p in part if p is not None] for part in (positions[:k], positions[k + 1 :]))
        others = len(positions) - 1

        def at(held: Array, point: _Point) -> list[int]:
            own = len(held.shape) - others
            sizes, aligned = held.shape[k : k + own], point.batch[len(point.batch) - own :]
            batch = [0 if n == 1 else i for n, i in zip(sizes, aligned, strict=True)]
            return [*[int(p(point)) for p in before], *batch, *[int(p(point)) for p in after]]

        return at


def place(sizes: Sequence[int], at: Sequence[int]) -> int:
    """The row-major place of a point."""
    flat = 0
    for size, i in zip(sizes, at, strict=True):
        flat = flat * size + i
    return flat


def product(sizes: Sequence[int]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


def wider(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The batch sizes that two tensors broadcast to."""
    rank = max(len(a), len(b))
    pairs = list(zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, strict=True))
    for x, y in pairs:
        if x != y and 1 not in (x, y):
            raise ValueError(f"batch sizes {x} and {y} do not broadcast")
    return tuple(y if x == 1 else x for x, y in pairs)


def batch_part(shape: Shape, actual: tuple[int, ...]) -> tuple[int, ...]:
    """The batch sizes inside an actual shape."""
    for k, s in enumerate(shape):
        if isinstance(s, Batch):
            return actual[k : len(actual) - (len(shape) - k - 1)]
    if len(shape) != len(actual):
        raise ValueError(f"rank {len(actual)} where {len(shape)} is declared")
    return ()


def sum_to(value: Array, shape: Shape, like: Array) -> Array:
    """Sum a full-batch gradient to the actual shape of the operand it belongs to."""
    before = next((k for k, s in enumerate(shape) if isinstance(s, Batch)), 0)
    missing = len(value.shape) - len(like.shape)
    out = Array(like.shape, [0.0] * product(like.shape))
    for point in itertools.product(*map(range, value.shape)):
        kept = point[:before] + point[before + missing :]
        at = [0 if n == 1 else i for n, i in zip(like.shape, kept, strict=True)]
        out.data[out.offset(at)] += value[point]
    return out


def run(program: Program, arrays: Mapping[str, Array], params: Mapping[str, object] | None = None) -> dict[str, Array]:
    """Evaluate a program. `arrays` holds every argument by name; the result holds every output by name."""
    return results_of(Machine(program, arrays, params or {}))


def results_of(machine: Machine) -> dict[str, Array]:
    """Execute what a machine stands ahead of; every output by name."""
    for s in machine.program.statements:
        machine.execute(s)
    results: dict[str, Array] = {}
    for o in machine.program.outputs:
        value = machine.arrays[o.value]
        full = machine.size(o.shape)
        if value.shape != full:
            value = expand_to(value, o.shape, full)
        results[o.name] = value if o.like is None else sum_to(value, o.shape, machine.arrays[o.like])
    return results


def expand_to(value: Array, shape: Shape, full: tuple[int, ...]) -> Array:
    """An output that is an input with fewer batch dims: broadcast to the whole batch."""
    before = next(k for k, s in enumerate(shape) if isinstance(s, Batch))
    missing = len(full) - len(value.shape)
    data = []
    for point in itertools.product(*map(range, full)):
        kept = point[:before] + point[before + missing :]
        data.append(value[[0 if n == 1 else i for n, i in zip(value.shape, kept, strict=True)]])
    return Array(full, data)
