"""The fastest loop of a map in ranges, where conditions compare its index with sizes: in each range they are known, and
nothing is left to ask. Ranges of one length run together, so that what both read is read once.

    for d < 2*H                               for d_1 < H
      y[t, d] = where(d < H,                    y[t, d_1] = x[t, d_1 + H]
                      x[t, d + H],              y[t, d_1 + H] = x[t, d_1]
                      x[t, d - H])

Where the order of the ends is known to the call alone, the loop as it was stands beside its ranges, for other orders.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from opgen.ir.names import Names
from opgen.ir.polynomial import Polynomial, number, polynomial
from opgen.ir.program import Axis, Loop
from opgen.ir.ranges import facts_of, is_nonnegative
from opgen.ir.scalar import (
    ZERO,
    Apply,
    Batch,
    Index,
    Position,
    Read,
    Scalar,
    both,
    call,
    mentions,
    substitute,
    transform,
    walk,
)
from opgen.kernel.cases import cases
from opgen.kernel.checks import Access
from opgen.kernel.model import Body, For, If, Kernel, Node, Role, Store
from opgen.kernel.walk import bound, chain, loops_of, values
from opgen.plan.model import Let


def split(k: Kernel, doubtful: Collection[Access]) -> Kernel:
    """The kernel with its maps in ranges, but for those with accesses at which it has to check, the `doubtful` ones."""
    names = [s.name for s in k.slots] + [a.name for a in loops_of(k.body) if isinstance(a, Axis)] + [*bound(k.body)]
    split_up = _Split(Names(names), doubtful)
    return replace(k, body=tuple(n for node in k.body for n in split_up.node(node)))


@dataclass(frozen=True, slots=True)
class _Range:
    """The statements at the points from one end to another one."""

    first: Polynomial
    end: Polynomial
    body: Body

    @property
    def size(self) -> Polynomial:
        return self.end - self.first


@dataclass(frozen=True, slots=True)
class _Split:
    names: Names
    doubtful: Collection[Access]

    def node(self, node: Node) -> Iterator[Node]:
        """A map as one loop for each length of its ranges; anything else as it is."""
        outer, body = chain((node,), (Role.PARALLEL,))
        last = outer[-1] if outer else None
        ranges = cases(outer, body)
        if not isinstance(last, Axis) or ranges == body or self._is_checked(body, last):
            yield node
            return
        found = list(_ranges(ranges, number(0), polynomial(last.extent)))
        facts = facts_of(outer)
        sizes = _Sizes(last, frozenset(a for e in values(body) for a in walk(e)))
        asked = [call("ge", sizes.of(r), ZERO) for r in found if not is_nonnegative(r.size, facts)]
        for together in _of_one_size(found):
            made = self._loop(outer, Axis(last.name, sizes.of(together[0])), together)
            yield If(reduce(both, asked), (made,)) if asked else made
        if asked:
            yield If(call("not", reduce(both, asked)), (node,))

    def _is_checked(self, body: Body, along: Axis) -> bool:
        """Whether something is checked at a position that moves with a loop, as all is that may be padded."""
        read = [r for e in values(body) for r in walk(e) if isinstance(r, Read)]
        accesses = [(r.tensor, r.at, r.fill is not None) for r in read]
        accesses += [(n.slot, n.at, False) for n in body if isinstance(n, Store)]
        return any(
            padded or (tensor, k, p) in self.doubtful
            for tensor, at, padded in accesses
            for k, p in enumerate(at)
            if not isinstance(p, Batch) and along.name in mentions(p)[0]
        )

    def _loop(self, outer: Sequence[Loop], last: Axis, ranges: Sequence[_Range]) -> Node:
        """One loop through ranges of one length."""
        along = Axis(self.names.fresh(last.name), last.extent)
        body = tuple(n for r in ranges for n in self._moved(r, Index(last.name), Index(along.name)))
        loops = (*outer[:-1], along)
        return reduce(lambda inner, a: (For(a, inner, Role.PARALLEL),), reversed(loops), body)[0]

    def _moved(self, r: _Range, was: Index, index: Index) -> Body:
        """The statements of a range with an index that counts from its first point."""
        lets = {n.name: self.names.fresh(n.name) for n in r.body if isinstance(n, Let)}
        known: dict[Scalar, Scalar] = {Read(n, ()): Read(name, ()) for n, name in lets.items()}
        known[was] = (polynomial(index) + r.first).scalar()

        def place(p: Position) -> Position:
            parts = None if isinstance(p, Batch) else polynomial(p).split(index)
            return p if parts is None else (polynomial(index) * parts[0] + parts[1]).scalar()

        def placed(e: Scalar) -> Scalar:
            return replace(e, at=tuple(map(place, e.at))) if isinstance(e, Read) and e.at else e

        made: list[Node] = []
        for n in r.body:
            assert isinstance(n, Let | Store)
            value = transform(substitute(n.value, known), placed)
            if isinstance(n, Let):
                made.append(replace(n, name=lets[n.name], value=value))
            else:
                at = tuple(p if isinstance(p, Batch) else place(substitute(p, known)) for p in n.at)
                made.append(replace(n, at=at, value=value))
        return tuple(made)


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Sizes of ranges in numbers that the kernel has: those in `known`, and how many points the whole loop has."""

    whole: Axis
    known: frozenset[Scalar]

    def of(self, r: _Range) -> Scalar:
        size = r.size
        if self.known.union((self.whole.extent,)).issuperset(size.atoms()):
            return size.scalar()
        return call("sub", self.whole.extent, r.first.scalar())


def _ranges(body: Body, first: Polynomial, end: Polynomial) -> Iterator[_Range]:
    """The cases of a body in their order."""
    match body:
        case (If(Apply(_, (_, border)), then, otherwise),):
            yield from _ranges(then, first, polynomial(border))
            yield from _ranges(otherwise, polynomial(border), end)
        case _:
            yield _Range(first, end, body)


def _of_one_size(ranges: Sequence[_Range]) -> list[list[_Range]]:
    found: list[list[_Range]] = []
    for r in ranges:
        same = next((group for group in found if group[0].size.same(r.size)), None)
        if same is None:
            found.append([r])
        else:
            same.append(r)
    return found
