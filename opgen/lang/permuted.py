"""The order that `permute(x, 0, 2, 1)`, `transpose(x, 1, 2)` and `movedim(x, 0, -1)` give the axes of a tensor.

In go the arguments of the call, out come the indices in that order; None where the axes are not known.
"""

from __future__ import annotations

from collections.abc import Sequence

from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import Expr
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import integer

_TWO = 2
PERMUTING = ("permute", "transpose", "swapaxes", "swapdims", "movedim", "moveaxis")


def permuted(
    words: Vocabulary, name: str, args: Sequence[Expr], turned: Sequence[tuple[Expr, tuple[str, ...]]]
) -> tuple[str, ...] | None:
    """The order of the axes of a tensor that such a call gives them."""
    of, *given = args
    name = "permute" if name == "transpose" and len(given) > _TWO else name  # as NumPy has it
    found = next((order for node, order in turned if node is of), None) or layout(words, spelled(words, of))
    places = [integer(axis) for axis in given]
    if found[:1] == ("...",):
        return _behind_batch(found, name, [p for p in places if p is not None]) if None not in places else None
    if "..." in found or not all(p is not None and -len(found) <= p < len(found) for p in places):
        return None
    axes = [p % len(found) for p in places if p is not None]
    if name == "permute":
        return tuple(found[k] for k in axes) if sorted(axes) == [*range(len(found))] else None
    return _moved(found, name, axes) if len(axes) == _TWO else None


def _moved(found: Sequence[str], name: str, axes: Sequence[int]) -> tuple[str, ...]:
    """The order where two axes change places, or one of them stands where the other one is."""
    order, (a, b) = [*found], axes
    if name.startswith("move"):
        order.insert(b, order.pop(a))
    else:
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
    if len(places) != _TWO or not all(-len(named) <= p < 0 for p in places):
        return None
    return ("...", *_moved(named, name, [p % len(named) for p in places]))
