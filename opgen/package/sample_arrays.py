"""The values of sample inputs, and results as tests write them down.

The values of an input are point `i` of a fixed sequence. It is no polynomial of `i`: of one, differences of some order
vanish, and four points in space would lie in a plane. Whole numbers that select several places for one point of a
formula follow one another along an axis, or from input to input. The template of the test cases makes the same numbers
with the same arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from opgen.ir.declared import Nested
from opgen.ir.evaluate import Value
from opgen.ir.interp import Array
from opgen.ir.operator import Pair
from opgen.ir.program import Kind, Tensor
from opgen.ir.scalar import BATCH
from opgen.ir.storage import nearest

GOLDEN, SILVER, BRONZE = 0.6180339887498949, 0.7548776662466927, 0.3027756377319946


def point(i: int, salt: int) -> float:
    """Point `i` of the sequence, which counts from 1; `salt` is another one for each input."""
    return (i * (GOLDEN + salt * SILVER + i * (BRONZE + math.sqrt(i + salt)))) % 1.0


@dataclass(frozen=True, slots=True)
class InputSample:
    """Shape with the batch sizes as a nested tuple, kind, range, and the offset into the sequence; or values."""

    name: str
    shape: tuple[int | tuple[int, ...], ...]
    kind: Kind
    low: float
    high: float
    salt: int
    values: tuple[Value, ...] = ()
    dtype: str = ""  # what it is stored in, where the spec names that
    apart: int | None = None  # the axis along which whole numbers follow one another
    shift: int = 0  # how far they have gone on from those of the input before

    def array(self) -> Array:
        sizes: list[int] = []
        for item in self.shape:
            sizes.extend(item if isinstance(item, tuple) else (item,))
        if self.values:
            return Array(tuple(sizes), list(self.values))
        span = self.high - self.low
        if self.apart is not None or self.shift:
            return Array(tuple(sizes), self._following(sizes, int(self.low), int(span)))
        points = [point(i, self.salt) for i in range(1, 1 + math.prod(sizes))]
        match self.kind:
            case Kind.FLOAT:
                data: list[Value] = [self._stored(self.low + span * p) for p in points]
            case Kind.INT:
                data = [int(self.low + span * p) for p in points]
            case Kind.BOOL:
                data = [p < 0.5 for p in points]
            case Kind.COMPLEX:
                raise AssertionError("a complex sample is made of its parts")
        return Array(tuple(sizes), data)

    def _following(self, sizes: Sequence[int], low: int, span: int) -> list[Value]:
        """Whole numbers that follow one another along an axis, and begin anew behind the last."""
        behind = self.shape[self.apart + 1 :] if self.apart is not None else ()
        inner = math.prod(math.prod(n) if isinstance(n, tuple) else n for n in behind)
        count = self.shape[self.apart] if self.apart is not None else 1
        assert isinstance(count, int)
        found: list[Value] = []
        for i in range(math.prod(sizes)):
            row, k = i // (count * inner) * inner + i % inner, i // inner % count
            found.append(low + (int(span * point(row + 1, self.salt)) + k + self.shift) % span)
        return found

    def _stored(self, value: float) -> float:
        return nearest(value, self.dtype) if self.dtype else value

    def arrays(self, pairs: Sequence[Pair]) -> dict[str, Array]:
        """The values of the input, or of the two that stand for a complex one."""
        pair = next((p for p in pairs if p.name == self.name), None)
        if pair is None:
            return {self.name: self.array()}
        if self.values:
            real = replace(self, kind=Kind.FLOAT).array()
            return {pair.real: real, pair.imag: Array(real.shape, [0.0] * len(real.data))}
        both = replace(self, shape=(*self.shape, 2), kind=Kind.FLOAT).array()
        return {name: Array(both.shape[:-1], both.data[k::2]) for k, name in enumerate((pair.real, pair.imag))}


def stated_sample(t: Tensor, found: Nested) -> InputSample:
    """Values that a case states, with their batch dims in a tuple of their own."""
    shape: list[int | tuple[int, ...]] = list(found.shape)
    if BATCH in t.shape:
        at = t.shape.index(BATCH)
        end = len(found.shape) - (len(t.shape) - 1 - at)
        shape = [*found.shape[:at], found.shape[at:end], *found.shape[end:]]
    return InputSample(t.name, tuple(shape), t.kind, 0.0, 0.0, 0, found.flat)


def joined_results(pairs: Sequence[Pair], found: Mapping[str, Array]) -> tuple[Array, ...]:
    """Results in order; a complex one as its real and imaginary parts in turn."""
    other = {p.real: p.imag for p in pairs}
    hidden = [p.imag for p in pairs]
    out: list[Array] = []
    for name, a in found.items():
        if name in other:
            both = zip(a.data, found[other[name]].data, strict=True)
            out.append(Array((*a.shape, 2), [v for pair in both for v in pair]))
        elif name not in hidden:
            out.append(a)
    return tuple(out)
