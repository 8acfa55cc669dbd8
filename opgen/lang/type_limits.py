"""The least and the greatest number of a dtype, `torch.finfo(x.dtype).min`, which stand for an infinity here.

The text of a formula and a place in it in; out come the name of the limit and where it ends.
"""

from __future__ import annotations

import re

from opgen.diagnostics.model import Span
from opgen.lang.nodes import Expr, Name, Unary
from opgen.lang.notes import Notes

_LIMIT = re.compile(
    r"(?:[A-Za-z_]\w*\s*\.\s*)*finfo\s*(?:\((?:[^()]|\([^()]*\))*\))?\s*\.\s*(?P<which>min|max)\b(?!\s*[\[(.])"
)
_TIMES = re.compile(r"\*\s*-?\s*\(?\s*$")
_FACTOR = re.compile(r"\s*\)?\s*[*/]")


def type_limit(text: str, at: int) -> tuple[str, int] | None:
    """Which limit stands at a place, and where it ends; None where none does, or where it is a factor.

    An infinity in place of a factor makes `nan` of 0.
    """
    found = _LIMIT.match(text, at)
    if found is None or _TIMES.search(text, 0, at) or _FACTOR.match(text, found.end()):
        return None
    return found["which"], found.end()


def infinite(notes: Notes, which: str, at: Span) -> Expr:
    """The infinity that a limit stands for, which is noted."""
    shown = "-inf" if which == "min" else "inf"
    than = "below" if which == "min" else "above"
    notes.note(
        at, f"`{' '.join(at.text.split())}` is not part of the formula language", f"{than} all numbers is `{shown}`"
    )
    one = Name("inf", at)
    return Unary("-", one, at) if which == "min" else one
