"""Positions of accesses taken apart: plain loops, affine maps of loops, and what has to be computed.

An affine position (`p*stride + r - padding`) is a view of the tensor: its axis is replaced by one axis per index. In
go positions and the axes they stand at; out come the tensor as a view and the places that are left to gather at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from opgen.code.layout import sliced
from opgen.ir.polynomial import Polynomial, number, polynomial, same_number
from opgen.ir.program import Axis, Loop
from opgen.ir.ranges import Facts, facts_of, inside, is_nonnegative
from opgen.ir.scalar import ONE, ZERO, Batch, Index, Lit, Position, Read, Scalar, walk
from opgen.torch.scope import Scope

Space = tuple[Loop, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """One axis of an access: where it is read, and the axis's extent."""

    at: Position
    extent: Scalar | Batch


@dataclass(frozen=True, slots=True)
class Line:
    """An affine position: `start`, plus each index times its step. Start and steps are numbers."""

    start: Scalar
    runs: tuple[tuple[str, Scalar], ...]


def is_number(e: Scalar) -> bool:
    """Is it made of sizes, params and literals only?"""
    return not any(isinstance(n, Index | Read) for n in walk(e))


def indices(e: Scalar) -> tuple[str, ...]:
    """The indices in a position."""
    return tuple(dict.fromkeys(n.name for n in walk(e) if isinstance(n, Index)))


@lru_cache(maxsize=1 << 14)  # passes ask it of every position, again and again
def line(position: Scalar) -> Line | None:
    """A position as an affine map of its indices; None if it is not one."""
    rest = polynomial(position)
    runs: list[tuple[str, Scalar]] = []
    for a in rest.atoms():
        if not isinstance(a, Index):
            continue
        parts = rest.split(a)
        if parts is None or not all(is_number(b) for b in parts[0].atoms()):
            return None
        runs.append((a.name, parts[0].scalar()))
        rest = parts[1]
    return Line(rest.scalar(), tuple(runs)) if all(is_number(a) for a in rest.atoms()) else None


def axis_named(name: str, space: Space) -> Axis:
    return next(a for a in space if isinstance(a, Axis) and a.name == name)


def is_plain(scope: Scope, place: Place, space: Space) -> bool:
    """Is it the batch, or an index that runs along the whole axis?"""
    if isinstance(place.at, Batch):
        return True
    if not isinstance(place.at, Index) or isinstance(place.extent, Batch):
        return False
    return same_number(axis_named(place.at.name, space).extent, place.extent, scope.dims)


def proven(scope: Scope, place: Place, space: Space) -> bool:
    """Is the position in range for all sizes?"""
    if isinstance(place.at, Batch) or isinstance(place.extent, Batch):
        return True
    return inside(place.at, place.extent, _facts(scope, space))


def _facts(scope: Scope, space: Space) -> Facts:
    return facts_of(space, scope.dims, scope.counts)


# --- views -----------------------------------------------------------------------------------------------------------


def viewed(
    scope: Scope, name: str, places: Sequence[Place], space: Space, fill: str, wanted: str = ""
) -> tuple[str, list[Place]]:
    """The tensor as a view in which no position is affine other than a plain index.

    `fill`: what is read out of range, as a number; empty where that is an error. It is one as well at a position of
    sizes and literals alone where `wanted` holds.
    """
    code, left = name, list(places)
    k = 0
    while k < len(left):
        here = left[k]
        found = None if is_plain(scope, here, space) or isinstance(here.at, Batch) else line(here.at)
        if found is None or isinstance(here.extent, Batch):
            k += 1
            continue
        if "(" in code:  # one view per line
            code = scope.named_line(f"{name}_view", code)
        code = _View(scope, code, k - len(left), here, found, space, fill, wanted).text()
        axes = [axis_named(n, space) for n, _ in found.runs]
        runs = [Place(Index(a.name), a.extent) for a in axes]
        left = [*left[:k], *runs[:1], *left[k + 1 :], *runs[1:]]
        k += bool(runs)
    return code, left


@dataclass(frozen=True, slots=True)
class _View:
    """One axis, at `dim` counted from the end, read along a line."""

    scope: Scope
    code: str
    dim: int
    place: Place
    line: Line
    space: Space
    fill: str
    wanted: str

    def text(self) -> str:
        safe = proven(self.scope, self.place, self.scope.loops)
        own = tuple(axis_named(name, self.space) for name, _ in self.line.runs)
        if safe and not proven(self.scope, self.place, own):
            return self._window("0")  # in range wherever there is an element, which there need not be
        return self._plain(safe) or self._window("" if safe else self.fill)

    def _plain(self, safe: bool) -> str:
        """The view as an expert would write it, where it is a simple one."""
        start, runs = self.line.start, self.line.runs
        if not runs:
            return f"{self.code}.select({self.dim}, {self._number(start)})" if safe else ""
        if not safe or len(runs) > 1:
            return ""
        (name, step), extent = runs[0], self.place.extent
        assert not isinstance(extent, Batch)
        n = axis_named(name, self.space).extent
        begin, size, count = polynomial(start), polynomial(extent), polynomial(n)
        if step == Lit(-1) and self._same(count, size) and self._same(begin, size - number(1)):
            return f"{self.code}.flip({self.dim})"
        always = facts_of((), self.scope.dims, self.scope.counts)
        if not is_nonnegative(begin, always) or not is_nonnegative(polynomial(step) - number(1), always):
            return ""
        first = "" if start == ZERO else self._number(start)
        if is_nonnegative(begin + count * polynomial(step) - size, always):
            return self._slice(sliced(first, "", "" if step == ONE else self._number(step)))
        return self._slice(sliced(first, self._number((begin + count).scalar()))) if step == ONE else ""

    def _same(self, a: Polynomial, b: Polynomial) -> bool:
        return same_number(a.scalar(), b.scalar(), self.scope.dims)

    def _slice(self, text: str) -> str:
        return f"{self.code}[{', '.join(('...', text, *[':'] * (-self.dim - 1)))}]"

    def _window(self, fill: str) -> str:
        runs = []
        for name, step in self.line.runs:
            count = self._number(axis_named(name, self.space).extent)
            runs.append(f"({count}, {self._number(step)})")
        options = [f"fill={fill}"] if fill else []
        if fill and self.wanted and not runs:
            options.append(f"wanted={self.wanted}")
        return f"window({', '.join((self.code, str(self.dim), self._number(self.line.start), *runs, *options))})"

    def _number(self, e: Scalar) -> str:
        return self.scope.number(e).text


def diagonals(code: str, places: list[Place]) -> tuple[str, list[Place]]:
    """An index at two axes reads their diagonal, which becomes the last axis."""
    left = places
    while True:
        at = [p.at for p in left]
        twice = next((p for p in left if isinstance(p.at, Index) and at.count(p.at) > 1), None)
        if twice is None:
            return code, left
        i = at.index(twice.at)
        j = at.index(twice.at, i + 1)
        code = f"{code}.diagonal(0, {i - len(left)}, {j - len(left)})"
        left = [p for k, p in enumerate(left) if k not in (i, j)] + [twice]
