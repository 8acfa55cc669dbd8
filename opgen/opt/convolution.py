"""Sums of products that are convolutions, recognised by where they read.

Three tensors belong to a convolution: the data `x[..., c, l]`, the output `y[..., o, p]` and the weight `w[o, c, k]`,
tied by `l = p*stride + k*dilation + start` along every spatial axis. A statement computes one of them from the other
two: the output, or what the adjoints compute, the data (a transposed convolution) and the weight. One of `l`, `p` and
`k` is no loop of the statement, but the position that one factor is read at; out of range there is zero. With groups,
`width` neighbouring outputs see the same `Cg` channels.

In goes a statement; out comes what it is, or nothing. Nothing is rewritten here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import permutations

from opgen.ir.polynomial import Polynomial, number, polynomial
from opgen.ir.program import Axis, Compute, Kind, Program, Shape, definitions
from opgen.ir.ranges import derived_sizes, facts_of, is_nonnegative, positive_params, sizes_of
from opgen.ir.scalar import BATCH, ONE, ZERO, Apply, Batch, Index, Position, Read, Scalar, walk

_MAX_RANK = 3


class Part(StrEnum):
    """The tensors of a convolution."""

    DATA = "data"
    WEIGHT = "weight"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Tie:
    """`l = p*stride + k*dilation + start` along one spatial axis."""

    stride: Scalar
    dilation: Scalar
    start: Scalar


@dataclass(frozen=True, slots=True)
class Convolution:
    """A statement as a convolution: it computes `part` from the two others.

    `sizes` are the spatial sizes of the result, `channels` those that one output sees where the weight is computed and
    all where the data is. `swapped`: the weight has its channels in front of its outputs. `width`: outputs of a group.
    """

    part: Part
    reads: Mapping[Part, Read]
    ties: tuple[Tie, ...]
    sizes: tuple[Scalar, ...]
    channels: Scalar
    swapped: bool
    width: Scalar | None


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the program around a statement: shapes by name, derived sizes, what is not negative."""

    shapes: Mapping[str, Shape]
    dims: Mapping[str, Scalar | None]
    sizes: tuple[Scalar, ...]
    positive: tuple[Scalar, ...]

    @staticmethod
    def of(p: Program) -> Known:
        shapes = {t.name: t.shape for t in p.inputs} | {s.target: s.shape for s in definitions(p)}
        return Known(shapes, derived_sizes(p), sizes_of(p), positive_params(p))


def convolution(s: Compute, known: Known) -> Convolution | None:
    """The convolution that a statement is, if it is one."""
    if s.op != "sum" or s.kind is not Kind.FLOAT:
        return None
    conditions: list[Scalar] = []
    match _guarded(s.body, conditions):
        case Apply("mul", (Read() as a, Read() as b)) if {a.tensor, b.tensor} <= set(known.shapes):
            target = tuple(BATCH if isinstance(x, Batch) else Index(x.name) for x in s.axes)
            tensors = (Read(s.target, target), a, b)
        case _:
            return None
    moved = [r for r in (a, b) if not all(isinstance(q, Batch | Index) for q in _spatial(r))]
    if len(moved) != 1:
        return None
    for data, weight, output in permutations(tensors):
        roles = {Part.DATA: data, Part.WEIGHT: weight, Part.OUTPUT: output}
        for swapped in (False, True):
            found = _Match(s, known, tuple(conditions), roles, moved[0], swapped).convolution()
            if found is not None:
                return found
    return None


def convolutions(p: Program) -> frozenset[str]:
    """The targets of the statements of a program that are convolutions."""
    known = Known.of(p)
    return frozenset(s.target for s in p.statements if isinstance(s, Compute) and convolution(s, known) is not None)


def _spatial(r: Read) -> tuple[Position, ...]:
    """The positions that no group of channels explains."""
    return tuple(q for q in r.at if isinstance(q, Batch) or (_group(q) is None and _remainder(q) is None))


def _guarded(e: Scalar, conditions: list[Scalar]) -> Scalar:
    """What is summed where all conditions hold; elsewhere it is zero."""
    while isinstance(e, Apply) and e.fn == "where" and e.args[2] == ZERO:
        pending = [e.args[0]]
        while pending:
            c = pending.pop()
            if isinstance(c, Apply) and c.fn == "and":
                pending.extend(c.args)
            else:
                conditions.append(c)
        e = e.args[1]
    return e


# --- channels by groups ----------------------------------------------------------------------------------------------


def _group(q: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar] | None:
    """`(o, width, count, c)` where a position is `o//width*count + c`."""
    terms = polynomial(q).terms
    if len(terms) != 2 or any(n != 1 for _, n in terms):
        return None
    for (m, _), (rest, _) in (terms, terms[::-1]):
        quotient = next((a for a in m if isinstance(a, Apply) and a.fn == "floordiv"), None)
        if quotient is None or len(rest) != 1 or not isinstance(rest[0], Index) or len(m) > 2:
            continue
        output, width = quotient.args
        count = next((a for a in m if a is not quotient), ONE)
        if isinstance(output, Index) and _is_number(width) and _is_number(count):
            return output, width, count, rest[0]
    return None


