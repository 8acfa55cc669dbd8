"""Calls of other libraries that pick by order, with their arguments: `topk(x, k, dim=1, largest=False)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opgen.lang.habits import AXES, FUNCTIONS, ORDERED
from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import Expr, Name
from opgen.lang.notes import Notes
from opgen.lang.orders import through_order
from opgen.lang.spread import axis_of

_COUNTS = ("k", "q", "n")


def note_order(
    notes: Notes,
    name: str,
    of: Expr,
    axis: str | None,
    rest: Sequence[Expr],
    named: Mapping[str, Expr | tuple[Expr, ...]],
) -> None:
    """Say of what was noted last how the same is read through an order; `rest`: the arguments behind what it is of."""
    words, found = notes.words, notes.found[-1]
    whole = spelled(words, of)
    given = rest[0] if rest else next((e for k in _COUNTS if (e := named.get(k)) is not None), None)
    dim = next((named[word] for word in AXES if word in named), rest[1] if len(rest) > 1 else None)
    least = _is_least(named.get("largest", rest[2] if len(rest) > 2 else None))
    made: str | None = None
    if axis is None and dim is not None:
        axis = axis_of(words, layout(words, whole), dim, -1)
        least = None if axis is None else least
    if least is not None and not isinstance(given, tuple):
        made = through_order(
            words, name, whole, axis, given, notes.target, notes.left, tuple(notes.bound), found.span, least=least
        )
    if made:
        found.hints = tuple(h for h in found.hints if h != FUNCTIONS.get(name))
    notes.note_unclear(made or (ORDERED if name == "topk" and not least else ""))


def _is_least(largest: Expr | tuple[Expr, ...] | None) -> bool | None:
    """Whether the smallest elements are asked for; None where that is not written out."""
    match largest:
        case None | Name(name="True" | "true"):
            return False
        case Name(name="False" | "false"):
            return True
        case _:
            return None
