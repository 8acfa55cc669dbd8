"""Names that stand directly after a number, as in `2x`, `2j`, `1.0f` and `1_000`: what is meant.

Text and a place in it in, a message out, and how the statement goes on.
"""

from __future__ import annotations

import re
from collections.abc import Container

from opgen.diagnostics.model import Bag, Hint
from opgen.lang import signs
from opgen.schema.formula import Formula

_SUFFIXES = ("f", "F", "l", "L")  # of C


def run_on(f: Formula, start: int, at: int, bag: Bag, own: Container[str]) -> tuple[int, str | None]:
    """Report a name at a place after the number from `start` on; where it goes on, and with which operator if any.

    An empty operator stands for what nobody can tell. `own`: the names in front of it in the statement.
    """
    piece, word = f.text[start:at], signs.word(f.text, at)
    end, typed = at + len(word), f.text[start : at + len(word)]
    is_index, unit = _is_index(f, word, at, own), f"complex(0, {piece})"
    imaginary = word in ("j", "J") or (word in ("i", "I") and not signs.names(word, f.source.text))
    if imaginary and (not is_index or (word in ("j", "J") and _is_in_exp(f.text, at))):
        hints = (f"for the imaginary unit write `{unit}`", f"or `{piece}*{word}`, if the index is meant")
        told: tuple[str, ...] = hints if is_index else (Hint(f"write `{unit}`", typed, unit),)
        bag.error("OPG201", f"there is no imaginary literal `{typed}`", f.span(start, end), hints=told)
        return end, ""
    is_name = "." not in piece and (is_index or signs.names(word, f.source.text))
    if word in _SUFFIXES and not is_name:
        hint = Hint(f"write `{piece}`", typed, piece)
        bag.error("OPG201", "numbers have no suffix", f.span(start, end), label="no number", hints=(hint,))
        return end, None
    digits = typed.replace("_", "")
    if digits.isdecimal() or "e" in piece.lower() or (piece == "0" and word[:1] in "xXbBoO"):
        shown = Hint(f"write `{digits}`", typed, digits) if digits.isdecimal() else ""
        told = (shown or "a number is written `12`, `1.5` or `1e-5`",)
        bag.error("OPG201", f"`{typed}` is no number", f.span(start, end), hints=told)
        return end, ""
    if word.endswith("_") and f.text.startswith("{", end):
        return at, "*"  # of LaTeX, which is told
    if word[0] in signs.PI:
        whole = f"({piece}*pi)" if f.text[:start].rstrip().endswith("/") else f"{piece}*pi"
        hint = Hint(f"write `{whole}`", f.text[start : at + 1], whole)
        bag.error("OPG201", f"`{f.text[start : at + 1]}` is not part of the formula language", f.span(start, at + 1),
                  hints=(hint,))  # fmt: skip
        return at, "*"  # told with it
    message = f"a name stands directly after the number `{piece}`"
    hint = Hint(f"write `{piece}*{word}`", piece, f"{piece}*")
    other = (f"or `{unit}`, if the imaginary unit is meant",) if word in ("i", "I", "j", "J") else ()
    bag.error("OPG201", message, f.span(start, at + 1), hints=(hint, *other))
    return at, "*"


def _is_index(f: Formula, word: str, at: int, own: Container[str]) -> bool:
    """Whether a name stands alone earlier in the statement, as where it is bound, or later on the line."""
    later = f.text[at:].partition("\n")[0].partition("#")[0][len(word) :]
    return word in own or re.search(rf"\b{word}\b", later) is not None


def _is_in_exp(text: str, at: int) -> bool:
    """Whether a place is in the argument of an exponential function, on one line."""
    depth = 0
    for k in range(at - 1, text.rfind("\n", 0, at), -1):
        depth += (text[k] == ")") - (text[k] == "(")
        if depth < 0:
            if re.search(r"\bexp\s*$", text[:k]):
                return True
            depth = 0
    return False