def _remainder(q: Scalar) -> tuple[Scalar, Scalar] | None:
    """`(c, count)` where a position is `c % count`."""
    match q:
        case Apply("mod", (Index() as c, count)) if _is_number(count):
            return c, count
    return None


def _is_number(e: Scalar) -> bool:
    return not any(isinstance(n, Index | Read) for n in walk(e))


# --- one way to see a statement --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Channels:
    """The loop along the channels that a weight has, whether by groups, and which conditions that explains."""

    loop: Scalar
    extent: Scalar | None = None  # the channels of one output, where the data is read by groups
    width: Scalar | None = None


@dataclass(frozen=True, slots=True)
class _Match:
    s: Compute
    known: Known
    conditions: tuple[Scalar, ...]
    roles: Mapping[Part, Read]
    moved: Read
    swapped: bool

    def convolution(self) -> Convolution | None:
        x, w, y = (self.roles[part].at for part in Part)
        rank = len(w) - 2
        if not 1 <= rank <= _MAX_RANK or len(x) != len(y) or len(x) < rank + 1:
            return None
        outputs, within = (w[1], w[0]) if self.swapped else (w[0], w[1])
        batch, channel, output = x[: -rank - 1], x[-rank - 1], y[-rank - 1]
        if batch != y[: -rank - 1] or outputs != output or not all(isinstance(q, Batch | Index) for q in batch):
            return None
        channels = self.channels(channel, within, output)
        ties = tuple(self.tie(*axis) for axis in zip(x[-rank:], w[-rank:], y[-rank:], strict=True))
        if channels is None or None in ties:
            return None
        spatial = [q for q in (*x[-rank:], *w[-rank:], *y[-rank:]) if isinstance(q, Index)]
        loops = [*batch, output, channels.loop, *spatial]
        everything = {BATCH if isinstance(a, Batch) else Index(a.name) for a in self.s.loops}
        if len(loops) != len(everything) or set(loops) != everything:
            return None
        if not self.is_whole(channels) or not self.explained(rank, channels):
            return None
        part = next(part for part, r in self.roles.items() if r.tensor == self.s.target)
        reads = {p: r for p, r in self.roles.items() if p is not part}
        sizes = tuple(self.extent(q) for q in self.roles[part].at[-rank:])
        kept = tuple(t for t in ties if t is not None)
        return Convolution(part, reads, kept, sizes, self.extent(channels.loop), self.swapped, channels.width)

    def extent(self, loop: Position) -> Scalar:
        assert isinstance(loop, Index)
        return next(a.extent for a in self.s.loops if isinstance(a, Axis) and a.name == loop.name)

    def polynomial(self, e: Scalar) -> Polynomial:
        return polynomial(e, self.known.dims)

    # --- channels ----------------------------------------------------------------------------------------------------

    def channels(self, x: Position, w: Position, o: Position) -> _Channels | None:
        if isinstance(x, Batch) or isinstance(w, Batch) or not isinstance(o, Index):
            return None
        if x == w:
            return _Channels(x) if isinstance(x, Index) else None
        match _group(x):
            case (output, width, count, c) if output == o and c == w and self.roles[Part.DATA].fill == ZERO:
                same = self.polynomial(count).same(self.polynomial(self.extent(w)))
                return _Channels(w, count, width) if same else None
        match _remainder(w):
            case (c, count) if c == x:
                widths = (self.width(q, x, count, o) for q in self.conditions)
                found = next((n for n in widths if n is not None), None)
                return None if found is None else _Channels(x, count, found)
        return None

    def width(self, condition: Scalar, c: Scalar, count: Scalar, o: Scalar) -> Scalar | None:
        """The width of the groups where a condition says that a channel and an output are of the same."""
        match condition:
            case Apply("eq", (Apply("floordiv", (a, m)), Apply("floordiv", (b, n)))):
                for (loop, divisor), (other, width) in (((a, m), (b, n)), ((b, n), (a, m))):
                    if loop == c and divisor == count and other == o and _is_number(width):
                        return width
        return None

    def is_whole(self, channels: _Channels) -> bool:
        """Whether loops run over all of what they read: a library has no other way."""
        for r in self.roles.values():
            if r.tensor == self.s.target:
                continue
            for q, size in zip(r.at, self.known.shapes[r.tensor], strict=True):
                if isinstance(q, Batch) or isinstance(size, Batch):
                    if q != size:
                        return False
                elif isinstance(q, Index):
                    if not self.polynomial(self.extent(q)).same(self.polynomial(size)):
                        return False
                elif _remainder(q) is not None and (
                    channels.extent is None or not self.polynomial(channels.extent).same(self.polynomial(size))
                ):
                    return False
        return True

    # --- positions ---------------------------------------------------------------------------------------------------

    def tie(self, x: Position, w: Position, y: Position) -> Tie | None:
        """How the positions along one spatial axis hang together; one of them is no loop."""
        match x, w, y:
            case (Batch(), _, _) | (_, Batch(), _) | (_, _, Batch()):
                return None
            case (_, Index(), Index()) if self.moved is self.roles[Part.DATA]:
                found = _line(x, y, w)
                tie = None if found is None or found[3] != ONE else Tie(found[0], found[1], found[2])
            case (Index(), Index(), _) if self.moved is self.roles[Part.OUTPUT]:
                tie = _solved(y, x, w)
            case (Index(), _, Index()) if self.moved is self.roles[Part.WEIGHT]:
                found_tie = _solved(w, x, y)
                tie = None if found_tie is None else Tie(found_tie.dilation, found_tie.stride, found_tie.start)
            case _:
                return None
        return tie if tie is not None and self.positive(tie.stride) and self.positive(tie.dilation) else None

    def positive(self, e: Scalar) -> bool:
        facts = facts_of((), self.known.dims, self.known.sizes, positive=self.known.positive)
        return is_nonnegative(polynomial(e) - number(1), facts)

    # --- conditions --------------------------------------------------------------------------------------------------

    def explained(self, rank: int, channels: _Channels) -> bool:
        """Whether the conditions say that positions are in range and whole, and all of them that are needed do."""
        shape = self.known.shapes[self.moved.tensor]
        facts = facts_of(self.s.loops, self.known.dims, self.known.sizes, positive=self.known.positive)
        allowed: list[Polynomial] = []
        needed: list[tuple[Polynomial, Scalar]] = []
        stated = [p for p in map(self.at_least_zero, self.conditions) if p is not None]
        for q, size in zip(self.moved.at[-rank:], shape[-rank:], strict=True):
            if isinstance(q, Batch) or isinstance(size, Batch):
                return False
            at = self.polynomial(q)
            bounds = (at, self.polynomial(size) - at - number(1))
            allowed += bounds
            if self.moved.fill is None:
                for b in bounds:
                    if not any(b.same(p) for p in stated) and not is_nonnegative(b, facts):
                        return False
            numerator, divisor = _quotient(polynomial(q))
            if divisor != ONE:
                needed.append((numerator, divisor))
        if self.moved.fill not in (None, ZERO) or any(not any(p.same(a) for a in allowed) for p in stated):
            return False
        return self.divisions(needed, channels)

    def divisions(self, needed: list[tuple[Polynomial, Scalar]], channels: _Channels) -> bool:
        left = list(needed)
        for c in self.conditions:
            if self.at_least_zero(c) is not None:
                continue
            k = next((k for k, (n, d) in enumerate(left) if _divides(c, n, d)), None)
            if k is not None:
                left.pop(k)
            elif channels.extent is None or self._foreign(c, channels):
                return False
        return not left

    def _foreign(self, c: Scalar, channels: _Channels) -> bool:
        """Whether a condition is not the one that groups are told by."""
        output = self.roles[Part.WEIGHT].at[1 if self.swapped else 0]
        assert channels.extent is not None
        assert not isinstance(output, Batch)
        return self.width(c, channels.loop, channels.extent, output) != channels.width

    def at_least_zero(self, c: Scalar) -> Polynomial | None:
        match c:
            case Apply("ge", (a, b)):
                return self.polynomial(a) - self.polynomial(b)
            case Apply("lt", (a, b)):
                return self.polynomial(b) - self.polynomial(a) - number(1)
        return None


