"""How large tensors are taken to be where only their order matters: sizes are symbolic when operators are made.

A dim is long, and the batch longer; a param is its default. A size that is computed from others is computed from these:
a pooled image is smaller than the image, by what its window and stride are usually like.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from opgen.ir.interp_functions import SCALARS
from opgen.ir.program import Argument, Kind, Program, Shape
from opgen.ir.ranges import derived_sizes
from opgen.ir.scalar import Apply, Batch, Dim, Lit, Param, Scalar, walk

_BATCH, _DIM, _WINDOW, _STRIDE = 1 << 12, 1 << 8, 3, 2
_BYTES = {Kind.FLOAT: 4, Kind.INT: 8, Kind.BOOL: 1}


@dataclass(frozen=True, slots=True)
class Hints:
    """A size for every dim and param of a program."""

    dims: Mapping[str, Scalar | None]
    params: Mapping[str, Argument]
    steps: frozenset[str]  # params that sizes are divided by
    windows: frozenset[str]  # those that they are computed from otherwise

    @staticmethod
    def of(p: Program) -> Hints:
        sizes = [e for value in derived_sizes(p).values() if value is not None for e in walk(value)]
        below = [e.args[1] for e in sizes if isinstance(e, Apply) and e.fn == "floordiv"]
        steps = frozenset(e.name for e in below if isinstance(e, Param))
        windows = frozenset(e.name for e in sizes if isinstance(e, Param)) - steps
        return Hints(derived_sizes(p), {a.name: a for a in p.params}, steps, windows)

    def weight(self, shape: Shape, kind: Kind) -> int:
        """Bytes of a tensor."""
        total = _BYTES[kind]
        for size in shape:
            total *= _BATCH if isinstance(size, Batch) else self._count(size)
        return total

    def _count(self, e: Scalar) -> int:
        size = self._size(e)
        return max(round(size), 1) if isfinite(size) else _DIM  # defaults that fit nothing

    def _size(self, e: Scalar) -> float:
        match e:
            case Lit(value):
                return float(value)
            case Dim(name):
                made = self.dims.get(name)
                return _DIM if made is None else self._size(made)
            case Param():
                return self._param(e)
            case Apply(fn, args) if fn in SCALARS:
                return float(SCALARS[fn](*map(self._size, args)))
            case _:
                return _DIM

    def _param(self, p: Param) -> float:
        known = self.params.get(p.name)
        default = None if known is None else known.default
        if isinstance(default, tuple) and p.item is not None:
            default = default[p.item]
        match default:
            case Apply() | Param() | Dim() | Lit():
                return self._size(default)
            case int() if not isinstance(default, bool):
                return default
            case _:
                return _STRIDE if p.name in self.steps else _WINDOW if p.name in self.windows else _DIM
