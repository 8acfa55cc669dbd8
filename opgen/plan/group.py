"""Which statements share a kernel.

In go the *kept* statements of a program (reductions, scatters, outputs and maps worth storing; cheap maps are left to
be recomputed where they are read) with what they read; out come groups, in an order that respects every dependency.
Statements join a nest when they run over the same outer points and read what other points produce nowhere.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from opgen.ir.names import Names
from opgen.ir.point import positions
from opgen.ir.program import Axis, Compute, Loop, Recurrence, Scatter, Statement
from opgen.ir.program import targets as defined
from opgen.ir.scalar import Batch, Index, Position, Read, Scalar, add
from opgen.opt.streams import Streamed, Use
from opgen.plan.flow import Flow, fits, join
from opgen.plan.keep import scalars
from opgen.plan.model import extent
from opgen.plan.values import resolve

Bindings = dict[str, str]  # index of a statement -> index of the nest


@dataclass(slots=True)
class Member:
    """A statement of a nest, with the names its indices have there."""

    statement: Compute
    bindings: Bindings
    reads: tuple[Read, ...]  # of kept tensors and arguments, in the statement's own indices

    @property
    def inner(self) -> tuple[Loop, ...]:
        """The loops below the outer ones: those it is reduced over, or the further axes it is stored along."""
        if self.statement.op is not None:
            return self.statement.over
        return tuple(a for a in self.statement.axes if (a if isinstance(a, Batch) else a.name) not in self.bound)

    bound: tuple[str | Batch, ...] = ()  # the statement's axes that are outer loops of the nest
    once: bool = False  # computed once for each row of a nest, as a reduction is


@dataclass(slots=True)
class Group:
    """A nest in the making."""

    outer: tuple[Loop, ...]
    members: list[Member] = field(default_factory=list)

    @property
    def folds(self) -> bool:
        """Whether there is something of a whole row that passes along it wait for."""
        return any(m.once for m in self.members)

    def member(self, target: str) -> Member | None:
        return next((m for m in self.members if m.statement.target == target), None)


@dataclass(slots=True)
class Single:
    """A step of its own: a contraction, a convolution, a sort, a scatter or a recurrence."""

    statement: Statement
    reads: tuple[Read, ...]


Item = Group | Single | Flow


def targets(item: Item) -> list[str]:
    """What a step produces."""
    return list(defined(item.statement)) if isinstance(item, Single) else [m.statement.target for m in item.members]


def reads_of_item(item: Item) -> tuple[Read, ...]:
    """What a step reads of kept tensors and arguments, its own among them."""
    return tuple(r for m in item.members for r in m.reads) if isinstance(item, Group) else item.reads


def needed(items: Sequence[Item], results: Collection[str]) -> list[Item]:
    """The steps without those that nobody reads, once what they were kept for has been put otherwise."""
    asked, kept = set(results), list[Item]()
    for item in reversed(items):
        if not asked.isdisjoint(targets(item)):
            asked |= {r.tensor for r in reads_of_item(item)}
            kept.append(item)
    return kept[::-1]


class Grouping:
    """Places statements one by one, each into the latest step it may join, else into a new one."""

    def __init__(self, once: Collection[str]) -> None:
        self.once = once
        self.items: list[Item] = []

    def place(self, s: Compute, reads: tuple[Read, ...]) -> None:
        if not self._joins(s, reads, along=False):
            self.items.append(self._marked(lone(s, reads)))

    def _joins(self, s: Compute, reads: tuple[Read, ...], *, along: bool) -> bool:
        read = {r.tensor for r in reads}
        producer = max((k for k, item in enumerate(self.items) if not read.isdisjoint(targets(item))), default=0)
        for item in reversed(self.items[producer:]):
            if isinstance(item, Group):
                member = _fit(item, s, reads, along=along)
                if member is not None:
                    item.members.insert(0 if along else len(item.members), member)
                    self._marked(item)
                    return True
        return False

    def _marked(self, g: Group) -> Group:
        for m in g.members:
            m.once = m.statement.op is not None or m.statement.target in self.once
        return g

    def settle(self, maps: Collection[str]) -> None:
        """Let passes that fold over the same memory store these maps, which no other step waits for.

        Not those over the batch: there are few rows then, and a map runs over all points side by side.
        """
        for item in self.items:
            if isinstance(item, Group) and not item.folds:
                for m in item.members:
                    if m.statement.target in maps and self._joins(m.statement, m.reads, along=True):
                        item.members = [other for other in item.members if other is not m]
        self.items = [item for item in self.items if not isinstance(item, Group) or item.members]

    def flow(self, u: Use, memory: tuple[Read, ...], names: Names) -> None:
        """Put a use of pairs into the latest stream that it fits, else into a new one."""
        read = {r.tensor for r in memory}
        producer = max((k for k, item in enumerate(self.items) if not read.isdisjoint(targets(item))), default=0)
        found = (item for item in reversed(self.items[producer:]) if isinstance(item, Flow) and fits(item, u))
        f = next(found, None)
        if f is None:
            f = Flow(u.outer, u.along, u.rows)
            self.items.append(f)
        join(f, u, memory, names)

    def alone(self, s: Statement, reads: tuple[Read, ...]) -> None:
        self.items.append(Single(s, reads))


def grouped(
    statements: tuple[Statement, ...],
    kept: Collection[str],
    alone: Collection[str],
    maps: Mapping[str, Compute],
    streams: Streamed,
    stored: Collection[str],
    once: Collection[str],
    names: Names,
) -> list[Item]:
    """The statements that are kept, in groups; what stands `alone` is left to torch, and `maps` to their readers.

    `once`: maps that rows go by, as by their sums.
    """
    grouping = Grouping(once)
    for s in statements:
        if isinstance(s, Compute) and s.op is None and s.target not in kept:
            continue
        if s.target in streams.uses:
            use = streams.uses[s.target]
            grouping.flow(use, streams.memory(use), names)
            continue
        found: dict[Read, None] = {}
        seen: set[Read] = set()
        for e in scalars(s):
            resolve(e, maps, found, seen)
        if isinstance(s, Scatter | Recurrence) or s.target in alone:
            grouping.alone(s, tuple(found))
        else:
            grouping.place(s, tuple(found))
    grouping.settle(stored)
    return grouping.items


def lone(s: Compute, reads: tuple[Read, ...]) -> Group:
    """A nest of one statement."""
    bound = tuple(a if isinstance(a, Batch) else a.name for a in s.axes)
    identity = {a.name: a.name for a in s.axes if isinstance(a, Axis)}
    return Group(s.axes, [Member(s, identity, reads, bound)])


def biased(s: Compute, reads: tuple[Read, ...], bias: Read, name: str) -> Group:
    """A nest of one statement, and a sum: `name` is what the statement is called in it."""
    g = lone(replace(s, target=name), reads)
    (own,) = g.members
    summed = Read(name, positions(s.axes))
    whole = Compute(s.target, s.axes, add(summed, bias), kind=s.kind, span=s.span)
    g.members.append(Member(whole, own.bindings, (summed, bias), own.bound))
    return g


def _fit(g: Group, s: Compute, reads: tuple[Read, ...], *, along: bool) -> Member | None:
    """The statement as a member of a nest, or None where it may not or should not join."""
    own = [r for r in reads if g.member(r.tensor)]
    pairs = _forced(g, s, own)
    if pairs is None:
        return None
    bound = _complete(g, s, pairs)
    if bound is None:
        return None
    if along:
        free = [extent(a) for a in s.axes if (a if isinstance(a, Batch) else a.name) not in bound]
        few_rows = bool(g.outer) and any(isinstance(n, Batch) for n in free)
        if own or few_rows or not _shares_pass(g, free, reads):
            return None
    elif not _worth(g, s, reads, bool(own), len(bound)):
        return None
    bindings = {a: o.name for o, a in zip(g.outer, bound, strict=True) if isinstance(o, Axis) and isinstance(a, str)}
    return Member(s, bindings, reads, tuple(bound))


def _forced(g: Group, s: Compute, own: list[Read]) -> dict[int, str | Batch] | None:
    """Outer loops whose counterpart follows from reads of what the nest itself produces."""
    axes = {a if isinstance(a, Batch) else a.name for a in s.axes}
    pairs: dict[int, str | Batch] = {}
    for r in own:
        producer = g.member(r.tensor)
        assert producer is not None
        if len(r.at) != len(g.outer):
            return None  # a tensor wider than a point of the nest: other points would have to be done
        for axis, p in zip(producer.statement.axes, r.at, strict=True):
            slot = _slot(g, producer, axis)
            name = _plain(p, axes)
            if slot is None or name is None or pairs.setdefault(slot, name) != name:
                return None
    return pairs if len(set(pairs.values())) == len(pairs) else None  # a diagonal is not at the point


def _slot(g: Group, m: Member, axis: Loop) -> int | None:
    for k, o in enumerate(g.outer):
        if isinstance(axis, Batch) or isinstance(o, Batch):
            if axis == o:
                return k
        elif m.bindings.get(axis.name) == o.name:
            return k
    return None


def _plain(p: Position, axes: set[str | Batch]) -> str | Batch | None:
    name = p.name if isinstance(p, Index) else p
    return name if isinstance(name, str | Batch) and name in axes else None


def _complete(g: Group, s: Compute, pairs: dict[int, str | Batch]) -> list[str | Batch] | None:
    """A counterpart among the statement's axes for every outer loop, extents equal, order kept."""
    free: list[Loop] = [a for a in s.axes if (a if isinstance(a, Batch) else a.name) not in pairs.values()]
    bound: list[str | Batch] = []
    for k, o in enumerate(g.outer):
        if k in pairs:
            bound.append(pairs[k])
            continue
        match = next((a for a in free if extent(a) == extent(o)), None)
        if match is None:
            return None
        free.remove(match)
        bound.append(match if isinstance(match, Batch) else match.name)
    names = {a.name: a for a in s.axes if isinstance(a, Axis)}
    for o, b in zip(g.outer, bound, strict=True):
        if extent(o) != (b if isinstance(b, Batch) else names[b].extent):
            return None
    return bound


