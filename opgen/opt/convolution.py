"""Sums of products that are convolutions, recognised by where they read.

Three tensors belong to a convolution: the data `x[..., c, l]`, the output `y[..., o, p]` and the weight `w[o, c, k]`,
tied by `l = p*stride + k*dilation + start` along every spatial axis. A statement computes one of them from the other
two: the output, or what the adjoints compute, the data (a transposed convolution) and the weight. One of `l`, `p` and
`k` is no loop of the statement, but the position that a factor is read at; out of range there is zero. With groups,
`width` neighbouring outputs see the same `Cg` channels.

In goes a statement; out comes what it is, or nothing. Nothing is rewritten here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from itertools import permutations

from opgen.ir.point import positions, read_of
from opgen.ir.polynomial import Polynomial, number, polynomial
from opgen.ir.program import Axis, Compute, Kind, Loop, Program, Shape, Statement, definitions
from opgen.ir.ranges import Facts, derived_sizes, facts_of, is_nonnegative, positive_params, sizes_of
from opgen.ir.scalar import ONE, ZERO, Apply, Batch, Index, Position, Read, Scalar, mul, neg, sub
from opgen.opt.taps import divides, group, guarded, is_number, line, quotient, remainder, solved, undivided

_MAX_RANK = 3
_REMEMBERED = 1 << 8  # programs, of which every stage asks again


class Part(StrEnum):
    """The tensors of a convolution."""

    DATA = "data"
    WEIGHT = "weight"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Tie:
    """`l = p*stride + k*dilation + start` along one spatial axis; `reverse`: with the last tap of the weight first."""

    stride: Scalar
    dilation: Scalar
    start: Scalar
    reverse: bool = False


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
    """What is known of the program around a statement: shapes of numbers, derived sizes, what is not negative."""

    shapes: Mapping[str, Shape]
    dims: Mapping[str, Scalar | None]
    sizes: tuple[Scalar, ...]
    positive: tuple[Scalar, ...]
    _facts: dict[tuple[Loop, ...], Facts] = field(default_factory=dict, init=False, repr=False, compare=False)

    def facts(self, loops: tuple[Loop, ...] = ()) -> Facts:
        """What holds inside some loops; made once, for it remembers what was asked."""
        if loops not in self._facts:
            self._facts[loops] = facts_of(loops, self.dims, self.sizes, positive=self.positive)
        return self._facts[loops]

    @staticmethod
    def of(p: Program, statements: tuple[Statement, ...] = ()) -> Known:
        """What is known in a program, or with other statements in place of its own."""
        p = replace(p, statements=statements or p.statements)
        shapes = {t.name: t.shape for t in p.inputs if t.kind is Kind.FLOAT}
        shapes |= {s.target: s.shape for s in definitions(p) if s.kind is Kind.FLOAT}
        return Known(shapes, derived_sizes(p), sizes_of(p), positive_params(p))


def convolution(s: Compute, known: Known) -> Convolution | None:
    """The convolution that a statement is, if it is one."""
    if s.op != "sum" or s.kind is not Kind.FLOAT:
        return None
    conditions: list[Scalar] = []
    match guarded(s.body, conditions):
        case Apply("mul", (Read() as a, Read() as b)) if {a.tensor, b.tensor} <= set(known.shapes):
            tensors = (read_of(s), a, b)
        case _:
            return None
    if not any(_is_moved(r) for r in (a, b)):
        return None
    ways = (
        _Match(s, known, tuple(conditions), dict(zip(Part, order, strict=True)), swapped).convolution()
        for order in permutations(tensors)
        for swapped in (False, True)
    )
    found = [way for way in ways if way is not None]
    return min(found, key=lambda way: any(t.reverse for t in way.ties), default=None)


@lru_cache(maxsize=_REMEMBERED)
def convolutions(p: Program) -> frozenset[str]:
    """The targets of the statements of a program that are convolutions."""
    known = Known.of(p)
    return frozenset(s.target for s in p.statements if isinstance(s, Compute) and convolution(s, known) is not None)


def _is_moved(r: Read) -> bool:
    """Whether a position is neither a loop nor a channel of a group."""
    return any(not isinstance(q, Batch | Index) and group(q) is None and remainder(q) is None for q in r.at)


def is_positive(e: Scalar, known: Known) -> bool:
    """Whether a size or param is at least one, whatever the dims are."""
    return is_nonnegative(polynomial(e) - number(1), known.facts())


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
    swapped: bool

    @property
    def rank(self) -> int:
        return len(self.roles[Part.WEIGHT].at) - 2

    def convolution(self) -> Convolution | None:
        x, w, y = (self.roles[part].at for part in Part)
        rank = self.rank
        if not 1 <= rank <= _MAX_RANK or len(x) != len(y) or len(x) < rank + 1:
            return None
        outputs, within = (w[1], w[0]) if self.swapped else (w[0], w[1])
        batch, channel, output = x[: -rank - 1], x[-rank - 1], y[-rank - 1]
        if batch != y[: -rank - 1] or outputs != output or not all(isinstance(q, Batch | Index) for q in batch):
            return None
        channels = self.channels(channel, within, output)
        ties = tuple(self.tie(k - rank) for k in range(rank))
        if channels is None or None in ties:
            return None
        spatial = [q for q in (*x[-rank:], *w[-rank:], *y[-rank:]) if isinstance(q, Index)]
        loops = [*batch, output, channels.loop, *spatial]
        everything = set(positions(self.s.loops))
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
        match group(x):
            case (output, width, count, c) if output == o and c == w and self.in_range(x):
                same = self.polynomial(count).same(self.polynomial(self.extent(w)))
                return _Channels(w, count, width) if same and self.is_width(width) else None
        match remainder(w):
            case (c, count) if c == x:
                widths = (self.width(q, x, count, o) for q in self.conditions)
                found = next((n for n in widths if n is not None), None)
                return None if found is None or not self.is_width(found) else _Channels(x, count, found)
        return None

    def in_range(self, channel: Scalar) -> bool:
        """Whether the last group may lack channels: what is out of range is zero."""
        data = self.roles[Part.DATA]
        return data.fill == ZERO or any(self.is_last(c, channel) for c in self.conditions)

    def is_last(self, condition: Scalar, channel: Position) -> bool:
        """Whether a condition says that a channel is not beyond those that there are."""
        stated = self.at_least_zero(condition)
        size = self.known.shapes[self.roles[Part.DATA].tensor][-self.rank - 1]
        if stated is None or isinstance(channel, Batch) or isinstance(size, Batch):
            return False
        return stated.same(self.polynomial(size) - self.polynomial(channel) - number(1))

    def is_width(self, width: Scalar) -> bool:
        return is_nonnegative(polynomial(width), self.known.facts())

    def width(self, condition: Scalar, c: Scalar, count: Scalar, o: Scalar) -> Scalar | None:
        """The width of the groups where a condition says that a channel and an output are of the same."""
        match condition:
            case Apply("eq", (Apply("floordiv", (a, m)), Apply("floordiv", (b, n)))):
                for (loop, divisor), (other, width) in (((a, m), (b, n)), ((b, n), (a, m))):
                    if loop == c and divisor == count and other == o and is_number(width):
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
                elif remainder(q) is not None and (
                    channels.extent is None or not self.polynomial(channels.extent).same(self.polynomial(size))
                ):
                    return False
        return True

    # --- positions ---------------------------------------------------------------------------------------------------

    def tie(self, axis: int) -> Tie | None:
        """How the positions along one spatial axis hang together; one of them is no loop."""
        x, w, y = (self.roles[part].at[axis] for part in Part)
        match x, w, y:
            case (Batch(), _, _) | (_, Batch(), _) | (_, _, Batch()):
                return None
            case (Index(), Index(), Index()):
                return None
            case (_, Index(), Index()):
                read = line(x, y, w)
                found = None if read is None or read[3] != ONE else read[:3]
            case (Index(), Index(), _):
                found = solved(y, x, w)
            case (Index(), _, Index()):
                turned = solved(w, x, y)
                found = None if turned is None else (turned[1], turned[0], turned[2])
            case _:
                return None
        if found is None or not is_positive(found[0], self.known):
            return None
        stride, dilation, start = found
        if is_positive(dilation, self.known):
            return Tie(stride, dilation, start)
        back = neg(dilation)
        if not is_positive(back, self.known):
            return None
        taps = self.extent(w) if isinstance(w, Index) else self.known.shapes[self.roles[Part.WEIGHT].tensor][axis]
        assert not isinstance(taps, Batch)
        return Tie(stride, back, sub(start, mul(back, sub(taps, ONE))), reverse=True)

    # --- conditions --------------------------------------------------------------------------------------------------

    def explained(self, rank: int, channels: _Channels) -> bool:
        """Whether the conditions say that positions are in range and whole, and all of them that are needed do."""
        allowed: list[Polynomial] = []
        needed: list[tuple[Polynomial, Scalar]] = []
        channel = self.roles[Part.DATA].at[-rank - 1]
        others = (c for c in self.conditions if channels.width is None or not self.is_last(c, channel))
        stated = [undivided(p, self.conditions) for p in map(self.at_least_zero, others) if p is not None]
        stated = [p for p in stated if not self.surely(p)]
        for r, q, size in self.moved():
            at = self.polynomial(q)
            bounds = (at, self.polynomial(size) - at - number(1))
            allowed += bounds
            if r.fill is None and not all(any(b.same(p) for p in stated) or self.surely(b) for b in bounds):
                return False
            if r.fill not in (None, ZERO):
                return False
            numerator, divisor = quotient(polynomial(q))
            if divisor != ONE:
                needed.append((numerator, divisor))
        if any(not any(p.same(a) for a in allowed) for p in stated):
            return False
        return self.divisions(needed, channels)

    def moved(self) -> Iterator[tuple[Read, Scalar, Scalar]]:
        """What is read at a position that is no loop, along every spatial axis, with the size there."""
        for r in self.roles.values():
            if r.tensor != self.s.target:
                for q, size in zip(r.at[-self.rank :], self.known.shapes[r.tensor][-self.rank :], strict=True):
                    if not isinstance(q, Batch | Index) and not isinstance(size, Batch):
                        yield r, q, size

    def surely(self, p: Polynomial) -> bool:
        """Whether something is at least zero at every point."""
        dims = self.known.dims
        written_out = (
            a if isinstance(a, Batch) else Axis(a.name, polynomial(a.extent, dims).scalar()) for a in self.s.loops
        )
        return any(is_nonnegative(p, self.known.facts(loops)) for loops in (self.s.loops, tuple(written_out)))

    def divisions(self, needed: list[tuple[Polynomial, Scalar]], channels: _Channels) -> bool:
        left = list(needed)
        for c in self.conditions:
            if self.at_least_zero(c) is not None:
                continue
            k = next((k for k, (n, d) in enumerate(left) if divides(c, n, d)), None)
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
