"""From a YAML scalar to formula text in which every character knows its offset in the file.

Bare and quoted scalars over several lines keep their line ends, because that is how a person reads them: statements
on lines of their own stay separate statements.
"""

from __future__ import annotations

import math
import re

from opgen.diagnostics.model import Source
from opgen.schema.formula import Formula
from opgen.schema.nodes import Scalar

_SIMPLE_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_HEX_ESCAPES = {"x": 2, "u": 4, "U": 8}
_FOLD = re.compile(r"(?<![ \t])[ \t]*+(?:\r\n|[\r\n])\s*")

Located = list[tuple[str, int]]


def formula_of(node: Scalar) -> Formula:
    """The formula that a scalar holds; folded blocks must have been refused before."""
    source, start, end = node.span.source, node.span.start, node.span.end
    match node.style:
        case '"':
            located = _double_quoted(source.text, start + 1, end - 1)
        case "'":
            located = _single_quoted(source.text, start + 1, end - 1)
        case "|":
            return _block(node)
        case _:
            located = _respelt(node, _folded(source.text, start, end))
            end = located[-1][1] + 1 if located else start
            return _formula(source, located, end)
    return _formula(source, located, end - 1)


def _formula(source: Source, located: Located, end: int) -> Formula:
    return Formula("".join(c for c, _ in located), source, (*(at for _, at in located), end))


def _folded(text: str, start: int, end: int) -> Located:
    """Characters of a bare scalar: blanks around a line end go, the line end stays."""
    found: Located = []
    at = start
    while at < end:
        fold = _FOLD.match(text, at, end)
        if fold:
            found.append(("\n", text.index("\n", at) if "\n" in fold.group() else at))
            at = fold.end()
        else:
            found.append((text[at], at))
            at += 1
    return found


def _single_quoted(text: str, start: int, end: int) -> Located:
    found: Located = []
    skip = False
    for char, at in _folded(text, start, end):
        if skip:
            skip = False
            continue
        found.append((char, at))
        skip = char == "'"
    return found


def _double_quoted(text: str, start: int, end: int) -> Located:
    found: Located = []
    at = start
    while at < end:
        fold = _FOLD.match(text, at, end)
        if fold:
            found.append(("\n", text.index("\n", at) if "\n" in fold.group() else at))
            at = fold.end()
        elif text[at] != "\\":
            found.append((text[at], at))
            at += 1
        elif text[at + 1] in _HEX_ESCAPES:
            digits = _HEX_ESCAPES[text[at + 1]]
            found.append((chr(int(text[at + 2 : at + 2 + digits], 16)), at))
            at += 2 + digits
        elif text[at + 1] in "\r\n":  # an escaped line end joins two lines
            at = re.compile(r"(?:\r\n|[\r\n])\s*").match(text, at + 1, end).end()  # type: ignore[union-attr]
        else:
            found.append((_SIMPLE_ESCAPES.get(text[at + 1], text[at + 1]), at))
            at += 2
    return found


def _block(node: Scalar) -> Formula:
    """A `|` block: the value's lines are found again in the file, in order, behind their indentation."""
    source = node.span.source
    lines = node.text.split("\n")
    at = source.text.find("\n", node.span.start) + 1
    located: Located = []
    for line in lines:
        end_of_line = source.text.find("\n", at)
        end_of_line = len(source.text) if end_of_line < 0 else end_of_line
        raw = source.text[at:end_of_line].removesuffix("\r")
        indent = len(raw) - len(line) if raw.endswith(line) else 0
        begin = at + indent if line else min(at + len(raw), end_of_line)
        located += [(char, min(begin + i, len(source.text))) for i, char in enumerate(line)]
        located.append(("\n", min(begin + len(line), len(source.text))))
        at = min(end_of_line + 1, len(source.text))
    located.pop()  # as many line ends as the value has
    while located and located[-1][0] == "\n":
        located.pop()
    end = located[-1][1] + 1 if located else node.span.start
    return _formula(source, located, end)


def _respelt(node: Scalar, located: Located) -> Located:
    """YAML spellings that formulas spell otherwise (`True`, `.inf`, `0x10`), and what stands for another text."""
    match node.value:
        case bool():
            return [(char.lower(), at) for char, at in located]
        case float() if not math.isfinite(node.value) and "." in node.text:
            return [(char.lower(), at) for char, at in located if char not in ".+"]
        case int() if node.text.lstrip("+-")[1:2] in ("x", "o"):
            at = located[0][1]
            return [(char, at) for char in str(node.value)]
        case str() if node.text.lower() == "".join(char for char, _ in located).lower():  # `N` for `n`
            return [(char, at) for char, (_, at) in zip(node.text, located, strict=True)]
        case _ if located and "".join(node.text.split()) != "".join("".join(c for c, _ in located).split()):
            return [(char, located[min(k, len(located) - 1)][1]) for k, char in enumerate(node.text)]
        case _:
            return located
