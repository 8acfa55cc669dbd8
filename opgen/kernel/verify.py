"""The law of kernels: what every rewrite has to leave true.

In goes a kernel, out come complaints, none for a valid one:

- a name is bound once on the way from the root to a leaf: indices, locals and tiles differ from each other and from
  slots;
- what an expression mentions is bound where it stands: indices by loops, locals by what stands before them;
- an access has as many positions as its slot or tile has axes, and the batch at the axis of the batch;
- values are joined into accumulators, with a place where these hold one, and never by points that run in parallel;
- a slot that is stored to is written; where points run in parallel, each stores in a place of its own, or atomically
  (where the place is found in data, whoever lowers it has to know).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import assert_never

from opgen.ir.program import Axis, Loop
from opgen.ir.scalar import Batch, Index, Position, Read, Scalar, mentions, reads, walk
from opgen.kernel.model import PLACES, Acc, Atomic, Body, For, If, Join, Kernel, Node, Role, Slot, Store, Tile
from opgen.plan.model import Let


@dataclass(frozen=True, slots=True)
class _Around:
    """What is bound at a node."""

    slots: dict[str, Slot]
    indices: frozenset[str] = frozenset()
    batch: bool = False
    locals: dict[str, Acc | None] = field(default_factory=dict)
    tiles: dict[str, Tile] = field(default_factory=dict)
    parallel: tuple[Loop, ...] = ()
    apart: tuple[Loop, ...] = ()  # these and the loops of lanes: no point waits for another
    moved: dict[str, tuple[Loop, ...]] = field(default_factory=dict)  # those of them that a local depends on

    def taken(self, name: str) -> bool:
        return name in self.slots or name in self.indices or name in self.locals or name in self.tiles


def verify(k: Kernel) -> list[str]:
    """Complaints about a kernel."""
    names = [s.name for s in k.slots]
    doubled = [f"two slots are {n}" for n in dict.fromkeys(names) if names.count(n) > 1]
    return doubled + list(_body(k.body, _Around({s.name: s for s in k.slots})))


def _body(body: Body, around: _Around) -> Iterator[str]:
    for node in body:
        yield from _node(node, around)
        around = _behind(node, around)


def _behind(node: Node, around: _Around) -> _Around:
    """What is bound behind a node."""
    match node:
        case Let(name, value):
            return replace(
                around,
                locals={**around.locals, name: None},
                moved={**around.moved, name: _moves_with(value, around)},
            )
        case Acc(name):
            return replace(around, locals={**around.locals, name: node}, moved={**around.moved, name: around.apart})
        case Tile(name):
            return replace(around, tiles={**around.tiles, name: node})
        case _:
            return around


def _node(node: Node, around: _Around) -> Iterator[str]:
    match node:
        case For(loop, body):
            yield from _loop(loop, around)
            yield from _body(body, _inside(node, around))
        case If(condition, body, otherwise):
            yield from _scalar(condition, around)
            yield from _body(body, around)
            yield from _body(otherwise, around)
        case Let(name, value):
            yield from _fresh(name, around)
            yield from _scalar(value, around)
        case Acc(name):
            yield from _fresh(name, around)
        case Join():
            yield from _join(node, around)
        case Store(slot, at, value):
            yield from _put(slot, at, value, around)
            yield from _written(slot, at, around, alone=True)
        case Atomic(slot, at, _, value):
            yield from _put(slot, at, value, around)
            yield from _written(slot, at, around, alone=False)
        case Tile(name, shape):
            yield from _fresh(name, around)
            for s in shape:
                yield from _scalar(s, around)
        case _:
            assert_never(node)


def _loop(loop: Loop, around: _Around) -> Iterator[str]:
    if isinstance(loop, Axis):
        yield from _fresh(loop.name, around)
        yield from _scalar(loop.extent, around)
    elif around.batch:
        yield "the batch is bound twice"


def _inside(node: For, around: _Around) -> _Around:
    loop = node.loop
    around = replace(
        around,
        parallel=(*around.parallel, loop) if node.role is Role.PARALLEL else around.parallel,
        apart=around.apart if node.role is Role.SERIAL else (*around.apart, loop),
    )
    if isinstance(loop, Batch):
        return replace(around, batch=True, indices=around.indices | {"..."})  # the place in the batch, as a number
    return replace(around, indices=around.indices | {loop.name})


def _fresh(name: str, around: _Around) -> Iterator[str]:
    if around.taken(name):
        yield f"{name} is bound twice"


def _join(node: Join, around: _Around) -> Iterator[str]:
    acc = around.locals.get(node.acc)
    if acc is None:
        yield f"{node.acc} is joined and is no accumulator here"
    elif (acc.op in PLACES) != (node.place is not None):
        yield f"{node.acc} is a {acc.op}: {'a place is missing' if node.place is None else 'no place belongs to it'}"
    elif any(a not in around.moved[node.acc] for a in around.parallel):
        yield f"{node.acc} is joined by points that run in parallel"
    for e in (node.value, *(() if node.place is None else (node.place,))):
        yield from _scalar(e, around)


def _put(slot: str, at: tuple[Position, ...], value: Scalar, around: _Around) -> Iterator[str]:
    yield from _place(slot, at, around)
    for e in (*(p for p in at if not isinstance(p, Batch)), value):
        yield from _scalar(e, around)


def _written(slot: str, at: tuple[Position, ...], around: _Around, *, alone: bool) -> Iterator[str]:
    if slot in around.slots and not around.slots[slot].written:
        yield f"{slot} is stored to and is not written"
    if slot not in around.slots or not alone:
        return
    still = [a for a in around.apart if not any(_moves(p, a, around) for p in at)]
    if still and not any(reads(p) for p in at if not isinstance(p, Batch)):
        yield f"{slot} is stored in one place by points of {', '.join(_name(a) for a in still)} that run in parallel"


def _moves(p: Position, loop: Loop, around: _Around) -> bool:
    return isinstance(loop, Batch) if isinstance(p, Batch) else loop in _moves_with(p, around)


def _moves_with(e: Scalar, around: _Around) -> tuple[Loop, ...]:
    """The loops whose points do not wait for each other that a value depends on."""
    indices, batch = mentions(e)
    inner = {a for r in reads(e) for a in around.moved.get(r.tensor, ())}
    return tuple(a for a in around.apart if a in inner or (batch if isinstance(a, Batch) else a.name in indices))


def _scalar(e: Scalar, around: _Around) -> Iterator[str]:
    for n in walk(e):
        if isinstance(n, Index) and n.name not in around.indices:
            yield f"{n.name} is no index here"
        elif isinstance(n, Read) and not (not n.at and n.tensor in around.locals):
            yield from _place(n.tensor, n.at, around)


def _place(slot: str, at: tuple[Position, ...], around: _Around) -> Iterator[str]:
    held = around.slots.get(slot) or around.tiles.get(slot)
    if held is None:
        yield f"{slot} is neither a slot nor bound here"
        return
    if len(at) != len(held.shape):
        yield f"{slot} has {len(held.shape)} axes and is accessed at {len(at)}"
        return
    for p, size in zip(at, held.shape, strict=True):
        if isinstance(p, Batch) != isinstance(size, Batch):
            yield f"{slot}: the batch of an access stands at another axis"
        if isinstance(p, Batch) and not around.batch:
            yield f"{slot} is accessed along the batch, which no loop runs over"


def _name(a: Loop) -> str:
    return "..." if isinstance(a, Batch) else a.name