def _quotient(p: Polynomial) -> tuple[Polynomial, Scalar]:
    """Numerator and divisor where a polynomial is a quotient, or one plus terms; else itself by one."""
    for a in p.atoms():
        if isinstance(a, Apply) and a.fn == "floordiv" and not _is_number(a):
            parts = p.split(a)
            if parts is not None and parts[0].constant == 1 and _is_number(a.args[1]):
                return parts[1] * polynomial(a.args[1]) + polynomial(a.args[0]), a.args[1]
    return p, ONE


def _line(position: Scalar, first: Index, second: Index) -> tuple[Scalar, Scalar, Scalar, Scalar] | None:
    """`(a, b, start, divisor)` where a position is `(first*a + second*b + start)//divisor`."""
    numerator, divisor = _quotient(polynomial(position))
    a = numerator.split(first)
    b = None if a is None else a[1].split(second)
    if a is None or b is None:
        return None
    found = (a[0].scalar(), b[0].scalar(), b[1].scalar())
    return (*found, divisor) if all(_is_number(e) for e in found) else None


def _solved(position: Scalar, data: Index, other: Index) -> Tie | None:
    """The tie of `position = (data - other*dilation - start)/stride`."""
    found = _line(position, data, other)
    if found is None or found[0] != ONE:
        return None
    dilation, start = (-polynomial(e) for e in found[1:3])
    return Tie(found[3], dilation.scalar(), start.scalar())


def _divides(condition: Scalar, numerator: Polynomial, divisor: Scalar) -> bool:
    """Whether a condition says that a quotient is a whole number."""
    match condition:
        case Apply("eq", (Apply("mod", (a, d)), z)) if z == ZERO and d == divisor:
            parts = (polynomial(a) - numerator).divided(polynomial(divisor))
            return parts is not None and not parts[1].terms
    return False
