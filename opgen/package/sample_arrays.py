"""The values of sample inputs, and results as tests write them down.

The values of an input are point `i` of a fixed sequence, in which no two pairs of points are equally far apart; the
template of the test cases makes the same numbers with the same arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from opgen.ir.evaluate import Value
from opgen.ir.interp import Array
from opgen.ir.operator import Pair
from opgen.ir.program import Kind
from opgen.ir.storage import nearest

GOLDEN, SILVER, BRONZE = 0.6180339887498949, 0.7548776662466927, 0.3027756377319946


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

    def array(self) -> Array:
        sizes: list[int] = []
        for item in self.shape:
            sizes.extend(item if isinstance(item, tuple) else (item,))
        if self.values:
            return Array(tuple(sizes), list(self.values))
        points = [(i * (GOLDEN + self.salt * SILVER + i * BRONZE)) % 1.0 for i in range(1, 1 + math.prod(sizes))]
        span = self.high - self.low
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
