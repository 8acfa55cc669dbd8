"""Calls of an operator at sizes that people have: the sample of its tests, grown.

In goes the sample of a generated test; out comes the same call with so many elements in its largest tensor. Dims grow
together towards sizes that are typical for what they are (`typical_sizes`), and beyond; each by powers of two, so that
dims that hang together still do. Where an operator refuses such sizes, all of its dims grow alike, or only its rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from opgen.ir.program import Axis, Kind, Program, Scatter, parts, statement_reads
from opgen.ir.scalar import BATCH, Apply, Batch, Dim, Index, Param, Read, Scalar, children, walk
from opgen.opt.order import is_data, typical_sizes
from opgen.package.samples import Chooser, SampleCase

BATCH_DIM = "..."
_COUNTED, _INNER = 32, 64  # a dim that a param counts: segments, bins; batch dims behind others
_ROWS, _PLACES = 1024, 4096  # first dims of data, and of what says where to read or write
_STEPS = 8  # of growth, for the largest dim to double
_FARTHEST = 4.0  # growth in times of what leads to typical sizes

Elements = Callable[[SampleCase], int | None]  # of the largest tensor of a call; None where the call is refused


@dataclass(frozen=True, slots=True)
class _Dim:
    """A dim that grows from its size in the sample to a typical one; `param`: what states it."""

    name: str
    base: int
    typical: int
    param: str = ""

    @property
    def doublings(self) -> float:
        return max(0.0, math.log2(self.typical / self.base))


class Growth:
    """The calls of one variant of an operator."""

    def __init__(self, chooser: Chooser, base: SampleCase, elements: Elements) -> None:
        self.chooser, self.base, self.elements = chooser, base, elements
        self.dims = tuple(_growing(chooser, base))

    def at(self, wanted: int) -> SampleCase:
        """The call with about so many elements; its own sizes where they are more."""
        best, most = self.base, self.elements(self.base) or 0
        for way in (self._in_proportion, self._alike, self._rows):
            found, count = self._grown(way, wanted)
            if count > most:
                best, most = found, count
            if 2 * most > wanted:
                break
        return best

    def _grown(self, way: Callable[[float], Mapping[str, int]], wanted: int) -> tuple[SampleCase, int]:
        """The largest call on a way that is not larger than wanted, with one dim made to fit in the end."""
        known = {d.name: d.base for d in self.dims}
        case = self._sized(known)
        most = self.elements(case) or 0
        for step in range(1, int(_FARTHEST * _STEPS * max((d.doublings for d in self.dims), default=0.0)) + 1):
            sizes = way(step / _STEPS)
            if sizes == known:
                continue
            grown = self._sized(sizes)
            count = self.elements(grown)
            if count is None or count > wanted:
                break
            case, known, most = grown, dict(sizes), count
        return self._fitted(case, known, most, wanted)

    def _fitted(self, case: SampleCase, known: dict[str, int], most: int, wanted: int) -> tuple[SampleCase, int]:
        """The rows or another dim multiplied, so that the call is as large as wanted."""
        for d in sorted(self.dims, key=lambda d: (d.name != BATCH_DIM, bool(d.param), -d.typical)):
            most = max(most, 1)
            size, factor = known[d.name] * wanted // most, wanted // most
            tried = (size, known[d.name] * factor, known[d.name] << (factor.bit_length() - 1)) if factor else ()
            for chosen in tried[d.name != BATCH_DIM :] if wanted > most else ():
                grown = self._sized({**known, d.name: chosen})
                count = self.elements(grown)
                if count is not None and most < count <= wanted:
                    case, known, most = grown, {**known, d.name: chosen}, count
                    break
        return case, most

    def _sized(self, sizes: Mapping[str, int]) -> SampleCase:
        params = {d.param: sizes[d.name] for d in self.dims if d.param}
        named = dict(self.chooser.sizes) | {n: s for n, s in sizes.items() if n != BATCH_DIM}
        batch = (sizes[BATCH_DIM],) if BATCH_DIM in sizes else self.chooser.batch
        return self.chooser.resized(self.base, named, batch, params)

    def _in_proportion(self, step: float) -> Mapping[str, int]:
        most = max(d.doublings for d in self.dims)
        return {d.name: d.base << round(step * d.doublings / most) for d in self.dims}

    def _alike(self, step: float) -> Mapping[str, int]:
        return {d.name: d.base << round(step) for d in self.dims}

    def _rows(self, step: float) -> Mapping[str, int]:
        first = max(self.dims, key=lambda d: (d.name == BATCH_DIM, not d.param, d.typical))
        return {d.name: d.base << round(step) if d is first else d.base for d in self.dims}


def _growing(chooser: Chooser, base: SampleCase) -> Iterator[_Dim]:
    """The dims that a call is free to choose, but for windows: those stay as small as people have them."""
    program, stated = chooser.program, dict(base.params)
    typical, known, windows = _typical(program), dict(base.sizes), _windows(program)
    if any(BATCH in t.shape for t in program.inputs):
        yield _Dim(BATCH_DIM, 2, typical[BATCH_DIM])
    for d in program.dims:
        if d.value is None and d.name not in windows:
            yield _Dim(d.name, known[d.name], typical[d.name])
        elif isinstance(d.value, Param) and d.value.item is None and isinstance(stated.get(d.value.name), int):
            yield _Dim(d.name, known[d.name], _COUNTED, d.value.name)


def _typical(p: Program) -> dict[str, int]:
    """Sizes that are typical for the dims; the first of data and of positions are those that there are most of."""
    found, shapes = typical_sizes(p), [t.shape for t in p.inputs]
    if any(BATCH in s[1:] for s in shapes):
        found[BATCH_DIM] = _INNER
    for t in p.inputs:
        first = t.shape[0] if t.shape else None
        if isinstance(first, Dim) and (t.kind is Kind.INT or is_data(t.shape, shapes)):
            found[first.name] = max(found[first.name], _PLACES if t.kind is Kind.INT else _ROWS)
    return found


def _windows(p: Program) -> set[str]:
    """The dims of weights only whose index is added to another one to find a position: how large a window is.

    One that the other is multiplied by is a part of a larger dim.
    """
    data = {s for t in p.inputs if is_data(t.shape, [t.shape for t in p.inputs]) for s in t.shape}
    kept = {*data, *(s for o in p.outputs for s in o.shape)}
    found: set[str] = set()
    for s in parts(p.statements):
        loops = {a.name: a.extent for a in (*s.axes, *s.loops) if isinstance(a, Axis)}
        at = [q for r in statement_reads(s) for q in r.at] + (list(s.at) if isinstance(s, Scatter) else [])
        for q in at:
            if isinstance(q, Batch):
                continue
            extents = [loops[n] for n in _added(q) if n in loops]
            parts_of = {a for e in walk(q) if isinstance(e, Apply) and e.fn == "mul" for a in e.args}
            known = {*kept, *parts_of}
            found |= {e.name for e in extents if len(extents) > 1 and isinstance(e, Dim) and e not in known}
    return found


def _added(q: Scalar) -> set[str]:
    """The indices that a position is computed from, but for those that it is looked up by."""
    if isinstance(q, Index):
        return {q.name}
    return set() if isinstance(q, Read) else {n for a in children(q) for n in _added(a)}
