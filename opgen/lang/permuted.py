"""The order that `permute(x, 0, 2, 1)` and `transpose(x, 1, 2)` give the axes of a tensor.

In go the arguments of the call, out come the indices in that order; None where the axes are not known.
"""

from __future__ import annotations

from collections.abc import Sequence

from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import Expr
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import integer


def permuted(
    words: Vocabulary, name: str, args: Sequence[Expr], turned: Sequence[tuple[Expr, tuple[str, ...]]]
) -> tuple[str, ...] | None:
    """The order of the axes of a tensor that `permute(x, 0, 2, 1)` or `transpose(x, 1, 2)` gives them."""
    of, *given = args
    found = next((order for node, order in turned if node is of), None) or layout(words, spelled(words, of))
    places = [integer(axis) for axis in given]
    if found[:1] == ("...",):
        return _behind_batch(found, name, [p for p in places if p is not None]) if None not in places else None
    if "..." in found or not all(p is not None and -len(found) <= p < len(found) for p in places):
        return None
    axes = [p % len(found) for p in places if p is not None]
    if name == "permute":
        return tuple(found[k] for k in axes) if sorted(axes) == [*range(len(found))] else None
    order, (a, b) = [*found], (axes[0], axes[-1])
    order[a], order[b] = order[b], order[a]
    return tuple(order)


def _behind_batch(found: tuple[str, ...], name: str, places: Sequence[int]) -> tuple[str, ...] | None:
    """The same behind batch dims, as many as `permute` leaves in front, or where axes are counted from the end."""
    batch, named = len(places) - len(found) + 1, found[1:]
    if name == "permute":
        axes = [p % len(places) for p in places]
        if batch < 1 or axes[:batch] != [*range(batch)] or sorted(axes) != [*range(len(places))]:
            return None
        return ("...", *(named[k - batch] for k in axes[batch:]))
    if not all(-len(named) <= p < 0 for p in places):
        return None
    order, (a, b) = [*found], (places[0], places[-1])
    order[a], order[b] = order[b], order[a]
    return tuple(order)
