"""Convolutions, pools and sliding windows as other libraries call them, as the reductions over windows that they are.

Nodes in, nodes out; None where a shape or an argument is not known for certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from opgen.lang.habits import SLIDING
from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import Access, Binder, Call, Expr, Name, Number, Product, Reduction, Sum, Text, Unary
from opgen.lang.products import reindexed
from opgen.lang.slices import total
from opgen.lang.spread import Named, Spread, at, axis_of, size_at
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import SPARE, Vocabulary, letters
from opgen.lang.walk import integer

_CONV = re.compile(r"conv([123])d")
_POOL = re.compile(r"(max|avg)_pool([123])d")
_GLOBAL = re.compile(r"adaptive_(max|avg)_pool([123])d")
_CONVOLVED = ("bias", "stride", "padding", "dilation", "groups")
_POOLED = ("kernel_size", "stride", "padding")

Value = Expr | tuple[Expr, ...] | None


def windowed(words: Vocabulary, name: str, args: Sequence[Expr], named: Named) -> Spread | None:
    """What a call means of a convolution, of a pool, or of windows along an axis."""
    if (found := _CONV.fullmatch(name)) and len(args) > 1:
        given = _named(_CONVOLVED, args[2:], named)
        return None if given is None else _convolved(words, args[0], args[1], given, int(found[1]))
    if (found := _POOL.fullmatch(name)) and args:
        given = _named(_POOLED, args[1:], named)
        return None if given is None else _pooled(words, args[0], given, _word(found[1]), int(found[2]))
    if name in SLIDING and args:
        given = _named(SLIDING[name], args[1:], {("dim" if k == "axis" else k): v for k, v in named.items()})
        width, step = (None, None) if given is None else (given.get("size"), given.get("step", Number(1, args[0].span)))
        if given is None or not isinstance(width, Expr) or not isinstance(step, Expr) or isinstance(width, Call):
            return None
        return _sliding(words, args[0], given.get("dim"), width, step)
    if (found := _GLOBAL.fullmatch(name)) and len(args) == 2 and integer(args[1]) == 1 and not named:
        whole = spelled(words, args[0])
        order, dims = layout(words, whole), int(found[2])
        if "..." in order[-dims:] or len(order) <= dims:
            return None
        over = tuple(Binder(i, None, whole.span) for i in order[-dims:])
        return Spread(Reduction(_word(found[1]), over, whole, whole.span, whole.span), order[:-dims])
    return None


def _sliding(words: Vocabulary, of: Expr, axis: Value, width: Expr, step: Expr) -> Spread | None:
    """Windows along an axis, which count along it, and the places in them along a last axis of their own."""
    whole = spelled(words, of)
    order = layout(words, whole)
    index = axis_of(words, order, axis, -1) if order else None
    size = None if index is None else size_at(words, whole, index)
    if index is None or size is None:
        return None
    here, one = of.span, integer(step) == 1
    wishes = (*letters((unparse(width),), words.instead), "r", *SPARE)  # as what is as long as a window is read
    place = next(c for c in wishes if c not in (*order, *words.left, *words.bound) and not words.knows(c))
    start: Expr = Name(index, here) if one else Product((("*", Name(index, here)), ("*", step)), here)
    read = at(whole, index, Sum((("+", start), ("+", Name(place, here))), here))
    rest = total([(1, size), (-1, width)], here)
    count = rest if one else Product((("*", rest), ("//", step)), here)
    return Spread(read, (*order, place), {index: total([(1, count), (1, Number(1, here))], here), place: width})


def _word(kind: str) -> str:
    return "mean" if kind == "avg" else kind


def _named(names: Sequence[str], given: Sequence[Expr], named: Named) -> dict[str, Value] | None:
    """The arguments by name; None where there are others."""
    found = {**dict(zip(names, given, strict=False)), **named}
    return dict(found) if len(given) <= len(names) and {*found} <= {*names} else None


@dataclass(frozen=True, slots=True)
class _Axis:
    """A window along an axis: its index, its place in the window, and the sizes of both."""

    index: str
    place: str
    size: Expr
    window: Expr
    stride: Expr
    padding: Expr | None  # None: as much as keeps the size
    dilation: Expr

    def back(self) -> Expr:
        """How far in front of its element a window begins."""
        if self.padding is not None:
            return self.padding
        reach = total([(1, _times(self.dilation, self.window)), (-1, self.dilation)], self.size.span)
        if (number := integer(reach)) is not None:
            return Number(number // 2, self.size.span)
        return Product((("*", reach), ("//", Number(2, self.size.span))), self.size.span)

    def position(self) -> Expr:
        here = self.size.span
        moved = _times(self.stride, Name(self.index, here)), _times(self.dilation, Name(self.place, here))
        return total([*((1, m) for m in moved), (-1, self.back())], here)

    def extent(self) -> Expr:
        """How many windows there are."""
        here = self.size.span
        if self.padding is None:
            return self.size
        plain = (integer(self.padding), integer(self.dilation)) == (0, 1)
        if plain and self.stride == self.window and integer(self.stride) != 1:
            return Product((("*", self.size), ("//", self.window)), here)
        one = Number(1, here)
        twice = _times(Number(2, here), self.padding)
        terms = [(1, self.size), (1, twice), (-1, _times(self.dilation, self.window)), (1, self.dilation)]
        if integer(self.stride) == 1:
            return total(terms, here)
        steps = Product((("*", total([*terms, (-1, one)], here)), ("//", self.stride)), here)
        return Sum((("+", steps), ("+", one)), here)


def _times(a: Expr, b: Expr) -> Expr:
    numbers = integer(a), integer(b)
    if numbers[0] == 1:
        return b
    if numbers[0] is not None and numbers[1] is not None:
        return Number(numbers[0] * numbers[1], a.span)
    return Product((("*", a), ("*", b)), a.span)


def _each(value: Value, dims: int, default: Expr) -> list[Expr] | None:
    """A value for each axis."""
    if value is None or (isinstance(value, Name) and value.name == "None"):
        return [default] * dims
    if isinstance(value, tuple):
        return list(value) if len(value) == dims else None
    return [value] * dims


def _convolved(words: Vocabulary, x: Expr, w: Expr, given: dict[str, Value], dims: int) -> Spread | None:
    whole, weight = spelled(words, x), spelled(words, w)
    own, theirs = layout(words, whole), layout(words, weight)
    if len(theirs) != dims + 2 or len(own) <= dims or "..." in (*own[-dims - 1 :], *theirs):
        return None
    groups, bias = given.get("groups"), given.get("bias")
    if groups is not None and (isinstance(groups, tuple) or integer(groups) != 1):
        return None
    spare = _spare(words, (*own, *theirs))
    names = {i: next(spare) for i in (theirs[0], *theirs[2:]) if i in own} | {theirs[1]: own[-dims - 1]}
    sizes = [size_at(words, weight, i) for i in theirs[2:]]
    weight = reindexed(weight, names)
    out, places = names.get(theirs[0], theirs[0]), [names.get(i, i) for i in theirs[2:]]
    axes = _axes(words, whole, list(zip(own[-dims:], places, sizes, strict=True)), given, Number(1, x.span))
    if axes is None:
        return None
    windows = _windows(whole, axes, Number(0, x.span))
    if windows is None:
        return None
    body = Product((("*", windows), ("*", weight)), x.span)
    over = tuple(Binder(i, None, x.span) for i in (own[-dims - 1], *places))
    made: Expr = Reduction("sum", over, body, x.span, x.span)
    if isinstance(bias, Expr) and not (isinstance(bias, Name) and bias.name == "None"):
        added = spelled(words, bias)
        if len(layout(words, added)) != 1:
            return None
        made = Sum((("+", made), ("+", reindexed(added, {layout(words, added)[0]: out}))), x.span)
    return Spread(made, (*own[: -dims - 1], out, *own[-dims:]), {a.index: a.extent() for a in axes})


def _pooled(words: Vocabulary, x: Expr, given: dict[str, Value], how: str, dims: int) -> Spread | None:
    whole = spelled(words, x)
    own, window = layout(words, whole), given.get("kernel_size")
    if window is None or len(own) < dims or "..." in own[-dims:]:
        return None
    spare = _spare(words, own)
    sizes = _each(window, dims, Number(1, x.span))
    if sizes is None:
        return None
    wanted = [(i, next(spare), size) for i, size in zip(own[-dims:], sizes, strict=True)]
    axes = _axes(words, whole, wanted, given, None)
    if axes is None:
        return None
    infinity: Expr = Unary("-", Name("inf", x.span), x.span)
    body = _windows(whole, axes, infinity if how == "max" else Number(0, x.span))
    if body is None:
        return None
    over = tuple(Binder(a.place, a.window, x.span) for a in axes)
    return Spread(Reduction(how, over, body, x.span, x.span), own, {a.index: a.extent() for a in axes})


def _axes(
    words: Vocabulary, whole: Expr, wanted: Sequence[tuple[str, str, Expr | None]], given: dict[str, Value],
    stride: Expr | None,
) -> list[_Axis] | None:  # fmt: skip
    """The windows along the last axes; without a stride of their own they stand side by side."""
    one, zero = Number(1, whole.span), Number(0, whole.span)
    padding, dims = given.get("padding"), len(wanted)
    same = isinstance(padding, Text) and padding.value.lower() == "same"
    paddings = _each(None if isinstance(padding, Text) else padding, dims, zero)
    dilations, strides = _each(given.get("dilation"), dims, one), _each(given.get("stride"), dims, stride or one)
    beside = stride is None and given.get("stride") is None
    if paddings is None or dilations is None or strides is None:
        return None
    made: list[_Axis] = []
    for k, (index, place, window) in enumerate(wanted):
        size = size_at(words, whole, index)
        if size is None or window is None:
            return None
        back = None if same else paddings[k]
        made.append(_Axis(index, place, size, window, window if beside else strides[k], back, dilations[k]))
    return made


def _windows(whole: Expr, axes: Sequence[_Axis], fill: Expr) -> Expr | None:
    """What is read in a window; None where something is computed outside of what there is."""
    for a in axes:
        whole = at(whole, a.index, a.position())
    if all(integer(a.back()) == 0 for a in axes):
        return whole
    return None if not isinstance(whole, Access) else Call("pad", (whole, fill), whole.span, whole.span)


def _spare(words: Vocabulary, taken: Sequence[str]) -> Iterator[str]:
    order = dict.fromkeys(("r", "s", "q", *SPARE))
    return (c for c in order if c not in taken and not words.knows(c) and c not in (*words.letters, *words.outputs))
