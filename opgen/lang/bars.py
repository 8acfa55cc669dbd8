"""`|x[n] - z[m]|` between bars where `x` and `z` have further dims: the length of a vector, and no magnitude."""

from __future__ import annotations

from opgen.lang.layout import layout, spelled, stated
from opgen.lang.nodes import Access, Binder, Expr, Name, Reduction
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import nodes


def length(words: Vocabulary, e: Expr, left: tuple[str, ...]) -> Reduction | None:
    """The norm over the indices that what is read lacks; None where it lacks none, or those of the target."""
    whole = spelled(words, e)
    over = [i for i in layout(words, whole) if i not in stated(e)]
    if not over or "..." in over or not {*over}.isdisjoint(left) or not any(_is_part(words, n) for n in nodes(e)):
        return None
    return Reduction("norm", tuple(Binder(i, None, e.span) for i in over), whole, e.span, e.span)


def _is_part(words: Vocabulary, e: Expr) -> bool:
    """Whether it is a row of a tensor, read at its first indices alone."""
    letters = words.letters.get(e.name, ()) if isinstance(e, Access) else ()
    return isinstance(e, Access) and 0 < len(e.items) < len(letters) and all(isinstance(i, Name) for i in e.items)
