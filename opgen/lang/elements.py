"""`(q[b] @ k[b].T)[i, j]`: positions behind a value whose indices have an order name the last of them anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opgen.diagnostics.model import Source, Span
from opgen.lang.circles import shift_of
from opgen.lang.habits import ELEMENT
from opgen.lang.idioms import Idioms
from opgen.lang.named_first import named_first
from opgen.lang.nodes import Access, Call, Dots, Expr, Name, Number, Reduction, Sum, Unary
from opgen.lang.orders import has_both, places_of
from opgen.lang.products import reindexed
from opgen.lang.slices import Item, Slice
from opgen.lang.spread import at as place_at
from opgen.lang.unparse import unparse
from opgen.lang.walk import integer, names_read, nodes

_PLACES = tuple(Number(k, Span(Source("", ""), 0, 0)) for k in (0, 1))


def has_order(idioms: Idioms, e: Expr) -> bool:
    """Whether it is known which index stands at which place of a value."""
    if isinstance(e, Unary) and e.op == "-":  # an order that begins at the greatest
        return isinstance(e.operand, Reduction) and has_order(idioms, e.operand)
    kept = isinstance(e, Reduction) and idioms.words.reductions.get(e.name) is True and len(e.binders) == 1
    return (
        kept
        or _has_both(idioms, e)
        or any(node is e for node, _ in idioms.results)
        or any(node is e for node in idioms.counted)
    )


def _has_both(idioms: Idioms, e: Expr) -> bool:
    """Whether it is `x.max(dim=1)`, which other libraries give with its place."""
    return has_both(e) and bool(idioms.found)


def _of_kept(idioms: Idioms, e: Reduction, items: Sequence[Item], at: Span) -> Expr | None:
    """`log_softmax[c](x[n, c])[t[n]]`: an element of what keeps its index, which is named in front of the statement."""
    words = idioms.words
    chosen = (*idioms.left, *idioms.bound, *idioms.chosen, *words.integers, *words.sizes)
    plain = [i for i in items if isinstance(i, Name) and not i.name[:1].isupper()]
    if any(i.name not in chosen and not any(i is c for c in idioms.counted) for i in plain):
        idioms.unclear = True
        return e
    read = named_first(idioms, e, [i if isinstance(i, Dots | Slice) else idioms.position(i) for i in items], at)
    if read is not None:
        idioms.note(at, "only a tensor has elements")
    return read


def of_call(idioms: Idioms, e: Expr) -> Name | Access | None:
    """The tensor of which a call is taken element by element, `pad(x, 0)` and `exp(x)`; None where that is not sure."""
    words = idioms.words
    if not isinstance(e, Call) or not e.args or not (e.name == "pad" or e.name in words.functions):
        return None
    first, *others = e.args
    if _width(idioms, e) is not None and isinstance(first, Name):
        return first
    is_fill = [integer(o) or 0 for o in others] == [0] and not isinstance(others[0], Call)  # and no width
    read = (n for a in others for n in nodes(a))
    is_alone = not any(isinstance(n, Access) or (isinstance(n, Name) and words.letters.get(n.name, ())) for n in read)
    if not isinstance(first, Name | Access) or not is_alone or (e.name == "pad" and not is_fill):
        return None
    items = () if isinstance(first, Name) else first.items
    is_plain = all(isinstance(i, Name | Dots) for i in items) and len({*items}) == len(items)
    return first if is_plain and words.letters.get(first.name, ()) else None


def _width(idioms: Idioms, e: Call) -> Expr | None:
    """How many places `pad(x, 1)` of other libraries puts in front of a tensor, along each axis that it names."""
    of, width = e.args if len(e.args) == 2 else (None, None)
    whole = isinstance(width, Number) and isinstance(width.value, int) and width.value > 0
    if e.name != "pad" or not whole or not isinstance(of, Name) or not idioms.words.letters.get(of.name, ()):
        return None
    return width


def _less(e: Expr, by: Expr) -> Expr:
    """A position as many places earlier."""
    terms: tuple[tuple[str, Expr], ...] = e.terms if isinstance(e, Sum) else (("+", e),)
    *before, (sign, last) = terms
    if not before or sign == "-" or not isinstance(last, Number) or not isinstance(by, Number):
        return Sum((*terms, ("-", by)), e.span)
    ahead = last.value - by.value
    added = (("+" if ahead > 0 else "-", Number(ahead if ahead > 0 else -ahead, e.span)),) if ahead else ()
    return Sum((*before, *added), e.span) if added or len(before) > 1 else before[0][1]


def placed(idioms: Idioms, e: Call, of: Name | Access, items: Sequence[Expr | Dots], at: Span) -> Expr:
    """`pad(x, 0)[i - 1]` as it is meant: `pad(x[i - 1], 0)`."""
    args: tuple[Expr, ...] = e.args[1:]
    width = _width(idioms, e)
    if width is not None:
        idioms.unclear |= any((s := shift_of(i)) is not None and s.offset < 0 for i in items if not isinstance(i, Dots))
        items = [i if isinstance(i, Dots) else _less(i, width) for i in items]
        args = (Number(0, at),)
    read = Access(of.name, tuple(items), of.span, of.span)
    made = replace(e, args=(read, *args), span=e.span.to(at))
    fits = len(items) == len(idioms.words.letters[of.name])
    what = "`pad` covers one access, with its positions" if e.name == "pad" else "only a tensor has elements"
    idioms.note(at, what, f"the positions stand behind the tensor: `{unparse(made)}`" if fits else ELEMENT)
    idioms.unclear |= not fits
    for item, size in zip(items, idioms.words.shapes.get(of.name, ()) if fits else (), strict=False):
        step = None if isinstance(item, Dots) else shift_of(item)
        if step is not None and size != "...":
            idioms.moved[step.index] = Number(int(size), at) if size.isdigit() else Name(size, at)
    return made


def _counted_at(idioms: Idioms, e: Expr, items: Sequence[Item]) -> Expr:
    """`arange(N)[n]`: what is counted at an index in reach is the index; anywhere else it is the whole of it."""
    item = items[0] if len(items) == 1 else None
    if not isinstance(e, Name) or not isinstance(item, Name) or item.name not in (*idioms.left, *idioms.bound):
        return e
    idioms.counted = [c for c in idioms.counted if c is not e]
    idioms.runs[item.name] = idioms.counts[e.name]
    return item


def of_slices(idioms: Idioms, e: Access, items: Sequence[Expr | Dots]) -> Access | None:
    """`w[::-1][r]`, an element of what slices read, at its place in the tensor; None where there are no slices."""
    axes = idioms.parts.get(e.name_span.start, {})
    places = [i for i in items if not isinstance(i, Dots)]
    own = [*axes] if len(items) < len(e.items) else [_index_of(i, axes) for i in e.items]
    if not axes:
        return None
    idioms.unclear |= not len(places) == len(items) == len(own)
    if any(o in names_read(i) for index, i in zip(own, places, strict=False) for o in own if o != index):
        idioms.unclear = True  # one would be read at the place of another
    made: Expr = e
    for index, item in zip(own, places, strict=False):
        if isinstance(item, Name) and (size := axes.get(index)) is not None:
            idioms.moved[item.name] = size
        made = place_at(made, index, item)
    idioms.parts[e.name_span.start] = {i: size for i, size in axes.items() if i not in own}
    idioms.grown = ()
    return made if isinstance(made, Access) else None


def _index_of(item: Expr | Dots, axes: Mapping[str, Expr | None]) -> str:
    """The index of an axis that has been read whole or as a slice."""
    if isinstance(item, Dots):
        return ""
    return item.name if isinstance(item, Name) else next((i for i in axes if i in names_read(item)), "")


def elements(idioms: Idioms, e: Expr, items: Sequence[Item], at: Span) -> Expr:
    """The value with these indices in place of its own; what has no order is told not to be there anyway."""
    if isinstance(e, Unary):
        read = elements(idioms, e.operand, items, at)
        is_place = isinstance(read, Reduction) and isinstance(e.operand, Reduction) and read.name != e.operand.name
        return read if is_place else Unary(e.op, read, e.span.to(at))
    order = next((order for node, order in idioms.results if node is e), None)
    if isinstance(e, Reduction) and _has_both(idioms, e) and len(items) == 1 and items[0] in _PLACES:
        places = None if items[0] == _PLACES[0] else places_of(e)
        idioms.unclear |= places is None and items[0] != _PLACES[0]
        return places or e
    if isinstance(e, Reduction) and (kept := _of_kept(idioms, e, items, at)) is not None:
        return kept
    if any(node is e for node in idioms.counted):
        return _counted_at(idioms, e, items)
    if order is None and isinstance(e, Reduction) and e.name in idioms.words.reductions:
        idioms.note(at, "only a tensor has elements", ELEMENT)
        idioms.unclear = True
    if order is None:
        return replace(e, span=e.span.to(at))
    idioms.note(at, "only a tensor has elements", otherwise=ELEMENT)
    names = [i.name for i in items if isinstance(i, Name)]
    own = order[len(order) - len(items) :]
    used = {n.name for n in nodes(e) if isinstance(n, Name)} - {*own}
    if len(names) < len(items) or len(own) < len(items) or "..." in own or not used.isdisjoint(names):
        idioms.unclear = True
        return e
    meant = reindexed(e, dict(zip(own, names, strict=True)))
    made = (*order[: len(order) - len(items)], *names)
    idioms.results = [r for r in idioms.results if r[0] is not e] + [(meant, made)]
    return meant
