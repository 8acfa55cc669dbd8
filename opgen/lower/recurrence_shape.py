"""How far the indices of a recurrence run, found out before its bodies are lowered.

In go the statements of its names; out comes a shape for each, with an unknown size where nothing is said. A name takes
over what the others say: `d[t] = y[t - 1]` runs as far as `y` does; where they say nothing, its start does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from opgen.diagnostics.model import Bag
from opgen.ir import text
from opgen.ir.program import Axis, Compute, Shape, Statement
from opgen.ir.reductions import REDUCTIONS
from opgen.ir.scalar import BATCH, Batch, Dim, Scalar
from opgen.lang.circles import Step, accesses, step_of
from opgen.lang.nodes import Access, Assign, Binder, Call, Dots, Expr, Name, Reduction
from opgen.lang.walk import operands
from opgen.lower.declare import Declarations
from opgen.lower.extent import extent_of
from opgen.lower.recurrence_starts import as_far_as_the_start
from opgen.lower.scope import UNKNOWN, Variation, same_extent
from opgen.lower.statement import Wanted, frame_of

Place = tuple[str, int]  # a position of a name


@dataclass(slots=True)
class Extents:
    """What is known about the positions of the names; `along` are those at which they run together."""

    bodies: Mapping[str, Assign]
    along: Mapping[str, tuple[int, ...]]
    known: dict[Place, Scalar] = field(default_factory=dict)
    own: dict[Place, None] = field(default_factory=dict)  # known from the name's own statement
    stated: dict[Place, None] = field(default_factory=dict)  # known from what it states, or is declared

    def shape(self, name: str) -> Shape:
        items = self.bodies[name].target.items or ()
        unknown = Dim(UNKNOWN)
        return tuple(BATCH if isinstance(a, Dots) else self.known.get((name, k), unknown) for k, a in enumerate(items))

    def complete(self, name: str) -> bool:
        return all(p in self.known for p in self._places(name))

    def borrowed(self, name: str) -> bool:
        """Whether a shape is known, and not from the name's own statement alone."""
        return self.complete(name) and not all(p in self.own for p in self._places(name))

    def unlike(
        self, name: str, places: Sequence[int], start: Statement, dims: dict[str, Scalar | None]
    ) -> tuple[str, ...] | None:
        """What is wrong with a start that has other places than what goes on from it, which reads it at all of them.

        The message, and what to do about it.
        """
        for k, axis in zip(places, start.axes if isinstance(start, Compute) else (), strict=False):
            size = self.known.get((name, k))
            if isinstance(axis, Axis) and size is not None and not same_extent(axis.extent, size, dims):
                here, there = text.scalar(axis.extent), text.scalar(size)
                message = f"`{axis.name}` runs over `{here}` in this start, and over `{there}` where it goes on"
                stated = (name, k) in self.stated
                return (message, *(() if stated else as_far_as_the_start(self.bodies[name], k, axis.extent)))
        return None

    def unknown_along(self) -> tuple[str, ...]:
        """The indices that stand alone where the names read one another, at positions of which nothing is known."""
        read = accesses(self.bodies.values(), tuple(self.bodies))
        places = ((a.name, k, item) for a in read for k, item in enumerate(a.items))
        return tuple(i.name for n, k, i in places if isinstance(i, Name) and (n, k) not in self.known)

    def _places(self, name: str) -> tuple[Place, ...]:
        return tuple((name, k) for k, a in enumerate(self.bodies[name].target.items or ()) if isinstance(a, Binder))


