"""Calls of other libraries that pick by order, with their arguments: `topk(x, k, dim=1, largest=False)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opgen.lang.habits import AXES, FUNCTIONS, ORDERED
from opgen.lang.layout import layout, spelled
from opgen.lang.named_first import extent, line_of, with_tensor
from opgen.lang.nodes import Access, Binder, Dots, Expr, Name, Number, Reduction, Unary
from opgen.lang.notes import Notes
from opgen.lang.orders import RUNNING, through_order
from opgen.lang.spread import axis_of
from opgen.lang.vocabulary import SPARE, Vocabulary

_FIRST = "what is picked from has a name of its own"
_COUNTS = ("k", "q", "n")


def note_order(
    notes: Notes,
    name: str,
    of: Expr,
    axis: str | None,
    rest: Sequence[Expr],
    named: Mapping[str, Expr | tuple[Expr, ...]],
) -> bool:
    """Say of what was noted last how the same is read through an order, if that is known.

    `rest`: the arguments behind what it is of.
    """
    words, found = notes.words, notes.found[-1]
    whole = spelled(words, of)
    given = rest[0] if rest else next((e for k in _COUNTS if (e := named.get(k)) is not None), None)
    places = [None, *rest] if name in RUNNING else [*rest]  # which take an axis alone
    dim = next((named[word] for word in AXES if word in named), places[1] if len(places) > 1 else None)
    least = _is_least(named.get("largest", rest[2] if len(rest) > 2 else None))
    made: str | None = None
    if axis is None and dim is not None:
        axis = axis_of(words, layout(words, whole), dim, -1)
        least = None if axis is None else least
    words, whole, line = (None if name in RUNNING else _named(notes, whole)) or (words, whole, "")
    if least is not None and not isinstance(given, tuple):
        made = through_order(
            words, name, whole, axis, given, notes.target, notes.left, tuple(notes.bound), found.span, least=least
        )
    made = f"{_FIRST}: `{line}`; then {made}" if made and line else made
    if made:
        found.hints, found.otherwise = tuple(h for h in found.hints if h != FUNCTIONS.get(name)), ""
        for read in (f for f in notes.found if of.span.start <= f.span.start < of.span.end):
            read.otherwise = ""  # it is in what is said
    notes.note_unclear(made or (ORDERED if name == "topk" and not least else ""))
    return made is not None


def _named(notes: Notes, whole: Expr) -> tuple[Vocabulary, Expr, str] | None:
    """A value that is no tensor, such as `softmax[e](x[n, e])`, under a name of its own, and the line of that name."""
    words, at = notes.words, whole.span
    if isinstance(whole, Unary) and whole.op == "-":  # whose order is the other one
        found = _named(notes, whole.operand)
        return None if found is None else (found[0], replace(whole, operand=found[1]), found[2])
    kept = isinstance(whole, Reduction) and words.reductions.get(whole.name) is True
    if isinstance(whole, Access | Name | Number) or (isinstance(whole, Reduction) and not kept):
        return None
    read = whole.body if isinstance(whole, Reduction) else whole
    free = layout(words, read)
    used = (*free, *notes.left, *notes.bound, notes.target, *words.letters)
    if not free or (
        isinstance(whole, Reduction) and any(not isinstance(b, Binder) or b.name not in free for b in whole.binders)
    ):
        return None
    name = next(c for c in ("p", "v", *SPARE) if c not in used and not words.knows(c))
    sizes = {i: extent(notes, read, i) for i in free}
    items = tuple(Dots(at) if i == "..." else Name(i, at) for i in free)
    return with_tensor(words, name, sizes), Access(name, items, at, at), line_of(words, name, sizes, read, whole)


def _is_least(largest: Expr | tuple[Expr, ...] | None) -> bool | None:
    """Whether the smallest elements are asked for; None where that is not written out."""
    match largest:
        case None | Name(name="True" | "true"):
            return False
        case Name(name="False" | "false"):
            return True
        case _:
            return None
