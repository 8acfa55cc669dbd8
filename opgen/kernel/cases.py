"""Cases: ranges of the fastest loop of a map, each with statements of its own.

In goes the body of a map, out come the same statements under conditions that compare the index of the loop with sizes
(`d < H`), as far as these are asked anywhere in it: within a case they are known, and so is what is left to compute.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from opgen.diff.conditions import compared, is_integer
from opgen.ir.arithmetic import either, negation_of
from opgen.ir.polynomial import Polynomial, number, polynomial
from opgen.ir.program import Axis, Loop
from opgen.ir.ranges import Facts, facts_of
from opgen.ir.scalar import (
    Apply,
    Dim,
    Index,
    Lit,
    Read,
    Scalar,
    add,
    both,
    call,
    children,
    substitute,
    transform,
    walk,
    where,
)
from opgen.kernel.model import Body, If, Node, Store
from opgen.kernel.walk import alive
from opgen.plan.model import Let

_MOST = 4
_ORDERED = ("lt", "le", "gt", "ge")


def cases(outer: Sequence[Loop], body: Body) -> Body:
    """The body in cases; as it is where there are none, or too many."""
    last = outer[-1] if outer else None
    if not isinstance(last, Axis) or not all(isinstance(n, Let | Store) for n in body):
        return body
    lets: dict[Scalar, Scalar] = {}
    for n in body:
        if isinstance(n, Let):
            lets[Read(n.name, ())] = substitute(n.value, lets)
    made = _Cases(Index(last.name), lets).split(body, facts_of(outer), _MOST)
    return made if made is not None and any(isinstance(n, If) for n in made) else body


def leaves(body: Body) -> Iterator[Body]:
    """The statements of each case."""
    match body:
        case (If(_, then, otherwise),):
            yield from leaves(then)
            yield from leaves(otherwise)
        case _:
            yield body


def borders(body: Body) -> Iterator[Polynomial]:
    """Where a case ends and another one starts."""
    match body:
        case (If(Apply(_, (_, border)), then, otherwise),):
            yield polynomial(border)
            yield from borders(then)
            yield from borders(otherwise)


def shift(p: Scalar, index: Index) -> Polynomial | None:
    """How far a position is from an index, where sizes alone tell."""
    parts = polynomial(p).split(index)
    if parts is None or parts[0].constant != 1 or not all(isinstance(a, Dim) for a in parts[1].atoms()):
        return None
    return parts[1]


@dataclass(frozen=True, slots=True)
class _Cases:
    index: Index
    lets: Mapping[Scalar, Scalar]

    def split(self, body: Body, facts: Facts, room: int) -> Body | None:
        """The cases that some facts leave, `room` at most."""
        known = alive(tuple(self._known(n, facts) for n in body))
        border = next((b for n in known for b in self._borders(n)), None)
        if border is None:
            return known
        here = polynomial(self.index)
        below = self.split(known, _with(facts, border - here - number(1)), room - 1)
        if below is None:
            return None
        above = self.split(known, _with(facts, here - border), room - sum(1 for _ in leaves(below)))
        return None if above is None or room < 2 else (If(call("lt", self.index, border.scalar()), below, above),)

    def _known(self, n: Node, facts: Facts) -> Node:
        """A statement without the conditions that facts decide."""

        def step(e: Scalar) -> Scalar:
            match e:
                case Apply(fn, (a, b)) if fn in _ORDERED and self._are_places(a, b):
                    known = compared(fn, self._place(a), self._place(b), facts)
                    return e if known is None else Lit(known)
                case Apply("and", args):
                    return reduce(both, args)
                case Apply("or", args):
                    return reduce(either, args)
                case Apply("not", (a,)):
                    return negation_of(a)
                case Apply("where", (condition, a, b)):
                    return where(condition, a, b)
                case Apply("add", args):
                    return add(*args)
                case _:
                    return e

        assert isinstance(n, Let | Store)
        return replace(n, value=transform(n.value, step))

    def _borders(self, n: Node) -> Iterator[Polynomial]:
        """What the index is compared with, where whole vectors can be on one side."""
        assert isinstance(n, Let | Store)
        stack = [n.value]
        seen: set[Scalar] = set()
        while stack:
            e = stack.pop()
            if e in seen:
                continue
            seen.add(e)
            if isinstance(e, Apply) and e.fn in _ORDERED and self._are_places(*e.args):
                yield from self._border(e)
            stack += children(e)[::-1]

    def _border(self, e: Apply) -> Iterator[Polynomial]:
        left, right = map(self._place, e.args)
        parts = (left - right).split(self.index)
        if parts is None or parts[0].constant not in (1, -1):
            return
        factor, rest = parts
        border = -rest if factor.constant == 1 else rest
        strict = e.fn in ("lt", "ge") if factor.constant == 1 else e.fn in ("gt", "le")
        border = border if strict else border + number(1)
        if border.terms and all(m and all(isinstance(a, Dim) for a in m) for m, _ in border.terms):
            yield border

    def _place(self, e: Scalar) -> Polynomial:
        return polynomial(substitute(e, self.lets))

    def _are_places(self, *parts: Scalar) -> bool:
        opened = [substitute(e, self.lets) for e in parts]
        return all(is_integer(e, frozenset()) for e in opened) and any(self.index in walk(e) for e in opened)


def _with(facts: Facts, assumed: Polynomial) -> Facts:
    return replace(facts, assumed=(*facts.assumed, assumed))
