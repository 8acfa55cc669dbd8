"""What stands in front of a dot: a module, or a tensor that a method belongs to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from types import MappingProxyType

from opgen.diagnostics.suggest import closest
from opgen.lang import habits
from opgen.lang.beside import Arguments
from opgen.lang.habits import ATTRIBUTES, METHODS, MODULES
from opgen.lang.nodes import Access, Expr, Name
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import nodes

_SHORT = 4  # letters of a name that others are near by chance


# Functions of R with a dot in their name.
_OF_R = MappingProxyType({
    "which.max": ("argmax", ": the position of the maximum, which counts from 0"),
    "which.min": ("argmin", ": the position of the minimum, which counts from 0"),
    **dict.fromkeys(("is.na", "is.nan"), ("isnan", "")),
    "is.finite": ("isfinite", ""),
    **dict.fromkeys(("as.numeric", "as.double"), ("float", "")),
    **dict.fromkeys(("as.integer",), ("int", "")),
    "log.sum.exp": ("logsumexp", ""),
})  # fmt: skip


def of_r(words: Vocabulary, e: Expr, word: str) -> tuple[str, str] | None:
    """What a function of R is called here that has a dot in its name, and what is said of it; None for others."""
    if not isinstance(e, Name) or words.knows(e.name):
        return None
    name, more = _OF_R.get(f"{e.name}.{word}", ("", ""))
    hint = "leave it away" if name == "float" else f"it is called `{name}`{more}"
    return (name, hint) if name else None


def hint_of(word: str, arguments: Arguments) -> str:
    """What is said of a method: those that convert do nothing here, unless they round to whole numbers or few bits."""
    names = [a.name for a in arguments.given if isinstance(a, Name)]
    rounded = any(n in habits.CASTS or ((m := habits.DTYPE.fullmatch(n)) and m["whole"]) for n in names)
    return habits.WIDER if word in habits.CONVERTING and not rounded else habits.PREFIXED


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
