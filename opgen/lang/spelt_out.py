"""Conditions with words of other languages, `i is j`, `i not in (0, 1)`, `a XOR b`: the line as it is written here.

In go what stands in front of such a word on its line, and the rest of the line; out comes the whole line.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from types import MappingProxyType

WORDS = ("is", "in", "not", "AND", "OR", "NOT", "xor", "XOR")
_SIGNS = MappingProxyType({"AND": "and", "OR": "or", "NOT": "not"})
_VALUE = r"\w+(?:\[[^\[\]]*\])?"
_KNOWN = re.compile(rf"({_VALUE}) +is +(not +)?(True|False|None|true|false|null)\b")
_SAME = re.compile(rf"({_VALUE}) +is +(not +)?(?={_VALUE})")
_AMONG = re.compile(rf"({_VALUE}) +(not +)?in +[(\[{{]([^()\[\]{{}}]*)[)\]}}]")
_JOINED = re.compile(r"\b(and|or|not)\b")
_COMPARED = re.compile(r"[<>=!]")


def spelt_out(before: str, after: str, numbers: Collection[str]) -> str:
    """The line as it is written here; nothing where no word of these is understood. `numbers`: no conditions."""
    line = before.rpartition("forward:")[2].lstrip() + after.partition("#")[0].rstrip()
    made = _KNOWN.sub(_known, line)
    made = _SAME.sub(lambda m: f"{m[1]} {'!=' if m[2] else '=='} ", made)
    made = _AMONG.sub(lambda m: _among(m, alone=not _JOINED.search(line.replace(m[0], ""))), made)
    made = re.sub(r"\b(AND|OR|NOT)\b(?!\()", lambda m: _SIGNS[m[0]], made)
    if (either := re.search(r" +(?:xor|XOR) +", made)) is not None:
        made = _either(made, *either.span(), numbers)
    return made if made != line else ""


def _known(m: re.Match[str]) -> str:
    if m[3] in ("None", "null"):
        return f"given({m[1]})" if m[2] else f"not given({m[1]})"
    return m[1] if (m[3].lower() == "true") != bool(m[2]) else f"not {m[1]}"


def _among(m: re.Match[str], *, alone: bool) -> str:
    values = [v.strip() for v in m[3].split(",") if v.strip()]
    sign, word = ("!=", " and ") if m[2] else ("==", " or ")
    shown = word.join(f"{m[1]} {sign} {v}" for v in values)
    return shown if alone or len(values) < 2 else f"({shown})"


def _either(line: str, start: int, end: int, numbers: Collection[str]) -> str:
    """One of two conditions, and not both: they differ."""
    left, right = _edge(line[:start], back=True), _edge(line[end:], back=False)
    first, second = line[start - left : start], line[end : end + right]
    return f"{line[: start - left]}{_apart(first, numbers)} != {_apart(second, numbers)}{line[end + right :]}"


def _apart(condition: str, numbers: Collection[str]) -> str:
    if (name := re.match(r"\w+", condition)) and name[0] in numbers and re.fullmatch(_VALUE, condition):
        return f"({condition} != 0)"
    whole = condition.startswith("(") and condition.endswith(")")
    return condition if whole or not (_COMPARED.search(condition) or _JOINED.search(condition)) else f"({condition})"


def _edge(text: str, *, back: bool) -> int:
    """How much of a text belongs to the innermost brackets or the argument that begins or ends with it."""
    opening, closing = ("([", ")]") if not back else (")]", "([")
    depth = 0
    for k, c in enumerate(reversed(text) if back else text):
        depth += (c in opening) - (c in closing)
        if depth < 0 or (depth == 0 and c == ","):
            rest = text[len(text) - k :] if back else text[:k]
            return len(rest.lstrip() if back else rest.rstrip())
    if back:
        return len(text.partition(" = ")[2] or text)
    return len(text)
