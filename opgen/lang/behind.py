"""What stands in the brackets of a reduction and belongs behind its body: `quantile[n, 0.75](x[n])`, `kth[n, 3](x[n])`.

In go the items of the brackets and what follows the body; out come both as they are meant, with what is said noted.
"""

from __future__ import annotations

from opgen.lang.ends import ended
from opgen.lang.habits import PLAIN
from opgen.lang.nodes import Dots, Expr, Name, Number, Product, Sum
from opgen.lang.notes import Notes
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import nodes

_BEHIND = "the `{0}` of `{1}` stands behind its body"


def in_brackets(
    notes: Notes, name: str, items: tuple[Expr | Dots, ...], body: Expr, more: Expr | None
) -> tuple[tuple[Expr | Dots, ...], Expr, Expr | None]:
    """The brackets with indices alone, the body, and what follows it: a number or a param at the end of the brackets
    of a reduction that takes one beside its body.
    """
    takes, last = notes.words.further.get(name), items[-1] if len(items) > 1 else None
    if takes and more is None and last is not None and not isinstance(last, Dots) and _is_number(notes.words, last):
        notes.note(last.span, PLAIN, _BEHIND.format(takes, name), code="OPG246")
        items, more = items[:-1], last
    return *ended(notes, items, body), more


def _is_number(words: Vocabulary, e: Expr) -> bool:
    """Whether an expression is made of numbers, dims and params, and so is no index."""
    parts = [*nodes(e)]
    sized = all(isinstance(n, Number | Sum | Product | Name) for n in parts)
    return sized and all(not isinstance(n, Name) or words.is_size(n.name) for n in parts)
