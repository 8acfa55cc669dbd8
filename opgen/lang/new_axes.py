"""New axes of other languages, `x[:, None]`: here an index lines up by its name, and not by its place."""

from __future__ import annotations

from collections.abc import Sequence

from opgen.diagnostics.model import Source, Span
from opgen.lang.layout import indices_of
from opgen.lang.nodes import Access, Dots, Expr, Name, Reduction
from opgen.lang.slices import Item, Slice
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import SPARE, Vocabulary
from opgen.lang.walk import integer, nodes


def is_whole(item: Item) -> bool:
    """Whether an item is `:`."""
    return isinstance(item, Slice) and item.start is None and item.stop is None and item.step is None


def are_parted(items: Sequence[Item]) -> bool:
    """Whether a slice stands between lists of positions behind another one: NumPy puts what they read in front."""
    listed = [k for k, item in enumerate(items) if isinstance(item, Access)]
    return bool(listed) and listed[0] > 0 and listed[-1] - listed[0] >= len(listed)


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
    if sum(isinstance(i, Dots) for i in items) == 1:
        items = _with_dots_for_all(items, own, at)
    axes = len(items) - items.count(at)
    if any(isinstance(i, Dots) for i in items) != ("..." in own) or ("..." in left and "..." not in own):
        return None
    if axes > len(own) or not all(i == at or is_whole(i) or isinstance(i, Dots) for i in items):
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
        if "..." in (wish, there):
            if wish != there and (there is not None or wish in words.places):
                return None  # the batch stands at another place there
            words.places[wish] = place
            made.append(Dots(at.span))
            continue
        free = wish if wish not in words.places else next(c for c in SPARE if not (words.knows(c) or c in words.places))
        words.places[there or free] = place
        made.append(Name(there or free, at.span))
    return tuple(made)


def _with_dots_for_all(items: Sequence[Item], own: Sequence[str], at: Name) -> Sequence[Item]:
    """The items with `:` for each axis that `...` stands for beside the batch."""
    k, whole = next(k for k, i in enumerate(items) if isinstance(i, Dots)), Slice(None, None, None, at.span)
    before, after = ([i for i in part if i != at] for part in (items[:k], items[k + 1 :]))
    if "..." not in own:
        return [*items[:k], *[whole] * (len(own) - len(before) - len(after)), *items[k + 1 :]]
    batch = own.index("...")
    front, back = [whole] * (batch - len(before)), [whole] * (len(own) - 1 - batch - len(after))
    return [*items[:k], *front, items[k], *back, *items[k + 1 :]]


def _begin_with(words: Vocabulary, name: str, new: Sequence[bool], left: Sequence[str]) -> bool:
    """Whether the first axes may be at these indices: none of them is called like another dim."""
    sizes = iter(words.shapes.get(name, ()))
    own = [None if is_new else next(sizes, None) for is_new in new]
    dims = {size for shape in words.shapes.values() for size in shape}
    return all(size is None or i == size.lower() or i.upper() not in dims for i, size in zip(left, own, strict=False))


def stretched(words: Vocabulary, name: str, args: Sequence[Expr], left: Sequence[str]) -> Access | None:
    """`x.unsqueeze(1)` read so, and `x.view(N, 1)`."""
    of, *given = args
    own = words.letters.get(of.name, ()) if isinstance(of, Name) else ()
    whole: list[Item] = [Dots(of.span) if i == "..." else Slice(None, None, None, of.span) for i in own]
    new = [integer(e) for e in given]
    match name, new:
        case "unsqueeze", [int(place)] if own and -len(own) - 1 <= place <= len(own):
            at = place if place >= 0 else len(own) + 1 + place
            if "..." in own[at:]:
                return None  # among the axes of the batch
            whole.insert(at, Name("None", of.span))
        case "view" | "reshape", _ if 1 in new and "..." not in own:
            shape = words.shapes.get(of.name, ()) if isinstance(of, Name) else ()
            kept = [e for e, number in zip(given, new, strict=True) if number != 1]
            if [*map(unparse, kept)] != [*shape] and [integer(e) for e in kept] != [-1] * len(shape):
                return None
            whole = [Name("None", of.span) if number == 1 else Slice(None, None, None, of.span) for number in new]
        case _:
            return None
    assert isinstance(of, Name)
    items = lined_up_from_behind(words, of.name, whole, left)
    return None if items is None else Access(of.name, items, of.span, of.span)


def are_lined_up(words: Vocabulary, value: Expr) -> bool:
    """Whether every index stands at one place from behind, beside new axes; without any it makes no difference."""
    if not words.places:
        return True
    reduced = any(isinstance(n, Reduction) for n in nodes(value))
    bare = any(isinstance(n, Name) and words.letters.get(n.name) == ("...",) for n in nodes(value))
    if bare and words.places.setdefault("...", 0):
        return False
    for a in (n for n in nodes(value) if isinstance(n, Access)):
        for place, item in zip(range(len(a.items) - 1, -1, -1), a.items, strict=True):
            beside = len(a.items) > max(words.places.values())  # of all axes, so that they are in order
            read = ["..."] if isinstance(item, Dots) else indices_of(words, item)
            index = read[0] if len(read) == 1 else ""
            if not index or (reduced and index not in words.places and not beside):
                return False
            taken = [i for i, p in words.places.items() if p == place and i != index]
            if index not in words.places and taken:
                return False
            if words.places.setdefault(index, place) != place and index == "..." and item.span.text:
                return False  # the batch stands at another place where it was not lined up
    return True
