"""Walks over kernels: what their bodies bind, loop over and compute, in the order in which it stands there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from opgen.ir.program import Axis, Loop
from opgen.ir.scalar import Batch, Index, Position, Scalar, mentions, reads
from opgen.kernel.model import Acc, Atomic, Body, For, If, Join, Kernel, Node, Role, Store, Tile
from opgen.plan.model import Let


def inside(body: Body) -> Iterator[Node]:
    """Every node of a body, outer ones first."""
    for node in body:
        yield node
        match node:
            case For(body=inner):
                yield from inside(inner)
            case If(body=then, otherwise=otherwise):
                yield from inside(then)
                yield from inside(otherwise)
            case _:
                pass


def bound(body: Body) -> dict[str, Let | Acc | Tile]:
    """The locals and tiles of a body, by name."""
    return {n.name: n for n in inside(body) if isinstance(n, Let | Acc | Tile)}


def stored_only(k: Kernel) -> frozenset[str]:
    """Slots that a kernel stores to and does nothing else with."""
    nodes = tuple(inside(k.body))
    used = {r.tensor for e in values(k.body) for r in reads(e)} | {n.slot for n in nodes if isinstance(n, Atomic)}
    return frozenset(n.slot for n in nodes if isinstance(n, Store)) - used


def meets(body: Body) -> bool:
    """Whether the points at which a body runs may meet in one place: then they are for one thread."""
    return any(isinstance(n, Atomic) or (isinstance(n, If) and meets(n.body)) for n in body)


def waits(loop: For) -> bool:
    """Whether the points of a loop come one after the other, each as a whole.

    What one stores is read at another, or each has loops beside other statements.
    """
    if any(isinstance(n, For) for n in chain((loop,), (loop.role,))[1]):
        return True
    stored = {n.slot for n in inside(loop.body) if isinstance(n, Store)}
    return any(r.tensor in stored for group in straight(loop.body) for e in values(group) for r in reads(e))


def steady(body: Body) -> frozenset[tuple[str, int]]:
    """Positions of slots along loops that go on from what they stored: whoever wrote the loop keeps them in range.

    Loops inside of such a loop go through one place of it; they are none themselves.
    """
    found: set[tuple[str, int]] = set()
    for node in body:
        if isinstance(node, For) and isinstance(node.loop, Axis) and node.role is Role.SERIAL and waits(node):
            here = Index(node.loop.name)
            stores = (n for n in inside(node.body) if isinstance(n, Store))
            found |= {(n.slot, k) for n in stores for k, p in enumerate(n.at) if p == here}
        elif isinstance(node, For):
            found |= steady(node.body)
    return frozenset(found)


def loops_of(body: Body) -> tuple[Loop, ...]:
    """The distinct loops of a body."""
    return tuple(dict.fromkeys(n.loop for n in inside(body) if isinstance(n, For)))


def of_size(k: Kernel, size: Scalar) -> str:
    """A loop that has so many points, or else a slot with as many places along an axis."""
    axes = (a.name for a in loops_of(k.body) if isinstance(a, Axis) and a.extent == size)
    return next(axes, next((s.name for s in k.slots if size in s.shape), ""))


def moving(at: Iterable[Position], loops: Iterable[Loop]) -> frozenset[Loop]:
    """The loops that positions move with."""
    parts = [(frozenset[str](), True) if isinstance(p, Batch) else mentions(p) for p in at]
    names, batch = frozenset[str]().union(*(n for n, _ in parts)), any(b for _, b in parts)
    return frozenset(a for a in loops if (batch if isinstance(a, Batch) else a.name in names))


def chain(body: Body, roles: Iterable[Role]) -> tuple[tuple[Loop, ...], Body]:
    """The loops of one of some roles that a body consists of, one directly inside of the other, and what is in them."""
    loops: list[Loop] = []
    role: Role | None = None
    while len(body) == 1 and isinstance(body[0], For) and body[0].role in ({role} if role else set(roles)):
        role = body[0].role
        loops.append(body[0].loop)
        body = body[0].body
    return tuple(loops), body


def loop_of(node: Node) -> tuple[For, Scalar | None] | None:
    """The loop that a node is, and the condition that it stands under; None of other nodes."""
    match node:
        case For():
            return node, None
        case If(condition, (For() as loop,), ()):
            return loop, condition
        case _:
            return None


def parts(body: Body) -> list[Body]:
    """What runs one after the other at all points: outer loops with what is in them, or what stands between these."""
    found: list[list[Node]] = []
    alone = True
    for node in body:
        loop = loop_of(node)
        shared = loop is not None and loop[0].role in (Role.PARALLEL, Role.LANES)
        if alone or shared:
            found.append([])
        found[-1].append(node)
        alone = shared
    return [tuple(p) for p in found]


def straight(body: Body) -> Iterator[Body]:
    """The runs of nodes of a body, and of the loops in it, that no loop interrupts."""
    group: list[Node] = []
    for node in body:
        if isinstance(node, For):
            yield tuple(group)
            yield from straight(node.body)
            group = []
        else:
            group.append(node)
    yield tuple(group)


def alive(body: Body) -> Body:
    """A body without locals of its own that nothing behind them reads."""
    kept: list[Node] = []
    used: set[str] = set()
    for n in reversed(body):
        if not isinstance(n, Let) or n.name in used:
            used |= {r.tensor for e in values((n,)) for r in reads(e)}
            kept.append(n)
    return tuple(reversed(kept))


def values(group: Body) -> tuple[Scalar, ...]:
    """What nodes without loops compute: values first, then conditions, and positions that are more than an index.

    The position that comes with a joined value counts, whatever it is.
    """
    nodes = tuple(inside(group))
    places = (p for n in nodes if isinstance(n, Store | Atomic) for p in n.at if not isinstance(p, Batch | Index))
    joined = (n.place for n in nodes if isinstance(n, Join) and n.place is not None)
    conditions = (n.condition for n in nodes if isinstance(n, If))
    return (*(e for n in nodes for e in _value(n)), *conditions, *places, *joined)


def scalars(k: Kernel) -> Iterator[Scalar]:
    """Every expression of a kernel: sizes of its slots and loops, conditions, positions and values."""
    yield from _sized(p for s in k.slots for p in s.shape)
    for n in inside(k.body):
        match n:
            case For(loop=Axis(extent=extent)):
                yield extent
            case If(condition=condition):
                yield condition
            case Store(at=at) | Atomic(at=at):
                yield from _sized(at)
            case Join(place=place) if place is not None:
                yield place
            case _:
                pass
        yield from _value(n)


def _sized(at: Iterable[Position]) -> Iterator[Scalar]:
    return (p for p in at if not isinstance(p, Batch))


def _value(node: Node) -> Iterator[Scalar]:
    match node:
        case Let(value=value) | Join(value=value) | Store(value=value) | Atomic(value=value):
            yield value
        case Tile(shape=shape):
            yield from shape
        case For() | If() | Acc():
            pass
        case _:
            assert_never(node)
