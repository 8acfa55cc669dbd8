"""A tensor of integers at the only position of one that has all its axes and one more: does it pick along that one?

`p[y]` of a `p` over [N, C] and a `y` over [N] is `p[n, y[n]]` to who has class numbers in `y`, and `p[y[n], c]` to who
lists rows. In go an access and the names of the spec; out comes the first where both are possible, or only that one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from opgen.lang.nodes import Access, Expr, Name
from opgen.lang.vocabulary import UNCLEAR, Vocabulary


@dataclass(frozen=True, slots=True)
class Picked:
    """The element that is picked, and whether nothing says that no rows are meant."""

    read: Access
    by: str
    doubtful: bool


def picked(words: Vocabulary, a: Access, reach: Collection[str]) -> Picked | None:
    """An access that picks along the one axis that its position lacks; None where it reads rows, or anything else.

    `reach`: the indices that the statement has; where the last axes of rows are among them, rows are meant.
    """
    own, shape = words.letters.get(a.name, ()), words.shapes.get(a.name, ())
    by = a.items[0] if len(a.items) == 1 else None
    if not isinstance(by, Access) or by.name not in words.integers or len(own) != len(shape):
        return None
    sizes = words.shapes.get(by.name, ())
    names = [i.name for i in by.items if isinstance(i, Name)]
    if not len(names) == len(by.items) == len(sizes) == len(shape) - 1 > 0 or {"...", UNCLEAR} & {*shape, *sizes}:
        return None
    rest = [*range(len(shape))]
    items: list[Expr] = [by] * len(shape)
    for name, size in zip(names, sizes, strict=True):
        place = next((k for k in rest if shape[k] == size), None)
        if place is None:
            return None
        rest.remove(place)
        items[place] = Name(name, by.span)
    end, along = words.ends.get(by.name, ""), shape[rest[0]]
    if (end == shape[0] and end != along) or all(i in reach for i in own[1:]):
        return None
    return Picked(replace(a, items=tuple(items)), by.name, doubtful=end != along or end == shape[0])
