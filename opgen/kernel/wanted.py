"""Where the lanes of a run are wanted: under which condition each read is evaluated, and whether positions move evenly.

In go statements without loops and their values, out come facts about the reads in them, which a back end needs that
reads a whole run ahead of its lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from opgen.ir.lazy import is_lazy
from opgen.ir.scalar import TRUE, Apply, Index, Read, Scalar, call, children, is_constant, mentions, rebuild, walk
from opgen.kernel.model import Body, If
from opgen.kernel.walk import values
from opgen.plan.model import Let

_LINEAR = ("add", "sub", "neg", "mul")
_MOST = 8  # conditions that are worth a look at every lane


def always(body: Body) -> frozenset[Read]:
    """The reads that every lane evaluates."""
    found: set[Read] = set()
    for e in _unconditional(body):
        seen: set[Scalar] = set()
        left = [e]
        while left:
            node = left.pop()
            if node in seen:
                continue
            seen.add(node)
            if isinstance(node, Read):
                found.add(node)
            left += children(node)[:1] if is_lazy(node) else children(node)
    return frozenset(found)


def condition_of(body: Body, read: Read) -> Scalar | None:
    """When a read is evaluated that not every lane evaluates; None where that is a long story."""
    found: list[Scalar] = []
    for condition, e in _guarded(body):
        around = () if condition is None else (condition,)
        for path in _paths(e, read, around):
            found.append(path[0] if len(path) == 1 else call("and", *path))
            if len(found) > _MOST or not path:
                return None
    distinct = list(dict.fromkeys(found))
    if any(call("not", e) in distinct for e in distinct):
        return TRUE
    return (distinct[0] if len(distinct) == 1 else call("or", *distinct)) if distinct else None


def bends(p: Scalar, moving: Collection[str]) -> Iterator[Scalar]:
    """The parts of a position that need not move evenly with the indices that do."""
    if isinstance(p, Index) or not _moves(p, moving):
        return
    product = isinstance(p, Apply) and p.fn == "mul" and sum(_moves(a, moving) for a in p.args) > 1
    if product or not isinstance(p, Apply) or p.fn not in _LINEAR:
        yield p
    else:
        for a in children(p):
            yield from bends(a, moving)


def _moves(p: Scalar, moving: Collection[str]) -> bool:
    return not mentions(p)[0].isdisjoint(moving)


def piece(p: Scalar, index: str) -> Scalar | None:
    """How long such a part is even: the number of the call that divides an index, if nothing else happens to it."""
    match p:
        case Apply("floordiv" | "mod", (Index(name), size)) if name == index and is_constant(size):
            return size
        case _:
            return None


def opener(body: Body) -> Callable[[Scalar], Scalar]:
    """What puts into a value what the locals of a body stand for, in place of them; each part is looked at once."""
    lets: dict[Scalar, Scalar] = {Read(n.name, ()): n.value for n in body if isinstance(n, Let)}
    done: dict[Scalar, Scalar] = {}

    def step(e: Scalar) -> Scalar:
        found = done.get(e)
        if found is None:
            found = done[e] = step(lets[e]) if e in lets else rebuild(e, step)
        return found

    return step


def opened(e: Scalar, body: Body) -> Scalar:
    """A value with what the locals of the body stand for in place of them."""
    return opener(body)(e)


def _guarded(body: Body) -> Iterator[tuple[Scalar | None, Scalar]]:
    """Values with the condition that a statement has."""
    for node in body:
        if isinstance(node, If):
            yield None, node.condition
            for e in values(node.body):
                yield node.condition, e
        else:
            yield from ((None, e) for e in values((node,)))


def _unconditional(body: Body) -> Iterator[Scalar]:
    return (e for condition, e in _guarded(body) if condition is None)


def _paths(e: Scalar, read: Read, around: tuple[Scalar, ...]) -> Iterator[tuple[Scalar, ...]]:
    """The conditions on every way from a value to a read."""
    if e == read:
        yield around
        return
    if not any(a == read for a in walk(e)):
        return
    if not is_lazy(e):
        for a in children(e):
            yield from _paths(a, read, around)
        return
    assert isinstance(e, Apply)
    if e.fn == "where":
        condition, then, otherwise = e.args
        yield from _paths(condition, read, around)
        yield from _paths(then, read, (*around, condition))
        yield from _paths(otherwise, read, (*around, call("not", condition)))
        return
    for a in e.args:
        yield from _paths(a, read, around)
        around = (*around, call("not", a) if e.fn == "or" else a)
