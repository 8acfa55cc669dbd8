"""Names with letters of other scripts, `log_σ`, in the letters that names are made of."""

from __future__ import annotations

import re
import unicodedata

_MARKS = {"\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "bar", "\u0307": "dot", "\u2032": "prime"}
_CALLED = {"lamda": "lam"}  # Unicode's word; `lambda` is none that Python lets be a name
_FUNCTIONS = {"\u03c3": "sigmoid"}  # letters that are functions where they stand before parentheses

_PROSE = re.compile(
    r"""(?<!\S)\#.*                                                    # a comment
    | \b(?:doc|summary):[ ]*(?:"[^"\n]*"|'[^'\n]*'|[|>].*(?:\n[ \t]+.*|\n[ \t]*(?=\n))*|[^,}\n]*)""",
    re.VERBOSE,
)


def is_named(word: str, spec: str) -> bool:
    """Whether a word stands in a spec, its comments and docs aside."""
    return bool(word) and re.search(rf"\b{re.escape(word)}\b", _PROSE.sub("", spec)) is not None


def as_declared(name: str, spec: str, *, called: bool = False) -> str:
    """What a name that a formula reads is called in ASCII letters: as where it is declared, if it is; else empty."""
    word = in_ascii(name) or ""
    declared = re.search(rf"(?<!\w){re.escape(name)}\s*:", spec) is not None
    if called and not declared and name in _FUNCTIONS:
        return _FUNCTIONS[name]
    return word + "_" * (declared and is_named(word, spec))


def in_ascii(name: str) -> str | None:
    """The name with its Greek letters spelt out and signs above letters named; None where a letter has no name here."""
    parts: list[str] = [""]
    for char in unicodedata.normalize("NFKD", name):
        if char.isascii():
            parts[-1] += char
        elif char in _MARKS:
            parts += [_MARKS[char], ""]
        elif unicodedata.combining(char):
            continue
        elif (letter := _letter(char)) is None:
            return None
        elif len(letter) == 1:
            parts[-1] += letter
        else:
            parts += [letter, ""]
    return re.sub(r"_+", "_", "_".join(part for part in parts if part))


def _letter(char: str) -> str | None:
    """What a letter is called: `sigma`; of those that are no Greek the one that it is made of."""
    found = re.search(r"(GREEK )?.*\bLETTER (?:FINAL )?([A-Z]+)", unicodedata.name(char, ""))
    if found is None or not (found[1] or len(found[2]) == 1):
        return None
    word = found[2].lower()
    return _CALLED.get(word, word)
