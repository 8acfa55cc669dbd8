"""A slice with whole numbers left of `=`: what is written for `y[..., 1:4] = -q[..., 1:4]` and for `y[..., 1:] = …`.

In goes the text of a block, out comes a line of help; nothing where the other slices of the line do not keep step.
"""

from __future__ import annotations

import re

from opgen.lang.vocabulary import SPARE, Vocabulary

_MOST = 8  # components that are written one by one
_SLICE = re.compile(r"(?<=[\[,\s])(\d*):(-?\d*)(?=\s*[\],])")


def by_component(words: Vocabulary, name: str, block: str) -> str:
    """The statements in place of the one line that assigns a slice of a tensor."""
    lines = re.findall(rf"^[ \t]*({name}[ \t]*\[[^=\n]*:[^=\n]*\])[ \t]*=(?!=)[ \t]*([^#\n]+)", block, re.MULTILINE)
    if len(lines) != 1:
        return ""
    left, value = lines[0][0], lines[0][1].strip()
    cut = _SLICE.search(left)
    if cut is None or left.count(":") > 1 or value.count(":") != len(_SLICE.findall(value)):
        return ""
    start, stop = int(cut[1] or 0), cut[2]
    if stop.isdecimal():
        count = int(stop) - start
        starts = [(int(a or 0), b) for a, b in _SLICE.findall(value)]
        if not 0 < count <= _MOST or any(not b.isdecimal() or int(b) - a != count for a, b in starts):
            return ""
        each = (f"`{_at(left, k)} = {_at(value, k)}`" for k in range(count))
        return f"a statement for each component: {', '.join(each)}"
    return "" if stop or not start else _behind_first(words, name, block, left, value, start)


def _at(text: str, k: int) -> str:
    """The element at a place of every slice."""
    return _SLICE.sub(lambda m: str(int(m[1] or 0) + k), text)


def _behind_first(words: Vocabulary, name: str, block: str, left: str, value: str, start: int) -> str:
    """`y[..., 0] = a` and `y[..., 1:] = b` as one statement."""
    before, after = _SLICE.split(left)[0], _SLICE.split(left)[-1]
    first = re.findall(
        rf"^[ \t]*{re.escape(before)}0{re.escape(after)}[ \t]*=(?!=)[ \t]*([^#\n]+)", block, re.MULTILINE
    )
    slices = _SLICE.findall(value)
    whole = all(int(a or 0) + (int(b[1:]) if b.startswith("-") else 0) == start for a, b in slices if not b.isdecimal())
    if start != 1 or len(first) != 1 or not slices or not whole or any(b.isdecimal() for _, b in slices):
        return ""
    index = next((c for c in ("t", *SPARE) if not words.knows(c) and not re.search(rf"\b{c}\b", left + value)), "")

    def read(m: re.Match[str]) -> str:
        away = int(m[1] or 0) - start
        return f"{index} - {-away}" if away < 0 else f"{index} + {away}" if away else index

    chosen = f"where({index} == 0, {first[0].strip()}, {_SLICE.sub(read, value)})"
    return f"parts of one tensor are one statement: `{_SLICE.sub(index, left)} = {chosen}`"
