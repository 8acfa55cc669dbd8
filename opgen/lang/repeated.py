"""Calls of other libraries that repeat, turn round or move elements along axes, as reads at other positions.

Nodes in, nodes out; None where a size or an index is not known for certain.
"""

from __future__ import annotations

from collections.abc import Sequence

from opgen.diagnostics.model import Span
from opgen.lang.joins import LIST
from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import Call, Expr, Name, Number, Product, Sum, Text, Unary
from opgen.lang.slices import total
from opgen.lang.spread import Named, Spread, at, axis_of, placed, size_at
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import integer

_COUNTS = ("repeats", "repeat", "sizes", "reps", "multiples")
_SHIFTS = ("shifts", "shift")
_AXES = ("dim", "dims", "axis", "axes")
_SIDES = {"flipud": 0, "fliplr": 1}

Given = Expr | tuple[Expr, ...] | None


def repeated(words: Vocabulary, name: str, args: Sequence[Expr], named: Named) -> Spread | None:
    """What a call means that reads elements of one tensor more than once, or at another place along an axis."""
    by = next((v for k, v in named.items() if k in (_SHIFTS if name == "roll" else _COUNTS)), None)
    axis = next((v for k, v in named.items() if k in _AXES), None)
    match name, args:
        case "repeat", (of, count) if axis is not None and by is None:  # of NumPy
            return _in_runs(words, of, count, axis)
        case "roll" | "repeat_interleave", (of, *rest):
            first, second = [*([] if by is None else [by]), *rest, axis, None][:2]
            if len(rest) + (by is not None) + (axis is not None) > len(("by", "axis")) or first is None:
                return None
            return _moved(words, of, first, second) if name == "roll" else _in_runs(words, of, first, second)
        case "flip", (of, *axes):
            return _turned(words, of, tuple(axes) if axes else axis)
        case "fliplr" | "flipud", (of,) if not named:
            return _turned(words, of, Number(_SIDES[name], of.span))
        case "repeat" | "tile", (of, *counts) if axis is None:
            turns = _each(tuple(counts) if counts else by)
            lacking = len(layout(words, spelled(words, of))) - len(turns) if name == "tile" else 0
            return _in_turns(words, of, [*[Number(1, of.span)] * lacking, *turns])
        case "interpolate" | "upsample", (of,):
            return _enlarged(words, of, named)
        case _:
            return None


def _each(given: Given) -> list[Expr]:
    """The elements of an argument that is one value or a list."""
    match given:
        case None:
            return []
        case tuple():
            return [e for g in given for e in _each(g)]
        case Call(name=name, args=args) if name == LIST:
            return [*args]
        case _:
            return [given]


def _indices(words: Vocabulary, order: Sequence[str], axes: Given) -> list[str] | None:
    """The indices of axes; the only one that is no batch where none is named."""
    if axes is None:
        named = [i for i in order if i != "..."]
        return named if len(named) == 1 else None
    found = [axis_of(words, order, axis, 0) for axis in _each(axes)]
    named = [i for i in found if i is not None]
    return named if len(named) == len(found) == len({*named}) else None


def _moved(words: Vocabulary, of: Expr, by: Given, axes: Given) -> Spread | None:
    whole = spelled(words, of)
    order, steps = layout(words, whole), _each(by)
    if axes is None and len([i for i in order if i != "..."]) > 1:
        return _moved_in_all(words, whole, order, steps)
    indices = _indices(words, order, axes)
    if indices is None or len(indices) != len(steps):
        return None
    runs: dict[str, Expr] = {}
    for index, step in zip(indices, steps, strict=True):
        size = size_at(words, whole, index)
        if size is None:
            return None
        place = total([(1, Name(index, of.span)), (-1, step)], of.span)
        whole, runs[index] = at(whole, index, Product((("*", place), ("%", size)), of.span)), size
    return Spread(whole, order, runs)


