"""Runs of a CPU kernel with quotients and remainders of the index that moves, in the words of `opgen_cpu_line.h`.

Such a position jumps from point to point, but moves evenly between points that are as far apart as its divisor. In go
statements that run lane by lane; where all that jumps has one divisor, and points that far apart are the lanes, out
comes how to run them there, with the conditions that tell where they do anything put to the lanes as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from opgen.ir.polynomial import slope
from opgen.ir.program import Axis
from opgen.ir.scalar import (
    ONE,
    ZERO,
    Apply,
    Index,
    Read,
    Scalar,
    add,
    call,
    is_constant,
    mentions,
    neg,
    reads,
    sub,
    substitute,
    transform,
    walk,
)
from opgen.kernel.model import Acc, Body, For, If, Join, Node, Role, Store, conjuncts, ranged
from opgen.kernel.walk import alive, bound, chain, inside, straight, values, waits
from opgen.kernel.wanted import bends
from opgen.plan.model import Let


@dataclass(frozen=True, slots=True)
class Comb:
    """Every `divisor`-th point along an index: those where `start` is a multiple of it, or (None) from each on.

    Where all points follow each other, it is 1. What runs there does something where all `uniform` conditions hold,
    which no lane has its own of, and positions are in range (`clips`: with sizes) or `below` a size. `body` is what is
    left of it; elsewhere it is zero.
    """

    index: str
    divisor: Scalar
    start: Scalar | None
    uniform: tuple[Scalar, ...]
    clips: tuple[tuple[Scalar, Scalar], ...]
    below: tuple[tuple[Scalar, Scalar], ...]
    body: Body

    @property
    def asked(self) -> tuple[Scalar, ...]:
        """What tells ahead of the lanes which of them there are."""
        starts = () if self.start is None else (self.start,)
        return (*starts, *self.uniform, *(e for pair in (*self.clips, *self.below) for e in pair))


def comb(body: Body, index: str, around: Body) -> Comb | None:
    """The comb that a body runs along, whose lanes move along an index; None where it is none.

    `around` is all that runs there, with the locals of the body: a fold has a value for each lane.
    """
    lets = {n.name: n for n in inside(around) if isinstance(n, Let)}
    own = bound(around)
    ahead = {(r.tensor, r.at) for g in straight(around) for e in values(g) for r in reads(e) if r.tensor not in own}
    ends = [n for n in body if not isinstance(n, Let)]
    if any(isinstance(n, For | If | Acc) for n in ends):
        return None
    guards = {_guard(n) for n in ends}
    sums = [n.name for n in inside(around) if isinstance(n, Acc) and n.op == "sum"]
    if len(guards) != 1 or None in guards or not _sums_or_stores(ends, sums):
        return None
    (guard,) = guards
    assert guard is not None
    conditions = [*_conditions(guard, lets)]
    known = [c for _, c in conditions if all((r.tensor, r.at) in ahead for r in reads(c))]
    starts = {s for c in known if (s := _multiple(c, index)) is not None}
    positions = [p for n in body for e in _values(n) for r in reads(e) for p in r.at if isinstance(p, Scalar)]
    positions = [_opened(p, lets) for p in positions]
    if any(r.tensor in own for p in positions for r in reads(p)):
        return None
    parts = [part for p in positions for part in bends(p, (index,))]
    divisors = {_jumps(part, index) for part in parts} | {divisor for _, divisor in starts}
    adds = any(isinstance(n, Join) for n in ends)
    if not divisors and adds:
        divisors = {ONE}
    if len(divisors) != 1 or None in divisors or len(starts) > 1:
        return None
    (divisor,) = divisors
    assert divisor is not None
    if adds and not starts and divisor != ONE:
        return None
    uniform: list[Scalar] = []
    clips: list[tuple[Scalar, Scalar]] = []
    below: list[tuple[Scalar, Scalar]] = []
    rest: list[Scalar] = []
    for written, c in conditions:
        pair = ranged(c)
        if c not in known:
            rest.append(written)
        elif _multiple(c, index) is not None and adds:
            continue
        elif _is_same(c, index):
            uniform.append(c)
        elif pair is not None and _is_same(pair[1], index) and _even(pair[0], index, divisor):
            clips.append(pair)
        elif _is_bound(c, index) and isinstance(c, Apply) and _even(c.args[0], index, divisor):
            below.append((c.args[0], c.args[1]))
        else:
            rest.append(written)
    start = next(iter(starts))[0] if adds and starts else None
    if divisor == ONE and (rest or not clips):
        return None
    return Comb(
        index, divisor, start, tuple(uniform), tuple(clips), tuple(below), tuple(_without(n, rest) for n in body)
    )


def combed(body: Body, index: str) -> tuple[Body, dict[Body, Comb]]:
    """What runs at points side by side along an index, and the combs in it, which have one divisor.

    They are found by loops, or by the whole body.
    """
    found: dict[Body, Comb] = {}
    if not any(isinstance(n, For) for n in body):
        whole = comb(body, index, body)
        if whole is None or not any(isinstance(n, Store) for n in body):
            return body, {}
        left = alive(whole.body)
        return left, {left: replace(whole, body=left)}
    nodes: list[Node] = []
    for node in body:
        loops, inner = chain((node,), (Role.SERIAL,))
        sparse = comb(inner, index, body) if isinstance(node, For) and not waits(node) else None
        apart = {c.divisor for c in found.values()}  # which is one number for all
        stores = sparse is not None and sparse.start is None and sparse.divisor != ONE  # at every lane
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


def _sums_or_stores(ends: Sequence[Node], sums: Collection[str]) -> bool:
    """Whether all that a body does is to add up, or all is to store, which it does at every lane."""
    stores = all(isinstance(n, Store) for n in ends)
    return bool(ends) and (stores or all(isinstance(n, Join) and n.acc in sums for n in ends))


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


def _conditions(e: Scalar, lets: Mapping[str, Let]) -> Iterator[tuple[Scalar, Scalar]]:
    """The conditions that a condition is made of: as they are written, and with what locals stand for in them."""
    whole = _opened(e, lets)
    if len([*conjuncts(whole)]) == 1:
        yield e, whole
        return
    assert isinstance(e, Read | Apply)
    for part in (lets[e.tensor].value,) if isinstance(e, Read) else e.args:
        yield from _conditions(part, lets)


def _moves(e: Scalar, index: str) -> bool:
    return index in mentions(e)[0]


def _is_same(e: Scalar, index: str) -> bool:
    """Whether a value is one for all lanes along an index, wherever else they are."""
    return not _moves(e, index) and not mentions(e)[1] and not any(r.at for r in reads(e))


def _multiple(c: Scalar, index: str) -> tuple[Scalar, Scalar] | None:
    """What has to be a multiple of what, by a condition on the index."""
    match c:
        case Apply("eq", (Apply("mod", (e, divisor)), rest)) if rest == ZERO and slope(e, index) in (1, -1):
            return (e, divisor) if is_constant(divisor) else None
        case _:
            return None


def _jumps(part: Scalar, index: str) -> Scalar | None:
    """The divisor of a quotient or remainder of a number that moves evenly with an index."""
    match part:
        case Apply("floordiv" | "mod", (e, divisor)) if slope(e, index) is not None and is_constant(divisor):
            return divisor
        case _:
            return None


def _is_bound(c: Scalar, index: str) -> bool:
    return isinstance(c, Apply) and c.fn == "lt" and _moves(c.args[0], index) and _is_same(c.args[1], index)


def _even(p: Scalar, index: str, divisor: Scalar) -> bool:
    return all(_jumps(part, index) == divisor for part in bends(p, (index,)))
