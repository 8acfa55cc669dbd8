"""Sums that pick one of their terms: `sum[c](where(c == t[n], v[n, c], 0))` is `v[n, t[n]]`, or nothing out of range.

What is added besides stays a sum, or is so many times the same; what does not vary along it comes out of it, where that
leaves one sum for all points. Gradients of gathers are full of these: a row would be gone through for the sake of one
place. What is picked becomes a map of its own, which is computed once for each row. And in a map, what is read at
`t[n]` where that is `c` is read at `c`, if the same tensor is read there anyway.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from opgen.diff.conditions import conjuncts, is_integer
from opgen.ir.names import Names
from opgen.ir.point import read_of
from opgen.ir.program import Axis, Compute, Statement
from opgen.ir.scalar import (
    ZERO,
    Apply,
    Batch,
    Index,
    Read,
    Scalar,
    add,
    both,
    call,
    mentions,
    mul,
    neg,
    reads,
    substitute,
    transform,
    walk,
    where,
)
from opgen.opt.simplify import inlined

_DEPTH = 4  # maps that a sum is followed through


def picked(
    statements: tuple[Statement, ...], integers: frozenset[str], names: Names
) -> tuple[tuple[Statement, ...], set[str]]:
    """The statements with such sums taken apart, and the names of what is picked."""
    maps: dict[str, Compute] = {}
    out: list[Statement] = []
    found: set[str] = set()
    for given in statements:
        s = replace(given, body=_beside(given.body)) if isinstance(given, Compute) and given.op is None else given
        made = _apart(s, maps, integers, names) if isinstance(s, Compute) and s.op == "sum" else ()
        out += made or (s,)
        found |= {s.target} if made else set()
        maps |= {m.target: m for m in out[-1:] if isinstance(m, Compute) and m.op is None}
    return tuple(out), found


@dataclass(frozen=True, slots=True)
class _Term:
    value: Scalar
    negative: bool

    @property
    def signed(self) -> Scalar:
        return neg(self.value) if self.negative else self.value


def _apart(s: Compute, maps: Mapping[str, Compute], integers: frozenset[str], names: Names) -> tuple[Compute, ...]:
    axis = s.over[0]
    if len(s.over) != 1 or isinstance(axis, Batch):
        return ()
    picks: list[Scalar] = []
    same: list[Scalar] = []
    rest: list[Scalar] = []
    for term in _terms(s.body, maps, _DEPTH):
        value = _pick(term.value, axis, integers)
        if value is not None:
            picks.append(neg(value) if term.negative else value)
        elif _is_same(term.value, axis):
            same.append(term.signed)
        else:
            rest.append(term.signed)
    if not picks:
        return ()
    value = add(*picks)
    if same:
        value = add(mul(axis.extent, add(*same)), value)
    if not rest:
        return (replace(s, body=value, op=None, over=()),)
    factor, inner = _factors(rest, axis)
    axes = () if factor else s.axes
    others = replace(s, target=names.fresh(f"{s.target}_others"), axes=axes, body=inner)
    return others, replace(s, body=add(mul(*factor, read_of(others)), value), op=None, over=())


def _factors(terms: Sequence[Scalar], axis: Axis) -> tuple[tuple[Scalar, ...], Scalar]:
    """What comes out of a sum, and what is left; nothing comes out of one that has to be there for several points."""
    whole = add(*terms)
    if isinstance(whole, Apply) and whole.fn == "mul":
        inner = [a for a in whole.args if not _is_same(a, axis)]
        if all(mentions(a) == (frozenset([axis.name]), False) for a in inner):
            return tuple(a for a in whole.args if _is_same(a, axis)), mul(*inner)
    return (), whole


def _terms(e: Scalar, maps: Mapping[str, Compute], depth: int, *, negative: bool = False) -> Iterator[_Term]:
    """What is added up in a value, and in the maps that it reads."""
    match e:
        case Apply("add", args):
            for a in args:
                yield from _terms(a, maps, depth, negative=negative)
        case Apply("sub", (a, b)):
            yield from _terms(a, maps, depth, negative=negative)
            yield from _terms(b, maps, depth, negative=not negative)
        case Apply("neg", (a,)):
            yield from _terms(a, maps, depth, negative=not negative)
        case Read(tensor, at, None) if tensor in maps and depth and all(isinstance(p, Index | Batch) for p in at):
            yield from _terms(inlined(maps[tensor], e), maps, depth - 1, negative=negative)
        case _:
            yield _Term(e, negative)


def _pick(e: Scalar, axis: Axis, integers: frozenset[str]) -> Scalar | None:
    """The one term of a sum that is not zero, where it is in range."""
    if not isinstance(e, Apply) or e.fn != "where" or e.args[2] != ZERO:
        return None
    condition, value, _ = e.args
    conditions = list(conjuncts(condition))
    here = Index(axis.name)
    for k, c in enumerate(conditions):
        place = _other(c, here)
        if place is not None and is_integer(place, integers) and axis.name not in mentions(place)[0]:
            others = (*conditions[:k], *conditions[k + 1 :])
            first = [o for o in conditions[:k] if _is_same(o, axis)]  # without these the place may be read out of range
            after = [substitute(o, {here: place}) for o in others if o not in first]
            if any(not isinstance(q, Index | Batch) for e in (*first, place) for r in reads(e) for q in r.at):
                first.insert(0, call("lt", ZERO, axis.extent))  # a sum over nothing reads no place
            ranges = (call("ge", place, ZERO), call("lt", place, axis.extent))
            return where(reduce(both, (*first, *ranges, *after)), substitute(value, {here: place}), ZERO)
    return None


def _other(condition: Scalar, here: Index) -> Scalar | None:
    """What an index is equal to."""
    match condition:
        case Apply("eq", (a, b)) if here in (a, b) and a != b:
            return b if a == here else a
        case _:
            return None


def _is_same(e: Scalar, axis: Axis) -> bool:
    """Whether all terms are one number."""
    return not any(n == Index(axis.name) for n in walk(e))


def _beside(e: Scalar) -> Scalar:
    """A value that reads at the index what it reads there anyway, where a condition says that a place is the same."""
    read = set(reads(e))

    def step(node: Scalar) -> Scalar:
        match node:
            case Apply("where", (Apply("eq", (a, b)) as condition, value, other)):
                for here, place in ((a, b), (b, a)):
                    if isinstance(here, Index):
                        value = _moved(value, place, here, read)
                return Apply("where", (condition, value, other))
            case _:
                return node

    return transform(e, step)


def _moved(e: Scalar, place: Scalar, here: Index, read: Collection[Read]) -> Scalar:
    def step(node: Scalar) -> Scalar:
        if not isinstance(node, Read):
            return node
        there = replace(node, at=tuple(here if p == place else p for p in node.at))
        return there if there in read else node

    return transform(e, step)
