"""Writes through a mask, `x[:, m] = 0` and `y[x > 0] *= 2`: the mask at the indices of the tensor, and with the
statement of that, where it has been proposed, as the one choice that is meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opgen.diagnostics.model import Bag
from opgen.lang.layout import access_at, layout, spelled
from opgen.lang.new_axes import is_whole
from opgen.lang.nodes import Access, Assign, Binder, Call, Compare, Dots, Expr, Name, Product, Sum
from opgen.lang.picked_by_masks import is_mask
from opgen.lang.slices import Item, Slice
from opgen.lang.successive import Chain
from opgen.lang.unparse import unparse_assign
from opgen.lang.vocabulary import UNCLEAR, Vocabulary
from opgen.lang.walk import transform


def masked_items(words: Vocabulary, name: str, written: Sequence[Item]) -> tuple[Expr, ...]:
    """The mask of a target that has whole axes beside it, `x[:, m]` and `x[r]` of a matrix, at the indices of these;
    nothing for any other target.
    """
    masks = [i for i in written if not isinstance(i, Slice | Dots) and is_mask(words, i, ())]
    if len(masks) != 1 or not all(i is masks[0] or is_whole(i) for i in written):
        return ()
    made = _condition(words, name, masks[0], written.index(masks[0]))
    return () if made is None or len(layout(words, made)) == len(words.letters[name]) else (made,)


def _condition(words: Vocabulary, name: str, mask: Expr, place: int) -> Expr | None:
    """A mask at the indices of the axes of a tensor that it stands for."""
    own, made = words.letters.get(name, ()), spelled(words, mask)
    by = layout(words, made)
    known = bool(by) and not {UNCLEAR, "..."} & {*own}
    return made if known and own[place : place + len(by)] == by else None


def through_mask(
    bag: Bag, words: Vocabulary, chains: Mapping[str, Chain], proposed: list[Assign], s: Assign
) -> bool:  # fmt: skip
    """Whether a statement writes through a mask into what has been proposed further up; it is told with that."""
    name, chain = s.target.name, chains.get(s.target.name)
    at = next((k for k, o in enumerate(proposed) if o.target.name == name), None)
    if chain is None or chain.told is None or at is None or s.guard is not None or proposed[at].guard is not None:
        return False
    made = _chosen(words, proposed[at], s)
    if made is None:
        return False
    proposed[at] = made
    bag.join(*chain.told, s.target.span, (f"write `{unparse_assign(made)}`",))
    return True


def _chosen(words: Vocabulary, whole: Assign, s: Assign) -> Assign | None:
    """A statement of a whole with what another one makes of it that writes through a mask."""
    name, mask = s.target.name, _asked(s.target.items or ())
    if mask is None:
        return None
    left = words.letters.get(name, ())
    asked = is_mask(words, mask, ()) or (isinstance(mask, Access) and mask.name in words.masks)
    condition = _condition(words, name, mask, 0) if not isinstance(mask, Access) else mask
    if whole.op != "=" or not asked or condition is None:
        return None

    def unpicked(e: Expr) -> Expr | None:
        return Name(e.name, e.span) if isinstance(e, Access) and e.items == (mask,) else None

    value = spelled(words, transform(s.value, unpicked))
    if not {*layout(words, value)} <= {*left}:
        return None
    here = access_at(name, left, Name(name, s.span))
    condition, value = (transform(e, lambda n: whole.value if n == here else None) for e in (condition, value))
    match s.op:
        case "=":
            pass
        case "+=":
            value = Sum((("+", whole.value), ("+", value)), s.span)
        case "*=":
            value = Product((("*", whole.value), ("*", value)), s.span)
        case _:
            return None
    return replace(whole, value=Call("where", (condition, value, whole.value), s.span, s.span))


def _asked(items: Sequence[Binder | Dots | Expr]) -> Expr | None:
    """What stands alone in brackets, as it would be read in an access."""
    match items:
        case (Binder(name=name, extent=None, span=span),):
            return Name(name, span)
        case (Binder(name=name, extent=extent, span=span),) if extent is not None:
            return Compare((Name(name, span), extent), ("<",), span)
        case (mask,) if not isinstance(mask, Binder | Dots):
            return mask
        case _:
            return None
