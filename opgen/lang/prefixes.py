"""What stands in front of a dot: a module, or a tensor that a method belongs to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from types import MappingProxyType

from opgen.diagnostics.suggest import closest
from opgen.lang import habits
from opgen.lang.beside import Arguments
from opgen.lang.habits import ATTRIBUTES, METHODS, MODULES
from opgen.lang.nodes import Access, Expr, Name, Number
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import nodes

_SHORT = 4  # letters of a name that others are near by chance


# Attributes that are functions here.
CALLED = MappingProxyType({"real": "real", "imag": "imag", "data": "detach"})

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


# What NumPy does with a function of two along an axis, the first one unless another is named.
_REDUCED = MappingProxyType({
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logaddexp": "logsumexp",
    "logical_or": "any", "logical_and": "all",
})  # fmt: skip
_RUNNING = MappingProxyType({
    "add": "cumsum", "multiply": "cumprod", "maximum": "cummax", "minimum": "cummin", "logaddexp": "logcumsumexp",
})  # fmt: skip
_ALONG = MappingProxyType({"reduce": _REDUCED, "accumulate": _RUNNING, "outer": {"multiply": "outer"}})


def with_dots(words: Vocabulary, e: Expr, word: str, a: Arguments) -> tuple[str, str, Arguments] | None:
    """What a function is called here that has a dot in its name, what is said of it, and with which arguments."""
    if not isinstance(e, Name) or words.knows(e.name):
        return None
    name, more = _OF_R.get(f"{e.name}.{word}", ("", ""))
    if name:
        return name, "leave it away" if name == "float" else f"it is called `{name}`{more}", a
    name = _ALONG.get(word, {}).get(e.name, "") if is_dotted(e.span.text) else ""
    if word != "outer" and len(a.given) == 1 and not a.named:
        a = replace(a, named={"dim": Number(0, e.span)})
    return (name, f"it is called `{name}`", a) if name else None


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
