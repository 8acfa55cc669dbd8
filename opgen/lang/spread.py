"""Calls of other libraries whose result has axes of its own: what they read at its indices, and how far these run.

Nodes in, nodes out; None where a size or an index is not known for certain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from opgen.lang.counted import NAMES as COUNTED
from opgen.lang.counted import counted, size_below
from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import (
    Access,
    Binder,
    Call,
    Compare,
    Dots,
    Expr,
    Name,
    Number,
    Product,
    Reduction,
    Sum,
    Target,
    Text,
)
from opgen.lang.products import reindexed
from opgen.lang.slices import total
from opgen.lang.vocabulary import SPARE, UNCLEAR, Vocabulary, letters
from opgen.lang.walk import integer, nodes, rebuild

Named = Mapping[str, Expr | tuple[Expr, ...]]


@dataclass(frozen=True, slots=True)
class Spread:
    """What a call means, the order of its indices, and how far those run that no access says."""

    node: Expr
    order: tuple[str, ...]
    runs: Mapping[str, Expr] = field(default_factory=dict)
    either: bool = False  # it may be along the first axis or along the last one

    @property
    def reads_nothing(self) -> bool:
        """Whether it is made of numbers and its indices alone."""
        return not any(isinstance(n, Access) for n in nodes(self.node))

    def is_loose(self, words: Vocabulary) -> bool:
        """Whether nothing says which of the indices around it are its own."""
        return self.reads_nothing and bool(words.left) and not {*words.bound} <= {*words.left}

    def along(self, left: Sequence[str]) -> Spread:
        """The same at the indices of a target, where it has others and as many."""
        if "..." not in self.order and self.reads_nothing:
            left = [i for i in left if i != "..."][-len(self.order) :]  # the same for the whole batch
        same = [i == "..." for i in left] == [i == "..." for i in self.order]
        if not left or not same or set(left) == set(self.order):
            return self
        names = dict(zip(self.order, left, strict=True))
        bound = bound_in(self.node) - {*self.order}
        spare = (c for c in SPARE if c not in (*left, *self.order, *bound))
        names |= {i: next(spare) for i in bound if i in left}
        return Spread(reindexed(self.node, names), tuple(left), {names[i]: e for i, e in self.runs.items()})


def extended(
    words: Vocabulary, runs: Mapping[str, Expr], target: Target, value: Expr
) -> tuple[Target, Expr]:  # fmt: skip
    """The sides of a statement with the extents of their indices that no access says."""
    runs = {i: e for i, e in runs.items() if size_at(words, value, i) != e}

    def with_extent(b: Binder | Dots | Expr) -> Binder | Dots | Expr:
        known = isinstance(b, Binder) and b.extent is None and b.name in runs
        return replace(b, extent=runs[b.name]) if known and isinstance(b, Binder) else b

    def step(e: Expr) -> Expr:
        made = rebuild(e, step)
        if not isinstance(made, Reduction) or words.reductions.get(made.name):
            return made
        return replace(made, binders=tuple(b for i in made.binders if isinstance(b := with_extent(i), Binder | Dots)))

    items = None if target.items is None else tuple(map(with_extent, target.items))
    return replace(target, items=items), step(value)


def spread(
    words: Vocabulary, name: str, args: Sequence[Expr], named: Named, turned: Sequence[tuple[Expr, tuple[str, ...]]]
) -> Spread | None:
    """What a call means whose result has axes of its own.

    `turned` are nodes whose axes have another order than their indices, with that order.
    """
    named = {("dim" if k in ("dims", "axis", "axes") else k): v for k, v in named.items()}
    match name, args:
        case _, (_, *_) if name in COUNTED:
            found = counted(words, name, args, named)
            return None if found is None else Spread(*found)
        case "one_hot", (of, *count):
            return _one_hot(words, of, next(iter(count), named.get("num_classes")))
        case "full", (Call(name="[]", args=(Name() as rows, Name() as columns)), value) | (
            Name() as rows,
            Name() as columns,
            value,
        ) if rows.name[:1].isupper() and columns.name[:1].isupper():
            order = letters((rows.name, columns.name), words.instead)
            return Spread(value, order, dict(zip(order, (rows, columns), strict=True)))
        case "full_like", (of, value):
            return _filled(words, of, value)
        case "ones", (Name() as rows, Name() as columns) if rows.name[:1].isupper() and columns.name[:1].isupper():
            order = letters((rows.name, columns.name), words.instead)
            return Spread(Number(1, rows.span), order, dict(zip(order, (rows, columns), strict=True)))
        case "rand_like" | "randn_like", (of,):
            return _drawn(words, of, "uniform" if name == "rand_like" else "normal")
        case "eye", (Name() as size,) if size.name[:1].isupper():
            own = letters((size.name, size.name), words.instead)
            order = next((o for _, o in reversed(turned) if len(o) == len(own) and "..." not in o), own)
            row, column = (Name(i, size.span) for i in order)
            one, zero = (Number(k, size.span) for k in (1, 0))
            same = Compare((row, column), ("==",), size.span)
            made = Call("where", (same, one, zero), size.span, size.span)
            return Spread(made, order, dict.fromkeys(order, size))
        case "glu", (of, *axis) if len(axis) < 2:
            return _gated(words, of, next(iter(axis), named.get("dim")))
        case "outer" | "ger", (a, b):
            first, second = spelled(words, a), spelled(words, b)
            own = layout(words, first)
            if own == layout(words, second) and len(own) == 1:
                free = next(c for c in SPARE if c not in own and not words.knows(c) and c not in words.letters)
                second = reindexed(second, {own[0]: free})
            order = (*own, *layout(words, second))
            outer = Product((("*", first), ("*", second)), a.span)
            return Spread(outer, order) if len({*order}) == len(order) == 2 else None
        case "cross", (a, b):
            return _cross(words, a, b)
        case "kron", (a, b):
            return _kronecker(words, a, b)
        case "slopes", (of, *steps) if len(steps) < 2 and {*named} <= {"dim", "spacing"}:
            return _slopes(words, of, next(iter(steps), named.get("spacing")), named.get("dim"))
        case "diff", (of, *axis):
            return _differences(words, of, named.get("dim") if not axis else None)
        case _:
            return None


def bound_in(e: Expr) -> set[str]:
    """The indices that reductions bind in an expression."""
    return {b.name for r in nodes(e) if isinstance(r, Reduction) for b in r.binders if isinstance(b, Binder)}


def axis_of(words: Vocabulary, order: Sequence[str], axis: Expr | tuple[Expr, ...] | None, default: int) -> str | None:
    """The index of an axis."""
    if isinstance(axis, tuple):
        axis = axis[0] if len(axis) == 1 else Text("", axis[0].span)
    place = default if axis is None else integer(axis)
    if isinstance(axis, Name) and axis.name in order:
        return axis.name
    if place is None or not -len(order) <= place < len(order):
        return None
    found = order[place]
    return None if found == "..." or (place >= 0 and "..." in order[:place]) else found


def size_at(words: Vocabulary, e: Expr, index: str) -> Expr | None:
    """How far an index runs at which something is read."""
    for a in nodes(e):
        shape = words.shapes.get(a.name, ()) if isinstance(a, Access) else ()
        if isinstance(a, Access) and len(shape) == len(a.items):
            for size, item in zip(shape, a.items, strict=True):
                if isinstance(item, Name) and item.name == index and size not in ("...", UNCLEAR):
                    return Number(int(size), item.span) if size.isdigit() else Name(size, item.span)
    return None


def at(e: Expr, index: str, place: Expr) -> Expr:
    """An expression with another position in place of an index."""
    return placed(e, {index: place})


def placed(e: Expr, places: Mapping[str, Expr]) -> Expr:
    """An expression with other positions in place of indices."""
    if isinstance(e, Name):
        return places.get(e.name, e)
    made = rebuild(e, lambda part: placed(part, places))
    if not isinstance(made, Access):
        return made
    items = (total([(1, i)], i.span) if isinstance(i, Sum) else i for i in made.items)
    return replace(made, items=tuple(items))


def _drawn(words: Vocabulary, of: Expr, how: str) -> Spread | None:
    return _filled(words, of, Call(how, (Name("seed", of.span),), of.span, of.span))


def _filled(words: Vocabulary, like: Expr, value: Expr) -> Spread | None:
    """The same value at each element of a tensor."""
    whole = spelled(words, like)
    order = layout(words, whole)
    sizes = {i: size_at(words, whole, i) for i in order if i != "..."}
    known = {i: size for i, size in sizes.items() if size is not None}
    return Spread(value, order, known) if known == sizes and not layout(words, value) else None


def _one_hot(words: Vocabulary, of: Expr, count: Expr | tuple[Expr, ...] | None) -> Spread | None:
    whole = spelled(words, of)
    order = layout(words, whole)
    if count is None and isinstance(whole, Reduction) and len(whole.binders) == 1:  # of an `argmax`
        over = whole.binders[0]
        count = size_at(words, whole.body, over.name) if isinstance(over, Binder) else None
    if count is None or integer(count if isinstance(count, Expr) else count[0]) == -1:
        count = size_below(words, of)
    if isinstance(count, tuple):
        return None
    wish = count.name.lower() if isinstance(count, Name) and count.name[:1].isupper() else "c"
    wishes = (words.instead.get(wish, wish), *SPARE)
    index = next(c for c in wishes if c not in order and not words.knows(c) and c not in words.letters)
    if index in bound_in(whole):
        whole = reindexed(whole, {index: next(c for c in SPARE if c not in (*order, index, *bound_in(whole)))})
    name = Name(index, of.span)
    zero, one = (Number(k, of.span) for k in (0, 1))
    chosen = Call("where", (Compare((name, whole), ("==",), of.span), one, zero), of.span, of.span)
    return Spread(chosen, (*order, index), {index: count})


def _cross(words: Vocabulary, a: Expr, b: Expr) -> Spread | None:
    """The product of vectors of three components, each of which reads the two behind it, around the end."""
    first, second = spelled(words, a), spelled(words, b)
    if not (isinstance(first, Access) and isinstance(second, Access)):
        return None
    order, here = layout(words, first), first.span
    shapes = [words.shapes.get(e.name, ("",)) for e in (first, second)]
    lasts = [e.items[-1] for e in (first, second)]
    if not all(s[-1] == "3" and len(s) == len(e.items) for s, e in zip(shapes, (first, second), strict=True)):
        return None
    if not order or not all(isinstance(i, Name) for i in lasts):
        return None

    def part(of: Access, after: int) -> Expr:
        ahead = Sum((("+", Name(order[-1], here)), ("+", Number(after, here))), here)
        return replace(of, items=(*of.items[:-1], Product((("*", ahead), ("%", Number(3, here))), here)))

    one, other = (Product((("*", part(first, k)), ("*", part(second, 3 - k))), here) for k in (1, 2))
    return Spread(Sum((("+", one), ("-", other)), here), order, {order[-1]: Number(3, here)})


def _differences(words: Vocabulary, of: Expr, axis: Expr | tuple[Expr, ...] | None) -> Spread | None:
    whole = spelled(words, of)
    order = layout(words, whole)
    index = axis_of(words, order, axis, -1) if order else None
    size = None if index is None else size_at(words, whole, index)
    if index is None or size is None:
        return None
    one = Number(1, of.span)
    after = at(whole, index, total([(1, Name(index, of.span)), (1, one)], of.span))
    return Spread(Sum((("+", after), ("-", whole)), of.span), order, {index: total([(1, size), (-1, one)], of.span)})


def _slopes(
    words: Vocabulary, of: Expr, step: Expr | tuple[Expr, ...] | None, axis: Expr | tuple[Expr, ...] | None
) -> Spread | None:
    """Half of the difference of both neighbours, and at the ends the difference to the only one."""
    whole = spelled(words, of)
    order, here = layout(words, whole), of.span
    index = axis_of(words, order, axis, -1) if axis is not None or len(order) == 1 else None
    size = None if index is None else size_at(words, whole, index)
    if index is None or size is None or isinstance(step, tuple):
        return None
    place = Name(index, here)

    def read(*terms: tuple[int, Expr]) -> Expr:
        return at(whole, index, total(terms, here))

    def away(first: Expr, last: Expr, apart: int) -> Expr:
        made = Sum((("+", last), ("-", first)), here)
        by = [e for e in (Number(apart, here) if apart > 1 else None, step) if e is not None]
        return Product((("*", made), *(("/", e) for e in by)), here) if by else made

    one, two = Number(1, here), Number(2, here)
    begin = away(read((1, Number(0, here))), read((1, one)), 1)
    end = away(read((1, size), (-1, two)), read((1, size), (-1, one)), 1)
    middle = away(read((1, place), (-1, one)), read((1, place), (1, one)), 2)
    is_last = Compare((place, total([(1, size), (-1, one)], here)), ("==",), here)
    rest = Call("where", (is_last, end, middle), here, here)
    chosen = Call("where", (Compare((place, Number(0, here)), ("==",), here), begin, rest), here, here)
    return Spread(chosen, order, {index: size})


def _kronecker(words: Vocabulary, a: Expr, b: Expr) -> Spread | None:
    """Each element of the first tensor times all of the second one."""
    first, second = spelled(words, a), spelled(words, b)
    order, inner = layout(words, first), layout(words, second)
    if len(order) != len(inner) or {"...", *words.left} & {*order, *inner} - {*words.left} or not order:
        return None
    runs: dict[str, Expr] = {}
    for index, other in zip(order, inner, strict=True):
        size, every = size_at(words, first, index), size_at(words, second, other)
        if size is None or every is None:
            return None
        runs[index] = Product((("*", size), ("*", every)), a.span)
        here = Name(index, a.span)
        first = at(first, index, Product((("*", here), ("//", every)), a.span))
        second = at(second, other, Product((("*", here), ("%", every)), a.span))
    return Spread(Product((("*", first), ("*", second)), a.span), order, runs)


def _gated(words: Vocabulary, of: Expr, axis: Expr | tuple[Expr, ...] | None) -> Spread | None:
    whole = spelled(words, of)
    order = layout(words, whole)
    index = axis_of(words, order, axis, -1) if order else None
    size = None if index is None else size_at(words, whole, index)
    if index is None or size is None:
        return None
    half = Product((("*", size), ("//", Number(2, of.span))), of.span)
    behind = at(whole, index, total([(1, Name(index, of.span)), (1, half)], of.span))
    gate = Call("sigmoid", (behind,), of.span, of.span)
    return Spread(Product((("*", whole), ("*", gate)), of.span), order, {index: half})