def _moved_in_all(words: Vocabulary, whole: Expr, order: Sequence[str], steps: Sequence[Expr]) -> Spread | None:
    """`roll(x, 1)` of several axes, whose elements stand in one row."""
    sizes = [size for i in order if (size := size_at(words, whole, i)) is not None]
    if len(steps) != 1 or len(sizes) < len(order):
        return None
    here, place = whole.span, Name(order[0], whole.span)
    row: Expr = place
    for index, size in zip(order[1:], sizes[1:], strict=True):
        row = Sum((("+", Product((("*", row), ("*", size)), here)), ("+", Name(index, here))), here)
    row = Product((("*", total([(1, row), (-1, steps[0])], here)), ("%", _product(sizes, here))), here)
    places: dict[str, Expr] = {}
    for k, index in enumerate(order):
        behind = sizes[k + 1 :]
        part: Expr = Product((("*", row), ("//", _product(behind, here))), here) if behind else row
        places[index] = Product((("*", part), ("%", sizes[k])), here) if k else part
    return Spread(placed(whole, places), tuple(order), dict(zip(order, sizes, strict=True)))


def _product(sizes: Sequence[Expr], here: Span) -> Expr:
    return sizes[0] if len(sizes) == 1 else Product(tuple(("*", size) for size in sizes), here)


def _turned(words: Vocabulary, of: Expr, axes: Given) -> Spread | None:
    whole = spelled(words, of)
    order = layout(words, whole)
    indices = _indices(words, order, axes)
    if indices is None:
        return None
    runs: dict[str, Expr] = {}
    for index in indices:
        size = size_at(words, whole, index)
        if size is None:
            return None
        place = total([(1, size), (-1, Number(1, of.span)), (-1, Name(index, of.span))], of.span)
        whole, runs[index] = at(whole, index, place), size
    return Spread(whole, order, runs)


def _in_runs(words: Vocabulary, of: Expr, by: Given, axes: Given) -> Spread | None:
    """`repeat_interleave(x, 3, dim=0)`: each element as often, one after the other."""
    whole, count = spelled(words, of), _each(by)
    order = layout(words, whole)
    indices = _indices(words, order, axes)
    size = size_at(words, whole, indices[0]) if indices is not None and len(indices) == len(count) == 1 else None
    if size is None or indices is None or layout(words, count[0]):
        return None
    place = Product((("*", Name(indices[0], of.span)), ("//", count[0])), of.span)
    return Spread(at(whole, indices[0], place), order, {indices[0]: _times(count[0], size)})


def _in_turns(words: Vocabulary, of: Expr, counts: Sequence[Expr]) -> Spread | None:
    """`x.repeat(2, 1)`: each axis as often, from its first element on."""
    whole = spelled(words, of)
    order = layout(words, whole)
    if not counts or len(counts) != len(order) or "..." in order or any(layout(words, c) for c in counts):
        return None
    runs: dict[str, Expr] = {}
    for index, count in zip(order, counts, strict=True):
        size = size_at(words, whole, index)
        if size is None or integer(count) == -1:
            return None
        if integer(count) == 1:
            continue
        place = Product((("*", Name(index, of.span)), ("%", size)), of.span)
        whole, runs[index] = at(whole, index, place), _times(count, size)
    return Spread(whole, order, runs) if runs else None


def _enlarged(words: Vocabulary, of: Expr, named: Named) -> Spread | None:
    whole, by, mode = spelled(words, of), named.get("scale_factor"), named.get("mode")
    order = layout(words, whole)
    nearest = mode is None or (isinstance(mode, Text) and mode.value == "nearest")
    if by is None or isinstance(by, tuple) or not nearest or not {*named} <= {"scale_factor", "mode"}:
        return None
    runs: dict[str, Expr] = {}
    for index in order[2:]:
        size = size_at(words, whole, index)
        if size is None:
            return None
        whole = at(whole, index, Product((("*", Name(index, of.span)), ("//", by)), of.span))
        runs[index] = _times(by, size)
    return Spread(whole, order, runs) if runs and not isinstance(by, Unary) else None


def _times(count: Expr, size: Expr) -> Expr:
    whole, every = integer(count), integer(size)
    if whole is not None and every is not None:
        return Number(whole * every, size.span)
    return Product((("*", count), ("*", size)), size.span)
