"""How names are spelt, and where else a name stands in a spec."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable

from opgen.schema.formula import Word
from opgen.schema.nodes import Scalar

_OWN = ("and", "or", "not", "if", "else", "for", "in", "is", "True", "False", "None")  # keywords that formulas know
_FEW = 2  # statements that a message says


def is_dashed(node: Scalar) -> bool:
    """Whether a name is written with dashes, as those of packages are, and is no difference of names in the spec."""
    parts = node.text.split("-")
    words = re.findall(r"\w+", node.span.source.text)
    whole = len(re.findall(rf"(?<![\w-]){re.escape(node.text)}(?![\w-])", node.span.source.text))
    return all(map(str.isidentifier, parts)) and any(words.count(p) == whole * parts.count(p) for p in parts)


def is_read(node: Scalar) -> bool:
    """Whether a name stands elsewhere, too, and not as a key."""
    places = re.finditer(rf"(?<![\w.]){re.escape(node.text)}(?![\w:.])", node.span.source.text)
    return any(m.start() != node.span.start for m in places)


def lines_without_keywords(node: Scalar) -> str:
    """Where else a name that is a keyword of Python is changed: the statements that read it, or what they stand in."""
    if not is_read(node):
        return "say"
    found: list[str] = []
    for place in re.finditer(rf"(?<![\w.]){re.escape(node.text)}(?![\w:.])", node.span.source.text):
        line = _line_at(node.span.source.text, place.start())
        if place.start() != node.span.start and line not in found:
            found.append(line)
    whole = all(re.match(r"\w+(\[[^=]*\])? *[-+*/a-z]*=(?!=)", s) and s.count("(") == s.count(")") for s in found)
    if not whole or len(found) > _FEW:
        return "here and in formulas"
    shown = (re.sub(r"(?<![\w.])[a-z]\w*", lambda m: m[0] + "_" * _is_keyword(m[0]), line) for line in found)
    return f"here and in {' and '.join(f'`{line}`' for line in shown)}"


def _line_at(text: str, at: int) -> str:
    """The formula on a line of a spec."""
    line = text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0].partition("#")[0]
    return re.sub(r"^\s*(?:(?:forward|backward)\s*:)?", "", line).strip().strip("\"'")


def _is_keyword(word: str) -> bool:
    return keyword.iskeyword(word) and word not in _OWN


def is_declared(name: str, text: str) -> bool:
    """Whether a name with a prime is that of an entry in the text of a spec: a key, or an item of a list."""
    own = re.escape(name)
    key, item = rf"(?:^|[{{,])[ \t]*{own}[ \t]*:", rf"^[ \t]*-[ \t]*{own}[ \t]*$"
    listed = rf"^(?:in|out)puts[ \t]*:[ \t]*\[(?:[^\]\n]*,)?[ \t]*{own}[ \t]*[,\]]"
    return any(re.search(pattern, text, re.MULTILINE) for pattern in (key, item, listed))


def without_primes(name: str, text: str) -> str:
    """`s2` for `s'`, and the like for more primes, as it is free in the text of a spec; other names as they are."""
    plain = name.rstrip("'")
    if plain == name:
        return name
    taken = re.findall(r"\w+", text)
    free = (f"{plain}{k}" for k in range(len(name) - len(plain) + 1, 99))
    return next((n for n in free if n not in taken), plain)


def is_size(node: Scalar) -> bool:
    """Whether indices run up to what is called like that."""
    return re.search(rf"<\s*{re.escape(node.text)}\s*[,\])]", node.span.source.text) is not None


def is_respelt(text: str, words: Iterable[Word]) -> bool:
    """Whether a text is one of these words as it is written, and the word is spelt otherwise, which has been told."""
    return any(text == word.span.text.strip("\"'") and text != word for word in words)
