"""Slices of other languages: the index that one stands for, where it reads then, and how far that index runs.

Nodes in, nodes out; None where an index or a size is not known for certain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from opgen.diagnostics.model import Span
from opgen.lang.nodes import (
    Access,
    Binder,
    Compare,
    Dots,
    Expr,
    Name,
    Number,
    Product,
    Reduction,
    Sum,
    Target,
    Unary,
)
from opgen.lang.strides import multiplied_out, step_along
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import SPARE, Vocabulary
from opgen.lang.walk import nodes, operands, rebuild


@dataclass(frozen=True, slots=True)
class Slice:
    """`start:stop:step` in brackets."""

    start: Expr | None
    stop: Expr | None
    step: Expr | None
    span: Span  # of its first colon


Item = Expr | Dots | Slice
Extents = Mapping[str, Expr | None]  # of an index, by how much is read along it; None: of a size that is not known
_Read = tuple[tuple[Expr | Dots, ...], Extents]


def run_of(item: Slice) -> Compare | None:
    """`k: K` and `k: 0:K` where an index is bound, read as `k < K`."""
    first, last = (item.stop, None) if item.step is None else (item.step, item.stop)
    from_zero = last is None or unparse(last) == "0"
    if not isinstance(item.start, Name) or first is None or not from_zero:
        return None
    return Compare((item.start, first), ("<",), item.start.span.to(first.span))


def read_at(
    words: Vocabulary, name: str, items: Sequence[Item], left: Sequence[str], bound: Sequence[str], at: Span
) -> _Read | None:
    """The items of an access with an index for each slice, and how far these run.

    `left` are the indices of the target, `bound` those of the reductions around the access.
    """
    axes = words.letters.get(name)
    items = _complete(items, axes, at)
    places = _places(items, axes)
    shape = words.shapes.get(name, ())
    items = [_from_the_end(i, shape[p]) if p is not None and p < len(shape) else i
             for i, p in zip(items, places, strict=True)]  # fmt: skip
    used = [n.name for i in items for e in _parts(i) for n in nodes(e) if isinstance(n, Name)]
    wanted: list[_Axis] = []
    for item, place in zip(items, places, strict=True):
        if isinstance(item, Slice):
            wish = None if axes is None or place is None else axes[place]
            size = size_of(shape[place], item.span) if place is not None and place < len(shape) else None
            part = replace(item, start=multiplied_out(item.start), stop=multiplied_out(item.stop))
            wanted.append(_Axis(part, wish, size, _lasts(words, size, item.span)))
    indices = _indices(words, wanted, used, left, bound)
    read = None if indices is None else [axis.at(i) for axis, i in zip(wanted, indices, strict=True)]
    if indices is None or read is None or None in read:
        return None
    extents: dict[str, Expr | None] = {}
    for axis, index in zip(wanted, indices, strict=True):
        if axis.partly:
            extents[index] = axis.beside(words, index) or axis.extent
            if axis.extent is not None and not _is_size(words, axis.extent):
                return None
        for i in {n.name for e in _parts(axis.slice) for n in nodes(e) if isinstance(n, Name)} & {*left}:
            if (furthest := axis.furthest(i)) is None:
                return None
            extents[i] = furthest
    made = iter(read)
    found = (next(made) if isinstance(i, Slice) else i for i in items)
    return tuple(i for i in found if i is not None), extents


def grown(words: Vocabulary, left: Sequence[str], bound: Sequence[str], read: _Read) -> tuple[str, ...]:
    """The indices of a target with the one more that slices have; empty where one of them may be that of the slice."""
    items, extents = read
    used = [n.name for i in items for e in _parts(i) for n in nodes(e) if isinstance(n, Name)]
    more = [i for i in extents if i not in (*left, *bound)]
    apart = any(i in words.unsliced for i in left if i not in used)
    return (*left, *more) if left and len(more) == 1 and not apart else ()


def _is_size(words: Vocabulary, e: Expr) -> bool:
    """Whether an expression is made of dims and params, as the extent of an index is."""
    named = all(n.name[:1].isupper() or n.name in words.names for n in nodes(e) if isinstance(n, Name))
    return named and not any(isinstance(n, Access) for n in nodes(e))


def _parts(item: Item) -> tuple[Expr, ...]:
    if isinstance(item, Slice):
        return tuple(e for e in (item.start, item.stop, item.step) if e is not None)
    return () if isinstance(item, Dots) else (item,)


def _complete(items: Sequence[Item], axes: Sequence[str] | None, at: Span) -> Sequence[Item]:
    """The items for all axes: `x[1:]` of a matrix has all of the second one."""
    if axes is None:
        return items
    dots = next((k for k, item in enumerate(items) if isinstance(item, Dots)), None)
    missing = len(axes) - len(items)
    whole = Slice(None, None, None, at)
    if "..." in axes:
        where = axes.index("...")
        if dots is None:
            return (*items[:where], Dots(at), *items[where:]) if missing == 1 else items
        if dots > where or missing < where - dots:
            return items
        after = [whole] * (missing - where + dots)
        return (*items[:dots], *[whole] * (where - dots), items[dots], *after, *items[dots + 1 :])
    if dots is not None:
        return (*items[:dots], *[whole] * (missing + 1), *items[dots + 1 :])
    return (*items, *[whole] * missing)


def _places(items: Sequence[Item], axes: Sequence[str] | None) -> list[int | None]:
    """The axis of each item, where the tensor has as many."""
    if axes is None or len(axes) != len(items):
        return [None] * len(items)
    same = all(isinstance(item, Dots) == (axis == "...") for item, axis in zip(items, axes, strict=True))
    return [*range(len(items))] if same else [None] * len(items)


def _indices(
    words: Vocabulary, axes: Sequence[_Axis], used: Sequence[str], left: Sequence[str], bound: Sequence[str]
) -> list[str] | None:
    """An index for each slice: those of the target that the access lacks, or of a reduction, or new ones."""
    lacking = [i for i in left if i != "..." and i not in used]
    inner = [i for i in dict.fromkeys(bound) if i not in used and i not in lacking]
    for likely in (lacking, inner) if not (lacking and inner) else ((*lacking, *inner),):
        if len(likely) == len(axes) and all(
            axis.fits(words, i) or axis.beside(words, i) for axis, i in zip(axes, likely, strict=True)
        ):
            return list(likely)
    found: list[str] = []
    for axis in axes:
        taken = (*used, *found)
        free = next(c for c in SPARE if c not in (*taken, *left, *bound))
        if axis.wish is None:
            return None
        found.append(free if axis.wish in (*taken, *left) else axis.wish)
    return found


def _lasts(words: Vocabulary, size: Expr | None, at: Span) -> Mapping[str, Expr]:
    """By where the last of several equal parts of a size begins, how long it is: a half, or a dim that is computed."""
    if size is None:
        return {}
    whole = f"{unparse(size)} // "
    found: dict[str, Expr] = {f"{whole}2": Product((("*", size), ("//", Number(2, at))), at)}
    for name, formula in words.sizes.items():
        count = formula.removeprefix(whole)
        if count.isdigit() and int(count) > 1:
            found[name if count == "2" else f"{int(count) - 1} * {name}"] = Name(name, at)
    return found


def _from_the_end(item: Item, size: str) -> Item:
    """A place that is counted from the end, `-1`, counted from the start."""
    if not isinstance(item, Unary) or item.op != "-" or (whole := size_of(size, item.span)) is None:
        return item
    return total([(1, whole), (-1, item.operand)], item.span)


def size_of(size: str, at: Span) -> Expr | None:
    return Number(int(size), at) if size.isdigit() else Name(size, at) if size != "..." else None


# --- where a slice reads ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Axis:
    """A slice of an axis: the index that it is read at elsewhere, and its size, as far as they are known."""

    slice: Slice
    wish: str | None
    size: Expr | None
    lasts: Mapping[str, Expr]  # where the last of its equal parts begins, and how long it is

    @property
    def partly(self) -> bool:
        return bool(_parts(self.slice))

    def fits(self, words: Vocabulary, index: str) -> bool:
        """Whether an index may be meant: for a whole axis not one that is called like another dim."""
        dim = index.upper()
        if self.size is not None and index in words.along and unparse(self.size) not in words.along[index]:
            return False
        if self.size is None or not any(dim in shape for shape in words.shapes.values()):
            return True
        extent = self.extent if self.partly else None
        return (
            dim == unparse(self.size)
            or (extent is not None and unparse(extent) == dim)
            or (self.partly and not unparse(self.size).isdigit())
        )

    def beside(self, words: Vocabulary, index: str) -> Expr | None:
        """The one other size along which an index is read beside no slice, where a part of the axis may have it."""
        along, extent = sorted(words.along.get(index, ())), self.extent
        if not self.partly or index not in words.unsliced or len(along) != 1 or self.size is None or extent is None:
            return None
        named = isinstance(extent, Name | Number) and unparse(extent) != along[0]
        return None if named or unparse(self.size) == along[0] else size_of(along[0], self.slice.span)

    def at(self, index: str) -> Expr | None:
        """The position that is read at an index."""
        s, i = self.slice, Name(index, self.slice.span)
        if isinstance(s.step, Unary):
            if s.start is not None or s.stop is not None or s.step.operand != Number(1, s.span) or self.size is None:
                return None
            return total([(1, self.size), (-1, Number(1, s.span)), (-1, i)], s.span)
        start = _end(s.start, self.size, s.span)
        if start is None:
            return None
        moved = i if s.step in (None, Number(1, s.span)) else Product((("*", s.step), ("*", i)), s.span)
        return total([(1, moved), *start], s.span)

    @property
    def extent(self) -> Expr | None:
        """How many places the slice has."""
        s = self.slice
        if isinstance(s.step, Unary):
            return self.size
        start, stop = _end(s.start, self.size, s.span), _end(s.stop or self.size, self.size, s.span)
        if start is None or not stop:
            return None
        if s.start is not None and s.stop is None and (last := self.lasts.get(unparse(s.start))) is not None:
            return last  # as long as the others
        length = [*stop, *((-sign, t) for sign, t in start)]
        if s.step in (None, Number(1, s.span)):
            return total(length, s.span)
        assert s.step is not None
        rounded = total([*length, (1, s.step), (-1, Number(1, s.span))], s.span)
        return Product((("*", rounded), ("//", s.step)), s.span)

    def furthest(self, index: str) -> Expr | None:
        """How far an index of the target runs that moves the slice along: `t < T - 2` for `t:t + 3`."""
        s, one = self.slice, Number(1, self.slice.span)
        moved = None if s.start is None else step_along(s.start, index)
        if self.size is None or s.stop is None or s.start is None or moved is None:
            return None
        along, step = moved
        if isinstance(total([(1, s.start), (-1, along)], s.span), Sum):
            return None  # it might begin outside
        room = total([(1, self.size), (-1, s.stop), (1, along)], s.span)
        times = room if step == one else Product((("*", room), ("//", step)), s.span)
        found = total([(1, times), (1, one)], s.span)
        return None if any(isinstance(n, Name) and n.name == index for n in nodes(found)) else found


_Terms = list[tuple[int, Expr]]


def _end(e: Expr | None, size: Expr | None, at: Span) -> _Terms | None:
    """An end of a slice as terms; a negative one counts from the end of the axis."""
    match e:
        case None:
            return []
        case Unary(op="-", operand=operand):
            return None if size is None else [(1, size), (-1, operand)]
        case _:
            return [(1, e)]


def total(terms: Iterable[tuple[int, Expr]], at: Span) -> Expr:
    """The sum of terms, with what cancels left out and the numbers in one."""
    number, counts = 0, Counter[Expr]()
    queue = [*terms]
    while queue:
        sign, e = queue.pop(0)
        match e:
            case Number(value=int(value)):
                number += sign * value
            case Unary(op="-", operand=operand):
                queue.insert(0, (-sign, operand))
            case Product(factors=(("*", Number(value=int(value))), ("*", factor))):
                counts[factor] += sign * value
            case Sum(terms=parts):
                queue[:0] = [(sign if op == "+" else -sign, t) for op, t in parts]
            case _:
                counts[e] += sign
    signed: list[tuple[str, Expr]] = [
        ("+" if count > 0 else "-", e if abs(count) == 1 else Product((("*", Number(abs(count), at)), ("*", e)), at))
        for e, count in sorted(counts.items(), key=lambda item: item[1] < 0) if count
    ]  # fmt: skip
    if number or not signed:
        signed.append(("+" if number >= 0 else "-", Number(abs(number), at)))
    if signed[0][0] == "-":  # a number alone is positive
        signed = [signed[-1], *signed[:-1]] if signed[-1][0] == "+" else [("+", Number(0, at)), *signed]
    return signed[0][1] if len(signed) == 1 else Sum(tuple(signed), at)


# --- how far its index runs ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Bounds:
    """Writes how far the indices of slices run to where these are bound. `found`: by where an access begins."""

    words: Vocabulary
    found: Mapping[int, Extents]
    unknown: bool = False

    def written(self, target: Target, value: Expr) -> tuple[Target, Expr] | None:
        """The two sides with their extents; None where one is not known."""
        value, wanted = self._inner(value)
        items = target.items
        if self._tested(value, frozenset(wanted)):
            return None  # where it goes on in other elements, it counts from another place
        if items is not None:
            items = tuple(self._bounded(i, wanted) if isinstance(i, Binder) else i for i in items)
        return None if self.unknown else (replace(target, items=items), value)

    def _tested(self, e: Expr, indices: frozenset[str]) -> bool:
        """Does a condition choose by an index that a slice has given an extent?"""
        compared = (c for c in nodes(e) if isinstance(c, Compare))
        return any(isinstance(o, Name) and o.name in indices for c in compared for o in c.operands)

    def _inner(self, e: Expr) -> tuple[Expr, dict[str, list[Expr | None]]]:
        wanted: dict[str, list[Expr | None]] = {}

        def step(part: Expr) -> Expr:
            made, found = self._inner(part)
            for index, extents in found.items():
                wanted.setdefault(index, []).extend(extents)
            return made

        made = rebuild(e, step)
        if isinstance(made, Access):
            for index, extent in self.found.get(made.name_span.start, {}).items():
                wanted.setdefault(index, []).append(extent)
        if isinstance(made, Reduction) and not self.words.reductions.get(made.name):
            own = tuple(self._bounded(b, wanted) if isinstance(b, Binder) else b for b in made.binders)
            made = replace(made, binders=own)
            for b in made.binders:
                wanted.pop(b.name if isinstance(b, Binder) else "...", None)
        return made, wanted

    def _bounded(self, b: Binder, wanted: Mapping[str, Sequence[Expr | None]]) -> Binder:
        if b.extent is not None or b.name not in wanted:
            return b
        known = [e for e in wanted[b.name] if e is not None]
        self.unknown |= not known
        return replace(b, extent=min(known, key=lambda e: len(unparse(e)))) if known else b


def stands(e: Expr, name: str) -> bool:
    """Whether a name stands alone outside of brackets."""
    if isinstance(e, Name):
        return e.name == name
    return not isinstance(e, Access) and any(stands(part, name) for part in operands(e))
