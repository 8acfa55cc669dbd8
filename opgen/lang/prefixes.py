"""What stands in front of a dot: a module, or a tensor that a method belongs to."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from opgen.diagnostics.suggest import closest
from opgen.lang.habits import ATTRIBUTES, METHODS, MODULES
from opgen.lang.nodes import Access, Expr, Name
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import nodes

_SHORT = 4  # letters of a name that others are near by chance


def is_module(words: Vocabulary, e: Expr) -> bool:
    """Whether a name is that of a module, whatever follows it."""
    if not isinstance(e, Name) or words.knows(e.name):
        return False
    return e.name in MODULES or is_dotted(e.span.text) or (e.name[:1].isupper() and len(e.name) > 1)


def is_dotted(text: str) -> bool:
    """Whether a text is names with dots between, and nothing else."""
    return "." in text and all(part.strip().isidentifier() for part in text.split("."))


def is_unknown(words: Vocabulary, e: Expr, bound: Collection[str]) -> bool:
    """Whether a name is nothing that the spec declares or assigns, nor likely a slip for it, so that it has no methods.

    A size has none either.
    """
    if (
        not isinstance(e, Name)
        or not (words.functions or words.assigned)
        or e.name in bound
        or e.name in words.assigned
    ):
        return False
    if words.knows(e.name):
        return e.name[:1].isupper() and e.name not in words.shapes
    known = (*words.shapes, *words.names, *words.assigned)
    return len(e.name) < _SHORT or closest(e.name, known) is None


def takes(function: str, given: Sequence[Expr]) -> bool:
    """Whether a call reads something, so that what it is applied to stands there; none of a distribution does."""
    return function not in METHODS and any(isinstance(n, Name | Access) for e in given for n in nodes(e))


def leads_on(word: str) -> bool:
    """Whether a word in front of a further dot may be a module in a module."""
    return word not in ATTRIBUTES
