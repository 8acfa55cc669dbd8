"""Elements that other libraries take along an axis by a tensor of integers, `gather` and `index_select`, as reads.

Nodes in, nodes out; None where nothing here is meant by it for certain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from opgen.lang.layout import access_at, layout, spelled, stated
from opgen.lang.nodes import Access, Binder, Expr, Name, Number, Reduction, Unary
from opgen.lang.slices import total
from opgen.lang.spread import placed, size_at
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import integer, nodes

Named = Mapping[str, Expr | tuple[Expr, ...]]
Taken = tuple[Expr, tuple[str, ...] | None]  # with the order of its indices, where that is another one

# Functions that take elements by a tensor of integers, with the order of their arguments behind the first.
TAKING = MappingProxyType({
    "gather": ("dim", "index"), "index_select": ("dim", "index"), "take_along_dim": ("index", "dim"),
    "take_along_axis": ("index", "dim"), "take": ("index", "dim"),
})  # fmt: skip
_KEYS = MappingProxyType({"dim": ("dim", "axis"), "index": ("index", "indices")})


def axis_at(axis: Expr, found: Sequence[str]) -> str | None:
    """The index of an axis."""
    match axis:
        case Number(value=int(value)) if value < len(found) and (value >= 0) and "..." not in found[: value + 1]:
            return found[value]
        case Unary(op="-", operand=Number(value=int(value))) if value <= len(found) and "..." not in found[-value:]:
            return found[-value]
        case Name(name=name) if name.lower() in found:
            return name.lower()
        case _:
            return None


def from_0(dims: Expr | tuple[Expr, ...]) -> Expr | tuple[Expr, ...]:
    """The axes `dims` of a reduction, as Julia counts them, counted from 0; others as they are."""
    each = dims if isinstance(dims, tuple) else (dims,)
    numbers = [n for d in each if (n := integer(d)) is not None and n > 0]
    if len(numbers) < len(each):
        return dims
    moved = tuple(Number(n - 1, d.span) for n, d in zip(numbers, each, strict=True))
    return moved if isinstance(dims, tuple) else moved[0]


def past_batch_dims(axis: Expr, found: Sequence[str], left: Sequence[str]) -> str | None:
    """The index of an axis that is counted past batch dims: the one that a target lacks."""
    lacking = [i for i in found if i not in left]
    fits = integer(axis) is not None and {*left} < {*found} and len(lacking) == 1 and lacking[0] != "..."
    return lacking[0] if fits else None


def by_target(of: Expr, found: Sequence[str], left: Sequence[str]) -> tuple[str, ...]:
    """The indices of a value in the order of its axes: that of the target, where no part of it has all of them."""
    parts = [stated(a) for a in nodes(of) if isinstance(a, Access)]
    clear = any(part.issuperset(found) for part in parts) or not stated(of) >= {*found} <= {*left}
    return (*found,) if clear else tuple(i for i in left if i in found)


def unbound(of: Expr, found: Sequence[str], left: Sequence[str], places: Sequence[str | None]) -> tuple[str, ...]:
    """The indices written in a value that only a reduction over these axes can bind, where these are others."""
    lacking = tuple(i for i in found if i not in left)
    binds = len(lacking) == len(places) and "..." not in lacking and stated(of) >= {*lacking}
    return lacking if binds and not {*lacking} >= {*places} else ()


def taken(words: Vocabulary, name: str, of: Expr, given: Sequence[Expr], named: Named) -> Taken | None:
    """What a call of `TAKING` reads, whichever of its arguments have names."""
    keys = [next((k for k in _KEYS if n in _KEYS[k]), n) for n in named]
    values = dict(zip(keys, named.values(), strict=True))
    places = [k for k in TAKING[name] if k not in values]
    values |= dict(zip(places, given, strict=False))
    axis, ids = values.get("dim"), values.get("index")
    if len(given) > len(places) or {*values} != {*_KEYS} or isinstance(axis, tuple) or axis is None:
        return None
    match of, ids:
        case Name(), Name() if name in ("index_select", "take"):
            return _selected(words, of, axis, ids)
        case _, Name() | Access() if name not in ("index_select", "take"):
            return _gathered(words, of, axis, ids)
        case _:
            return None


def element_of(
    words: Vocabulary, given: Sequence[Expr], turned: Sequence[tuple[Expr, tuple[str, ...]]]
) -> Taken | None:
    """`select(x, 0, 1)`: the elements of a tensor at a position of an axis; None of a condition with two values."""
    match given:
        case (Name() | Access() as of, Number() | Unary(operand=Number()) as axis, position) if (
            of.name not in words.masks
        ):
            pass
        case _:
            return None
    whole = spelled(words, of)
    order = next((order for node, order in turned if node is of), layout(words, whole))
    place = axis_at(axis, order)
    size = None if place is None else size_at(words, whole, place)
    if place is None or size is None:
        return None
    if (integer(position) or 0) < 0:
        position = total([(1, size), (1, position)], position.span)
    return placed(whole, {place: position}), tuple(i for i in order if i != place)


def _selected(words: Vocabulary, of: Name, axis: Expr, ids: Name) -> Taken | None:
    """`index_select(x, 0, ids)`: `x[ids[e], d]`."""
    indices, own = words.letters.get(of.name, ()), words.letters.get(ids.name, ())
    place = axis_at(axis, indices)
    if place is None or len(own) != 1 or own[0] in ("...", *(i for i in indices if i != place)):
        return None
    read = access_at(of.name, indices, of)
    at = indices.index(place)
    items = (*read.items[:at], access_at(ids.name, own, ids), *read.items[at + 1 :])
    return replace(read, items=items), (*indices[:at], *own, *indices[at + 1 :])


def _gathered(words: Vocabulary, of: Expr, axis: Expr, ids: Name | Access) -> Taken | None:
    """`gather(x, 1, ids)`: `x[n, ids[n]]` where `ids` has the other dims of `x`, and `x[n, ids[n, m]]` where it has one
    of its own in place of the axis."""
    if isinstance(ids, Access):  # of `ids.unsqueeze(1)`, whose new axis is gone with the last one
        for i in ids.items:
            words.places.pop(unparse(i) if isinstance(i, Name) else "", None)
        ids = Name(ids.name, ids.span)
    if not isinstance(of, Name) or ids.name not in words.integers:
        return None
    shape, given = words.shapes.get(of.name, ()), words.shapes.get(ids.name, ())
    place = axis_at(axis, indices := words.letters.get(of.name, ()))
    if place is None:
        return None
    at = indices.index(place)
    beside = shape[:at] + shape[at + 1 :]
    replaced = len(given) == len(shape) and given[:at] + given[at + 1 :] == beside and given[at] not in (*beside, "1")
    if given != beside and not replaced:
        return None
    other = words.letters[ids.name][at : at + 1] if replaced else ()
    if {*other} & {*indices[:at], *indices[at + 1 :]}:
        return None
    found = access_at(of.name, indices, of)
    position = access_at(ids.name, (*indices[:at], *other, *indices[at + 1 :]), ids)
    return replace(found, items=(*found.items[:at], position, *found.items[at + 1 :])), None


def trace(words: Vocabulary, of: Expr) -> Expr | None:
    """The sum of a diagonal; the rest of what has more axes stays as it is."""
    whole = spelled(words, of)
    if not isinstance(whole, Access) or len(whole.items) < 2:
        return None
    *before, first, second = whole.items
    if not isinstance(first, Name) or not isinstance(second, Name) or {first, second} & {*before}:
        return None
    body = replace(whole, items=(*before, first, first))
    return Reduction("sum", (Binder(first.name, None, first.span),), body, of.span, of.span)
