"""New axes of other languages, `x[:, None]`: here an index lines up by its name, and not by its place."""

from __future__ import annotations

from collections.abc import Sequence

from opgen.diagnostics.model import Source, Span
from opgen.lang.nodes import Access, Dots, Expr, Name, Reduction
from opgen.lang.slices import Item, Slice
from opgen.lang.vocabulary import SPARE, Vocabulary
from opgen.lang.walk import integer, nodes


def is_whole(item: Item) -> bool:
    """Whether an item is `:`."""
    return isinstance(item, Slice) and item.start is None and item.stop is None and item.step is None


def along_new_axes(
    words: Vocabulary, name: str, items: Sequence[Item], left: Sequence[str]
) -> tuple[Expr | Dots, ...] | None:
    """What `x[:, None]` reads where the target names an index for each of its axes but those that are named."""
    letters, new = words.letters.get(name, ()), sum(isinstance(i, Name) and i.name == "None" for i in items)
    if "..." not in letters and not any(isinstance(i, Dots) for i in items):  # axes that are not mentioned follow
        whole = Slice(None, None, None, items[0].span)
        items = [*items, *[whole] * (len(letters) + new - len(items))]
    own = [isinstance(i, Name) and i.name != "None" for i in items]
    named = {i.name for i in items if isinstance(i, Name)}
    axes = [i for i in left if i not in named]
    rest = own.count(False)
    if rest > len(axes) or (rest < len(axes) and any(own)):
        return None
    indices = iter(axes[len(axes) - rest :])
    made: list[Expr | Dots] = []
    for item, is_named in zip(items, own, strict=True):
        index = "" if is_named else next(indices)
        if isinstance(item, Dots) != (index == "..."):
            return None
        if is_whole(item):
            made.append(Name(index, item.span))
        elif isinstance(item, Dots) or (is_named and isinstance(item, Name)):
            made.append(item)
        elif not isinstance(item, Name):
            return None
    return tuple(made)


def lined_up_from_behind(
    words: Vocabulary, name: str, items: Sequence[Item], left: Sequence[str]
) -> tuple[Expr | Dots, ...] | None:
    """The same where no target names an index for each axis: what stands at one place from behind has one index.

    Those of a target are the first ones, where the others are reduced over.
    """
    own, at = words.letters.get(name, ()), Name("None", Span(Source("", ""), 0, 0))
    if "..." not in own and sum(isinstance(i, Dots) for i in items) == 1:  # all axes that are not mentioned
        k = next(k for k, i in enumerate(items) if isinstance(i, Dots))
        whole = Slice(None, None, None, at.span)
        items = [*items[:k], *[whole] * (len(own) - len(items) + 1 + items.count(at)), *items[k + 1 :]]
    axes = len(items) - items.count(at)
    if "..." in (*own, *left) or axes > len(own) or not all(i == at or is_whole(i) for i in items):
        return None
    shown = [*items, *([None] * (len(own) - axes))]  # axes that are not mentioned follow
    if len(shown) >= len(left) and _begin_with(words, name, [i == at for i in shown], left):
        words.places.update({i: len(shown) - 1 - k for k, i in enumerate(left)})
    wishes = iter(own)
    made: list[Expr | Dots] = []
    for place, item in zip(range(len(shown) - 1, -1, -1), shown, strict=True):
        if item == at:
            continue
        wish = next(wishes)
        there = next((i for i, p in words.places.items() if p == place), None)
        free = wish if wish not in words.places else next(c for c in SPARE if not (words.knows(c) or c in words.places))
        words.places[there or free] = place
        made.append(Name(there or free, at.span))
    return tuple(made)


def _begin_with(words: Vocabulary, name: str, new: Sequence[bool], left: Sequence[str]) -> bool:
    """Whether the first axes may be at these indices: none of them is called like another dim."""
    sizes = iter(words.shapes.get(name, ()))
    own = [None if is_new else next(sizes, None) for is_new in new]
    dims = {size for shape in words.shapes.values() for size in shape}
    return all(size is None or i == size.lower() or i.upper() not in dims for i, size in zip(left, own, strict=False))


def stretched(words: Vocabulary, of: Expr, axis: Expr, left: Sequence[str]) -> Access | None:
    """`x.unsqueeze(1)` read so."""
    place, own = integer(axis), words.letters.get(of.name, ()) if isinstance(of, Name) else ()
    if not isinstance(of, Name) or place is None or not own or not -len(own) - 1 <= place <= len(own):
        return None
    whole: list[Item] = [Slice(None, None, None, of.span)] * len(own)
    whole.insert(place if place >= 0 else len(own) + 1 + place, Name("None", of.span))
    items = lined_up_from_behind(words, of.name, whole, left)
    return None if items is None else Access(of.name, items, of.span, of.span)


def are_lined_up(words: Vocabulary, value: Expr) -> bool:
    """Whether every index stands at one place from behind, beside new axes; without any it makes no difference."""
    reduced = any(isinstance(n, Reduction) for n in nodes(value))
    for a in (n for n in nodes(value) if isinstance(n, Access) and words.places):
        for place, item in zip(range(len(a.items) - 1, -1, -1), a.items, strict=True):
            beside = len(a.items) > max(words.places.values())  # of all axes, so that they are in order
            if not isinstance(item, Name) or (reduced and item.name not in words.places and not beside):
                return False
            taken = [i for i, p in words.places.items() if p == place and i != item.name]
            if item.name not in words.places and taken:
                return False
            words.places.setdefault(item.name, place)
    return True
