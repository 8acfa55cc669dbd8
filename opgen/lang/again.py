"""A formula in the notation of other libraries, read once more in the place of a call that means it."""

from __future__ import annotations

from opgen.diagnostics.model import Bag, Source
from opgen.lang.aligned import aligned, is_by_place
from opgen.lang.cursor import StopError
from opgen.lang.expressions import ExpressionParser
from opgen.lang.lexer import T
from opgen.lang.nodes import Expr, Name
from opgen.lang.notes import Notes
from opgen.schema.formula import Formula


def read_again(text: str, notes: Notes) -> Expr | None:
    """The formula as it is meant in the statement of `notes`; None where that is not certain."""
    offsets = tuple(range(len(text) + 1))
    parser = ExpressionParser(Formula(text, Source("", text), offsets), Bag(), notes.words)
    own = parser.idioms
    own.left, own.bound = notes.left, notes.bound
    own.keeps = True
    own.chosen = [c.name for c in notes.counted if isinstance(c, Name)]
    try:
        found = parser.expression()
    except StopError:
        return None
    unclear = own.unclear or own.parts or parser.bag.has_errors or parser.token.kind is not T.END
    if unclear:
        return None
    if is_by_place(notes.words, found):
        made = aligned(notes.words, own.results, found)
        if made is None:
            return None
        found = made.node
        notes.words.axes.append((found, made.order))
    notes.results += own.results
    notes.runs |= own.runs
    notes.counted += own.counted
    notes.counts |= own.counts
    notes.within += own.within
    return found
