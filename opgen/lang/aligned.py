"""Tensors with a dim twice in their shape that are combined element by element: their axes are aligned from the right.

Of `a: [N, N]` the indices have the names of dims, and not of places: `a + a.T` is `a[n, n2] + a[n2, n]`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from opgen.lang.joins import LIST
from opgen.lang.layout import access_at, layout, spelled
from opgen.lang.nodes import Access, Binder, Call, Expr, Name, Number, Reduction, Text
from opgen.lang.slices import Extents
from opgen.lang.spread import bound_in, size_at
from opgen.lang.vocabulary import FIRST, SPARE, UNCLEAR, Vocabulary
from opgen.lang.walk import nodes, operands, rebuild

Orders = Sequence[tuple[Expr, tuple[str, ...]]]


class _UncertainError(Exception):
    """Which axes belong together is not certain."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """A value with every tensor read at its indices, and these in the order of its axes; empty for an axis of one."""

    node: Expr
    axes: tuple[str, ...]

    @property
    def order(self) -> tuple[str, ...]:
        return tuple(i for i in self.axes if i)


@dataclass(slots=True)
class _Alignment:
    """How the operands of a value are aligned; `orders`: nodes whose axes have an order of their own."""

    words: Vocabulary
    orders: Orders
    fixed: Collection[str]  # indices that keep their names
    parts: dict[int, Extents]  # how far slices run, by where their access begins

    def of(self, e: Expr) -> Aligned:
        if (axes := self._known(e)) is not None:
            return Aligned(spelled(self.words, e), axes)
        match e:
            case Number() | Text():
                return Aligned(e, ())
            case Name(name=name):
                letters = self.words.letters.get(name, ())
                if UNCLEAR in letters:
                    raise _UncertainError
                is_read = letters not in ((), ("...",))
                axes = tuple("" if i == FIRST else i for i in letters)
                return Aligned(access_at(name, letters, e) if is_read else spelled(self.words, e), axes)
            case Access():
                read = spelled(self.words, e)
                return Aligned(read, self._beside_new_axes(layout(self.words, read)))
            case Reduction():
                return self._reduced(e)
            case Call(name="given" | "pad"):
                return Aligned(spelled(self.words, e), layout(self.words, e))
            case _:
                return self._combined(e)

    def _known(self, e: Expr) -> tuple[str, ...] | None:
        known = chain(reversed(self.words.axes), reversed(self.orders))
        return next((axes for node, axes in known if node == e and node.span == e.span), None)

    def _beside_new_axes(self, order: tuple[str, ...]) -> tuple[str, ...]:
        """The same with the axes of one element that `x[:, None]` has."""
        places = self.words.places
        if not order or any(i not in places for i in order):
            return order
        at = {places[i]: i for i in order}
        return tuple(at.get(k, "") for k in range(max(at), -1, -1))

    def _reduced(self, e: Reduction) -> Aligned:
        if not e.span.text.startswith(e.name) or stated(e.body):  # made of a call, which says how its body is aligned
            return Aligned(spelled(self.words, e), layout(self.words, spelled(self.words, e)))
        inner = self.of(e.body)
        bound = [b.name for b in e.binders if isinstance(b, Binder)]
        if any(b not in inner.axes for b in bound) or len(bound) < len(e.binders) or e.further is not None:
            raise _UncertainError
        axes = inner.axes if self.words.reductions.get(e.name) else tuple(i for i in inner.axes if i not in bound)
        return Aligned(replace(e, body=inner.node), axes)

    def _combined(self, e: Expr) -> Aligned:
        parts = [self.of(o) for o in operands(e)]
        longest = max(parts, key=lambda p: len(p.axes), default=Aligned(e, ()))
        parts = [self._by_name(p, longest) for p in parts]
        axes = self._together([p for p in parts if p.axes])
        made = iter([self._at(p, axes) for p in parts])
        return Aligned(rebuild(e, lambda _: next(made)), axes)

    def _by_name(self, part: Aligned, longest: Aligned) -> Aligned:
        """A part that can only be meant along dims of another name, as `x: [B]` beside `a: [B, N, N]`."""
        own, whole = _named(part), _named(longest)
        sizes = [(self._size(part, i), self._size(longest, j)) for i, j in zip(own[::-1], whole[::-1], strict=False)]
        if all(None in pair or pair[0] == pair[1] for pair in sizes):
            return part
        over = [size_at(self.words, longest.node, i) for i in whole]
        if not {*own} <= {*whole} or any(over.count(size_at(self.words, part.node, i)) > 1 for i in own):
            raise _UncertainError
        return replace(part, axes=tuple(i if i in (*own, "...") else "" for i in longest.axes))

    def _size(self, part: Aligned, index: str) -> Expr | None:
        parts = (self.parts.get(a.name_span.start, {}) for a in nodes(part.node) if isinstance(a, Access))
        cut = next((extents[index] for extents in parts if index in extents), None)
        return cut or (size_at(self.words, part.node, index) if index else None)

    def _together(self, parts: Sequence[Aligned]) -> tuple[str, ...]:
        """The axes of a combination: those of its part with the most of them."""
        batched = [p for p in parts if "..." in p.axes]
        most = max((len(_named(p)) for p in parts), default=0)
        if any("..." in p.axes[1:] or len(_named(p)) < most for p in batched):
            raise _UncertainError
        axes: list[str] = []
        for k in range(1, most + 1):
            at = [_named(p)[-k] for p in sorted(parts, key=lambda p: -len(p.axes)) if len(_named(p)) >= k]
            free = [i for i in at if i and i not in axes]
            fresh = (c for c in SPARE if c not in axes and c not in self.fixed and not self.words.knows(c))
            axes.append(free[0] if free else next(fresh) if any(at) else "")
        return (*(["..."] if batched else []), *reversed(axes))

    def _at(self, part: Aligned, axes: Sequence[str]) -> Expr:
        """A part of a combination at its indices."""
        own = _named(part)
        names = {i: axis for i, axis in zip(reversed(own), reversed(axes), strict=False) if i and i != axis}
        if not names.keys().isdisjoint(self.fixed):
            raise _UncertainError
        for start in (a.name_span.start for a in nodes(part.node) if isinstance(a, Access)):
            if start in self.parts and names:
                if bound_in(part.node):
                    raise _UncertainError
                self.parts[start] = {names.get(i, i): size for i, size in self.parts[start].items()}
        return renamed(self.words, part.node, names)


def aligned(
    words: Vocabulary, orders: Orders, e: Expr, fixed: Collection[str] = (), parts: dict[int, Extents] | None = None
) -> Aligned | None:
    """The value with its axes aligned; None where that is not certain."""
    try:
        return _Alignment(words, orders, fixed, {} if parts is None else parts).of(e)
    except _UncertainError:
        return None


def in_order(words: Vocabulary, orders: Orders, e: Expr) -> tuple[Expr, tuple[str, ...] | None] | None:
    """An operand, aligned where that is done by place, and the order of its axes where it has one of its own."""
    order = next((order for node, order in orders if node is e), None)
    if order is not None or not is_by_place(words, e):
        return e, order
    made = aligned(words, orders, e)
    return None if made is None or made.axes != made.order else (made.node, made.order)


def is_crossed(words: Vocabulary, orders: Orders, e: Expr) -> bool:
    """Whether the axes of an operand stand in another way than by the names of indices."""
    if isinstance(e, Call) and e.name == LIST:
        known = [node for node, _ in orders]
        return any(is_crossed(words, orders, a) for a in e.args if not any(a is node for node in known))
    own, whole = next((order for node, order in orders if node is e), None), spelled(words, e)
    if own is not None:
        return own != layout(words, whole)
    if not is_by_place(words, e):
        return False
    made = aligned(words, orders, e)
    return made is None or made.node != whole or made.axes != layout(words, whole)


def is_by_place(words: Vocabulary, e: Expr) -> bool:
    """Whether the names of indices do not tell which axes belong together: a dim stands twice, and none is written."""
    twice = (n for n in nodes(e) if isinstance(n, Name | Access) and _has_twice(words.shapes.get(n.name, ())))
    return any(True for _ in twice) and not stated(e)


def stated(e: Expr) -> bool:
    """Whether an index of a tensor is written out."""
    for a in (n for n in nodes(e) if isinstance(n, Access)):
        inside = a.span.text.removeprefix(a.name)
        if any(isinstance(i, Name) and re.search(rf"\b{i.name}\b", inside) for i in a.items):
            return True
    return False


def renamed(words: Vocabulary, e: Expr, names: Mapping[str, str]) -> Expr:
    """An expression at other indices; those that reductions bind stay, or have new names where they would hide one."""
    if not names:
        return e
    if isinstance(e, Name):
        return replace(e, name=names.get(e.name, e.name))
    if not isinstance(e, Reduction):
        return rebuild(e, lambda part: renamed(words, part, names))
    bound = [b.name for b in e.binders if isinstance(b, Binder)]
    inner = names if words.reductions.get(e.name) else {i: name for i, name in names.items() if i not in bound}
    if inner is not names:
        used = (*(n.name for n in nodes(e) if isinstance(n, Name)), *bound, *names.values())
        fresh = (c for c in SPARE if c not in used and not words.knows(c))
        inner = {**inner, **{b: next(fresh) for b in bound if b in inner.values()}}
    made = rebuild(e, lambda part: renamed(words, part, inner))
    assert isinstance(made, Reduction)
    binders = tuple(replace(b, name=inner.get(b.name, b.name)) if isinstance(b, Binder) else b for b in made.binders)
    return replace(made, binders=binders)


def _has_twice(shape: Sequence[str]) -> bool:
    named = [size for size in shape if size not in ("...", "1", UNCLEAR)]
    return len({*named}) < len(named)


def _named(part: Aligned) -> tuple[str, ...]:
    return tuple(i for i in part.axes if i != "...")