def _worth(g: Group, s: Compute, reads: tuple[Read, ...], dependent: bool, bound: int) -> bool:
    """Whether a statement that could join should: it shares work or reads, and does not make the nest serial."""
    exact = bound == len(s.axes)
    if s.op is not None:
        if not exact or (not g.outer and dependent):
            return False
        return dependent or (g.folds and _shares_pass(g, [extent(a) for a in s.over], reads))
    if exact:
        return dependent or not g.folds
    return bool(g.outer) and g.folds and dependent


def _shares_pass(g: Group, sizes: list[Scalar | Batch], reads: tuple[Read, ...]) -> bool:
    """Whether a reduction of the nest runs over loops of these sizes and reads some of the same memory."""
    tensors = {r.tensor for r in reads}
    return any(
        m.statement.op is not None
        and [extent(a) for a in m.statement.over] == sizes
        and any(r.tensor in tensors for r in m.reads)
        for m in g.members
    )


def inner_names(g: Group, names: Names) -> list[Bindings]:
    """Give every member's inner loops the names of the first member that loops alike, fresh where taken."""
    taken = {o.name for o in g.outer if isinstance(o, Axis)}
    known: list[tuple[tuple[Scalar | Batch, ...], tuple[str, ...]]] = []
    out: list[Bindings] = []
    for m in g.members:
        sizes = tuple(extent(a) for a in m.inner)
        chosen = next((loops for shape, loops in known if shape == sizes), None)
        if chosen is None:
            chosen = tuple(
                "..." if isinstance(a, Batch) else a.name if a.name not in taken else names.fresh(f"{a.name}_in")
                for a in m.inner
            )
            known.append((sizes, chosen))
        inner = {a.name: c for a, c in zip(m.inner, chosen, strict=True) if isinstance(a, Axis)}
        out.append({**m.bindings, **inner})
    return out