def extents(
    d: Declarations,
    state: Variation,
    bodies: Mapping[str, Assign],
    along: Mapping[str, tuple[int, ...]],
    wanted: Mapping[str, Wanted],
    starts: Mapping[str, Sequence[Assign]],
) -> Extents:
    """Everything that the statements and the declared shapes say."""
    found = Extents(bodies, along)
    for n, s in bodies.items():
        declared = wanted[n].shape
        items = s.target.items or ()
        for k, item in enumerate(items):
            if not isinstance(item, Binder):
                continue
            size = _stated(d, state, item)
            if size is None and declared is not None and len(declared) == len(items):
                size = _size(declared[k])
            if size is not None:
                found.stated[n, k] = None
            if size is None:
                size = next(_sites(state, s, item.name), None)
            if size is not None:
                found.known[n, k] = size
                found.own[n, k] = None
    for n, k in ((n, k) for n, places in along.items() for k in places):
        if (n, k) not in found.known:
            size = next(_ended(state, bodies[n], k), None)
            if size is not None:
                found.known[n, k] = size
    for _ in bodies:
        _share(found)
    for n, s in ((n, s) for n, begun in starts.items() for s in begun):
        for k, item in enumerate(s.target.items or ()):
            if isinstance(item, Binder) and (n, k) not in found.known and k not in along[n]:
                size = _stated(d, state, item) or next(_sites(state, s, item.name), None)
                if size is not None:
                    found.known[n, k] = size
    for _ in bodies:
        _share(found)
    return found


def says_extents(state: Variation, s: Assign) -> bool:
    """Whether a statement says by itself how far each index of its target runs."""
    return all(
        item.extent is not None or next(_sites(state, s, item.name), None) is not None
        for item in s.target.items or ()
        if isinstance(item, Binder)
    )


def _stated(d: Declarations, state: Variation, item: Binder) -> Scalar | None:
    return None if item.extent is None else extent_of(frame_of(d, state, Bag()), item.extent)


def _sites(state: Variation, s: Assign, index: str) -> Iterator[Scalar]:
    """The dims at which an index stands alone."""
    for a in _accesses(s.value, index):
        known = state.tensors.get(a.name)
        if known is None or known.shape is None or len(known.shape) != len(a.items):
            continue
        for item, size in zip(a.items, known.shape, strict=True):
            found = _size(size)
            if isinstance(item, Name) and item.name == index and found is not None and found != Dim(UNKNOWN):
                yield found


def _ended(state: Variation, s: Assign, place: int) -> Iterator[Scalar]:
    """How far recurrences run that are read one place back, and are done."""
    own = (s.target.items or ())[place]
    assert isinstance(own, Binder)
    for a in _accesses(s.value, own.name):
        known = state.tensors.get(a.name)
        if known is None or known.outside is None or known.shape is None or len(known.shape) != len(a.items):
            continue
        for k, way in known.outside.along:
            size = _size(known.shape[k])
            if size is not None and step_of(a.items[k]) == Step(own.name, way):
                yield size


def _size(s: Scalar | Batch) -> Scalar | None:
    return None if isinstance(s, Batch) else s


def _accesses(e: Expr, index: str) -> Iterator[Access]:
    """Accesses in which an index means that of the statement, those in a `pad` aside."""
    if isinstance(e, Call) and e.name == "pad":
        return
    if isinstance(e, Reduction) and not (e.name in REDUCTIONS and REDUCTIONS[e.name].keeps_index) and _binds(e, index):
        return
    if isinstance(e, Access):
        yield e
    for o in operands(e):
        yield from _accesses(o, index)


def _binds(e: Reduction, index: str) -> bool:
    return any(isinstance(b, Binder) and b.name == index for b in e.binders)


def _share(found: Extents) -> None:
    """Names take over sizes: all along the recurrence, and where one reads another at its own index."""
    for slot in zip(*([(n, k) for k in places] for n, places in found.along.items()), strict=True):
        size = next((found.known[p] for p in slot if p in found.known), None)
        for p in slot:
            if size is not None:
                found.known.setdefault(p, size)
    for n, s in found.bodies.items():
        for k, item in enumerate(s.target.items or ()):
            if not isinstance(item, Binder):
                continue
            for a in _accesses(s.value, item.name):
                for place, other in enumerate(a.items):
                    there = a.name, place
                    if isinstance(other, Name) and other.name == item.name and there in found.known:
                        found.known.setdefault((n, k), found.known[there])
