"""How names are spelt, and where else a name stands in a spec."""

from __future__ import annotations

import re
from collections.abc import Iterable

from opgen.schema.formula import Word
from opgen.schema.nodes import Scalar


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


def is_size(node: Scalar) -> bool:
    """Whether indices run up to what is called like that."""
    return re.search(rf"<\s*{re.escape(node.text)}\s*[,\])]", node.span.source.text) is not None


def is_respelt(text: str, words: Iterable[Word]) -> bool:
    """Whether a text is one of these words as it is written, and the word is spelt otherwise, which has been told."""
    return any(text == word.span.text.strip("\"'") and text != word for word in words)
