"""Elements of what keeps its index, `cumsum[i](x[i])[::-1]`: it has a name in front of the statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opgen.diagnostics.model import Span
from opgen.lang.aligned import Orders, in_order, is_crossed
from opgen.lang.einops import PATTERNS, regrouped
from opgen.lang.groups import Within
from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import Access, Binder, Call, Dots, Expr, Name, Number, Reduction, Unary
from opgen.lang.notes import Notes
from opgen.lang.own_axes import with_own_axes
from opgen.lang.products import reindexed
from opgen.lang.reshaped import VIEWS
from opgen.lang.slices import Item, Slice, read_at, total
from opgen.lang.spread import Named, Spread, bound_in, placed, size_at
from opgen.lang.targets import size_text
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import SPARE, Vocabulary
from opgen.lang.walk import integer, names_read, nodes, rebuild, transform

# Functions that read what they are given at other places.
_MOVING = ("diff", "flip", "fliplr", "flipud", "glu", "interpolate", "roll", "upsample", *PATTERNS, *VIEWS)


def spread_named(notes: Notes, name: str, args: Sequence[Expr], named: Named) -> Spread | None:
    """What a call of another library means that has axes of its own; what keeps its index is moved by its name."""
    words = notes.words

    def step(e: Expr) -> Expr | None:
        nonlocal words
        if not isinstance(e, Reduction) or not words.reductions.get(e.name) or len(e.binders) != 1:
            return None
        free = layout(words, spelled(words, e.body))
        sizes = {i: extent(notes, spelled(words, e.body), i) for i in free}
        places = tuple(Dots(e.span) if i == "..." else Name(i, e.span) for i in free)
        read = named_first(notes, e, places, e.span)
        words = words if read is None else with_tensor(words, read.name, sizes)
        return read

    made = [transform(a, step) for a in args] if name in _MOVING else [*args]
    orders = [(m, order) for a, m in zip(args, made, strict=True) for node, order in notes.results if node is a]
    turned, crossed = [*notes.results, *orders], dict[str, tuple[Expr, tuple[str, ...]]]()
    for k, e in enumerate(made):
        if is_crossed(words, turned, e):
            if (axes := _axes(words, turned, e)) is None:
                return None
            sizes = {i: size_at(words, axes[0], i) or extent(notes, axes[0], i) for i in axes[1]}
            words = with_tensor(words, f"#{k}", sizes)
            made[k], crossed[f"#{k}"] = Name(f"#{k}", e.span), axes
    found = regrouped(words, name, made, named, turned, lambda e, i: size_at(words, e, i) or extent(notes, e, i))
    found = found or with_own_axes(words, name, made, named, turned)
    return found if found is None or not crossed else _read_in_order(found, crossed)


def _axes(words: Vocabulary, turned: Orders, e: Expr) -> tuple[Expr, tuple[str, ...]] | None:
    """A value at its indices, with these in the order of its axes; None where that is not certain."""
    found = in_order(words, turned, e)
    return None if found is None or found[1] is None else (spelled(words, found[0]), found[1])


def _read_in_order(made: Spread, values: Mapping[str, tuple[Expr, tuple[str, ...]]]) -> Spread | None:
    """A result with values read in place of the tensors that stood for them, whose axes have an order of their own."""
    whole = [n.name for n in nodes(made.node) if isinstance(n, Name) and n.name in values]
    filled = any(isinstance(n, Call) and n.name == "pad" for n in nodes(made.node))
    if whole or (filled and not all(isinstance(value, Access) for value, _ in values.values())):
        return None
    names = {n.name for n in nodes(made.node) if isinstance(n, Name)} | bound_in(made.node)

    def step(e: Expr) -> Expr:
        if not isinstance(e, Access) or e.name not in values:
            return rebuild(e, step)
        value, order = values[e.name]
        spare = (c for c in SPARE if c not in (*names, *order, *bound_in(value)))
        value = reindexed(value, {b: next(spare) for b in sorted(bound_in(value) & names)})
        places = zip(order, e.items, strict=True)
        return placed(value, {i: step(item) for i, item in places if not isinstance(item, Dots)})

    return replace(made, node=step(made.node))


def named_first(notes: Notes, e: Reduction, items: Sequence[Item], at: Span) -> Access | None:
    """The read of such elements, the line of their name noted; None where something is not clear."""
    words, binder = notes.words, e.binders[0]
    whole = spelled(words, e.body)
    free = layout(words, whole)
    if isinstance(binder, Binder) and binder.name not in free and len(free) == 1 and _is_whole(notes, e.body):
        whole, free = reindexed(whole, {free[0]: binder.name}), (binder.name,)
    of = whole.operand if isinstance(whole, Unary) else whole
    name = f"{e.name}_{of.name if isinstance(of, Access | Name) else 'x'}"
    if not isinstance(binder, Binder) or binder.name not in free or words.knows(name) or name in words.letters:
        return None
    sizes = {i: extent(notes, whole, i) for i in free}
    places: tuple[Expr | Dots, ...] | None = None
    if any(isinstance(i, Slice) or (isinstance(i, Dots) and "..." not in free) for i in items):
        places = _sliced(notes, e, name, items, sizes, at)
    if places is None:
        given = [i if isinstance(i, Dots) else spelled(words, i) for i in items if not isinstance(i, Slice)]
        if len(given) != len(items) or len(given) not in (1, len(free)):
            return None
        own = free if len(given) == len(free) else (binder.name,)
        other = {i: _from_the_end(item, sizes[i]) for i, item in zip(own, given, strict=True)}
        if any(isinstance(item, Dots) != (i == "...") for i, item in other.items()):
            return None
        places = tuple(other.get(i, Dots(at) if i == "..." else Name(i, at)) for i in free)
        notes.moved |= {n: size for i, item in other.items() if (size := sizes[i]) and (n := _back(item, size))}
    line = line_of(words, name, sizes, whole, replace(e, body=whole))
    notes.within.append(Within((line,), e, free, "", f"for elements of `{e.name}`, name them all"))
    return Access(name, places, e.span.to(at), e.span)


def line_of(words: Vocabulary, name: str, sizes: dict[str, Expr | None], whole: Expr, value: Expr) -> str:
    """The statement that names a value, with extents for the indices that stand alone in no access of `whole`."""
    shown = [i if size is None or size_at(words, whole, i) else f"{i} < {unparse(size)}" for i, size in sizes.items()]
    return f"{name}[{', '.join(shown)}] = {unparse(value)}"


def _is_whole(notes: Notes, e: Expr) -> bool:
    """Whether a tensor is read without an index of its own: bare, or by slices."""
    return isinstance(e, Name) or (isinstance(e, Access) and bool(notes.parts.get(e.name_span.start)))


def _from_the_end(item: Expr | Dots, size: Expr | None) -> Expr | Dots:
    """A place that is counted from the end, `-1`, counted from the start."""
    below = None if isinstance(item, Dots) else integer(item)
    if isinstance(item, Dots) or below is None or below >= 0 or size is None:
        return item
    return total([(1, size), (1, item)], item.span)


def _sliced(
    notes: Notes, e: Reduction, name: str, items: Sequence[Item], sizes: dict[str, Expr | None], at: Span
) -> tuple[Expr | Dots, ...] | None:
    """Where slices of a tensor of this name and these sizes read; how far they run is noted."""
    if not all(isinstance(size, Name | Number) for i, size in sizes.items() if i != "..."):
        return None
    found = read_at(with_tensor(notes.words, name, sizes), name, items, notes.left, notes.bound, at)
    if found is None:
        return None
    notes.parts[e.span.start] = found[1]
    return found[0]


def with_tensor(words: Vocabulary, name: str, sizes: dict[str, Expr | None]) -> Vocabulary:
    """A vocabulary with one more tensor, by its indices and how far they run."""
    shape = tuple("..." if size is None else size_text(size) for size in sizes.values())
    return replace(words, letters=words.letters | {name: (*sizes,)}, shapes=words.shapes | {name: shape})


def extent(notes: Notes, whole: Expr, index: str) -> Expr | None:
    """How far an index of a value runs: as what it reads there, from the first or from the last element on."""
    words = notes.words
    if (size := size_at(words, whole, index)) is not None:
        return size
    for a in (n for n in nodes(whole) if isinstance(n, Access)):
        if (size := notes.parts.get(a.name_span.start, {}).get(index)) is not None:
            return size
        for item, dim in zip(a.items, words.shapes.get(a.name, ()), strict=False):
            size = Number(int(dim), a.span) if dim.isdigit() else Name(dim, a.span)
            if dim != "..." and _back(item, size) == index:
                return size
    return notes.runs.get(index)


def _back(item: Expr | Dots, size: Expr) -> str:
    """The index by which a position counts from the last element, `n` of `N - 1 - n`; empty for any other."""
    if isinstance(item, Dots):
        return ""
    for index in (n for n in names_read(item) if n != unparse(size)):
        back = total([(1, size), (-1, Number(1, item.span)), (-1, Name(index, item.span))], item.span)
        if total([(1, item)], item.span) == back:
            return index
    return ""
