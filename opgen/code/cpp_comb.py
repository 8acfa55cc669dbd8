"""Runs of a CPU kernel with quotients and remainders of the index that moves, in the words of `opgen_cpu_line.h`.

Such a position jumps from point to point, but moves evenly between points that are as far apart as its divisor. In go
statements that run lane by lane; where all that jumps has one divisor, and points that far apart are the lanes, out
comes how to run them there, with the conditions that tell where they do anything put to the lanes as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from opgen.ir.polynomial import slope
from opgen.ir.program import Axis
from opgen.ir.scalar import (
    ZERO,
    Apply,
    Index,
    Read,
    Scalar,
    add,
    call,
    mentions,
    neg,
    reads,
    sub,
    substitute,
    transform,
    walk,
)
from opgen.kernel.model import Acc, Body, For, If, Join, Node, Role, Store, conjuncts, ranged
from opgen.kernel.walk import alive, chain, inside, waits
from opgen.kernel.wanted import bends
from opgen.plan.model import Let


@dataclass(frozen=True, slots=True)
class Comb:
    """Every `divisor`-th point along an index: those where `start` is a multiple of it, or (None) from each on.

    Of those, what runs there does something where all `uniform` conditions hold, which no lane has its own of, and
    positions are in range (`clips`: with sizes) or `below` a size. `body` is what is left of it; elsewhere it is zero.
    """

    index: str
    divisor: Scalar
    start: Scalar | None
    uniform: tuple[Scalar, ...]
    clips: tuple[tuple[Scalar, Scalar], ...]
    below: tuple[tuple[Scalar, Scalar], ...]
    body: Body


def comb(body: Body, index: str, lets: Mapping[str, Let]) -> Comb | None:
    """The comb that a body runs along, whose lanes move along an index; None where it is none.

    `lets` are the locals of the kernel, those around the body among them.
    """
    ends = [n for n in body if not isinstance(n, Let)]
    if any(isinstance(n, For | If | Acc) for n in ends):
        return None
    guards = {_guard(n) for n in ends}
    if len(guards) != 1 or None in guards or not _sums_or_stores(ends):
        return None
    (guard,) = guards
    assert guard is not None
    conditions = [_opened(c, lets) for c in conjuncts(guard)]
    conditions = [part for c in conditions for part in conjuncts(c)]
    starts = {s for c in conditions if (s := _multiple(c, index)) is not None}
    positions = [p for n in body for e in _values(n) for r in reads(e) for p in r.at if isinstance(p, Scalar)]
    parts = [part for p in positions for part in bends(_opened(p, lets), (index,))]
    divisors = {_jumps(part, index) for part in parts} | {divisor for _, divisor in starts}
    if len(divisors) != 1 or None in divisors or len(starts) > 1:
        return None
    (divisor,) = divisors
    assert divisor is not None
    adds = any(isinstance(n, Join) for n in ends)
    if adds and not starts:
        return None
    uniform: list[Scalar] = []
    clips: list[tuple[Scalar, Scalar]] = []
    below: list[tuple[Scalar, Scalar]] = []
    rest: list[Scalar] = []
    for c in conditions:
        pair = ranged(c)
        if _multiple(c, index) is not None and adds:
            continue
        if not _moves(c, index) and not any(r.at for r in reads(c)):
            uniform.append(c)
        elif pair is not None and not _moves(pair[1], index) and _even(pair[0], index, divisor):
            clips.append(pair)
        elif _is_bound(c, index) and isinstance(c, Apply) and _even(c.args[0], index, divisor):
            below.append((c.args[0], c.args[1]))
        else:
            rest.append(_closed(c, lets))
    start = next(iter(starts))[0] if adds else None
    return Comb(
        index, divisor, start, tuple(uniform), tuple(clips), tuple(below), tuple(_without(n, rest) for n in body)
    )


def combed(body: Body, index: str) -> tuple[Body, dict[Body, Comb]]:
    """What runs at points side by side along an index, and the combs in it, which have one divisor.

    They are found by loops, or by the whole body.
    """
    lets = {n.name: n for n in inside(body) if isinstance(n, Let)}
    found: dict[Body, Comb] = {}
    if not any(isinstance(n, For) for n in body):
        whole = comb(body, index, lets)
        if whole is None or not any(isinstance(n, Store) for n in body):
            return body, {}
        left = alive(whole.body)
        return left, {left: replace(whole, body=left)}
    nodes: list[Node] = []
    for node in body:
        loops, inner = chain((node,), (Role.SERIAL,))
        sparse = comb(inner, index, lets) if isinstance(node, For) and not waits(node) else None
        apart = {c.divisor for c in found.values()}  # which is one number for all
        stores = sparse is not None and sparse.start is None  # at every lane
        if sparse is None or stores or apart - {sparse.divisor}:
            nodes.append(node)
            continue
        left = alive(sparse.body)
        for a in reversed(loops):
            left = (For(a, left, Role.SERIAL),)
        found[left] = sparse
        nodes += left
    return alive(tuple(nodes)), found


def teeth(c: Comb, loops: Sequence[Axis]) -> tuple[Comb, tuple[tuple[Scalar, Scalar] | None, ...]]:
    """A comb in nested loops without what those ask for that go by their teeth: of each, what its index is, up to a
    multiple of what. None for a loop that has something at all of its places.
    """
    found: list[tuple[Scalar, Scalar] | None] = []
    for a in loops:
        others = {x.name for x in loops} - {a.name}
        asked = [(cond, m) for cond in c.uniform if (m := _multiple(cond, a.name)) is not None]
        own = [(cond, m) for cond, m in asked if _apart(m, others)]
        if own:
            cond, (e, divisor) = own[0]
            c = replace(c, uniform=tuple(x for x in c.uniform if x != cond))
        elif c.start is not None and slope(c.start, a.name) in (1, -1) and _apart((c.start, c.divisor), others):
            e, divisor = c.start, c.divisor
            c = replace(c, start=None)
        else:
            found.append(None)
            continue
        rest = transform(substitute(e, {Index(a.name): ZERO}), _without_zero)
        found.append((rest if slope(e, a.name) == -1 else neg(rest), divisor))
    return c, tuple(found)


def _without_zero(e: Scalar) -> Scalar:
    match e:
        case Apply("add", args):
            return add(*args)
        case Apply("sub", (a, b)):
            return sub(a, b)
        case _:
            return e


def _apart(multiple: tuple[Scalar, Scalar], indices: Collection[str]) -> bool:
    """Whether what is to be a multiple of what reads nothing, and moves with none of some indices."""
    return not any(list(reads(e)) or not mentions(e)[0].isdisjoint(indices) for e in multiple)


def _sums_or_stores(ends: Sequence[Node]) -> bool:
    return bool(ends) and all(isinstance(n, Store) or (isinstance(n, Join) and n.place is None) for n in ends)


def _guard(n: Node) -> Scalar | None:
    """The condition under which a statement has a value other than zero."""
    match n:
        case (
            Store(value=Apply("where", (condition, _, otherwise)))
            | Join(value=Apply("where", (condition, _, otherwise)))
        ) if otherwise == ZERO:
            return condition
        case _:
            return None


def _without(n: Node, rest: list[Scalar]) -> Node:
    """A statement under what is left of its condition."""
    if not isinstance(n, Store | Join):
        return n
    assert isinstance(n.value, Apply)
    value = n.value.args[1]
    return replace(
        n, value=call("where", call("and", *rest) if len(rest) > 1 else rest[0], value, ZERO) if rest else value
    )


def _values(n: Node) -> tuple[Scalar, ...]:
    return (n.value,) if isinstance(n, Let | Store | Join) else ()


def _opened(e: Scalar, lets: Mapping[str, Let]) -> Scalar:
    """A condition or position with what locals stand for in place of them."""
    known: dict[Scalar, Scalar] = {Read(name, ()): x.value for name, x in lets.items()}
    while any(a in known for a in walk(e)):
        e = substitute(e, known)
    return e


def _closed(e: Scalar, lets: Mapping[str, Let]) -> Scalar:
    """The same with the locals again: what they stand for is read nowhere else."""
    for name, x in reversed([*lets.items()]):
        e = substitute(e, {_opened(x.value, lets): Read(name, ())})
    return e


def _moves(e: Scalar, index: str) -> bool:
    return index in mentions(e)[0]


def _multiple(c: Scalar, index: str) -> tuple[Scalar, Scalar] | None:
    """What has to be a multiple of what, by a condition on the index."""
    match c:
        case Apply("eq", (Apply("mod", (e, divisor)), rest)) if rest == ZERO and slope(e, index) in (1, -1):
            return None if _moves(divisor, index) else (e, divisor)
        case _:
            return None


def _jumps(part: Scalar, index: str) -> Scalar | None:
    """The divisor of a quotient or remainder of a number that moves evenly with an index."""
    match part:
        case Apply("floordiv" | "mod", (e, divisor)) if slope(e, index) is not None and not _moves(divisor, index):
            return divisor
        case _:
            return None


def _is_bound(c: Scalar, index: str) -> bool:
    return isinstance(c, Apply) and c.fn == "lt" and _moves(c.args[0], index) and not _moves(c.args[1], index)


def _even(p: Scalar, index: str, divisor: Scalar) -> bool:
    return all(_jumps(part, index) == divisor for part in bends(p, (index,)))
