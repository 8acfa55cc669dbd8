"""Reductions over the elements that a mask picks, `x[m].mean()` and `sum(x[x > 0])`, as those under a condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opgen.lang.habits import AXES
from opgen.lang.layout import access_at, layout, spelled
from opgen.lang.limits import NOTHING
from opgen.lang.nodes import Access, Binder, Call, Compare, Dots, Expr, Logic, Name, Product, Reduction, Unary
from opgen.lang.vocabulary import UNCLEAR, Vocabulary
from opgen.lang.walk import integer


def is_mask(words: Vocabulary, e: Expr | Dots, left: Sequence[str]) -> bool:
    """Whether a position is a condition on elements; `left`: the indices of the target."""
    match e:
        case Name(name=name):
            return name in words.masks and name not in left
        case Compare() | Logic() | Unary(op="not"):
            return True
        case _:
            return False


def selected(args: Sequence[Expr]) -> Access | None:
    """`masked_select(x, m)`, as `x[m]`."""
    match args:
        case (Name(name=name, span=span), mask):
            return Access(name, (mask,), span, span)
        case _:
            return None


def over_picked(
    words: Vocabulary, name: str, of: Access, place: int, rest: Sequence[Expr], named: Mapping[str, object]
) -> Expr | None:
    """A reduction over what a mask at an axis picks; None for other functions, and for a mask with other axes than
    the tensor.
    """
    (mask,), at = of.items, of.name_span
    known = words.reductions.get(name) is False and name in (*NOTHING, "mean")
    if isinstance(mask, Dots) or not known or not {*named} <= {*AXES} or len(rest) + len(named) > 1:
        return None
    axis = next(iter((*rest, *named.values())), None)
    own, condition = words.letters.get(of.name, ()), spelled(words, mask)
    by = layout(words, condition)
    left = len(own) - len(by) + 1  # axes of what is picked, where those of the mask are one
    picked = axis is not None and isinstance(axis, Expr) and integer(axis) in (place, place - left)
    if not by or own[place : place + len(by)] != by or {"...", UNCLEAR} & {*own} or not (axis is None or picked):
        return None
    over = tuple(Binder(i, None, at) for i in (by if picked else own))
    read = access_at(of.name, own, Name(of.name, at))
    if name == "mean":
        summed = Reduction("sum", over, Call("where", (condition, read, NOTHING["sum"](at)), at, at), at, at)
        count = Reduction("count", over, condition, at, at)
        return Product((("*", summed), ("/", count)), at) if len(over) == len(by) else None
    return Reduction(name, over, Call("where", (condition, read, NOTHING[name](at)), at, at), at, at)
