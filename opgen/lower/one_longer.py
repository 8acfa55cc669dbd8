"""A tensor with a step more than others, `v: [B, T+1]` read at `t` and `t + 1`: the statements whose index ends before.

Text in, text out: shapes are looked at before the formulas are read.
"""

from __future__ import annotations

import re

_LINE = re.compile(r"(?P<target>\w+(?:\[(?P<left>[^\]]*)\])?)\s*=(?!=)(?P<value>.*)")
_READ = re.compile(r"(?<!\w)(\w+)\[([^\[\]]*)\](?!\()")
_AT = re.compile(r"([a-z]\w*)(?:\s*\+\s*\d+)?")


def ending_before(formulas: str, tensor: str, place: int, dim: str) -> list[str]:
    """The statements that read a tensor at an index and behind it, or beside another one, with the end of that index.

    `place`: of the longer axis, counted from behind.
    """
    made = []
    for line in formulas.splitlines():
        found = _LINE.fullmatch(line.partition("#")[0].strip())
        if found is not None and (index := _index(found["value"], tensor, place)):
            made.append(_ended(found, index, dim))
    return [line for line in made if line]


def _index(value: str, tensor: str, place: int) -> str:
    """The index at which a value reads the longer axis, unless nothing asks for another end than that of the axis."""
    read = [(name, [i.strip() for i in items.split(",")]) for name, items in _READ.findall(value)]
    own = [items[place] for name, items in read if name == tensor and len(items) >= -place]
    letters = {m[1]: None for i in own if (m := _AT.fullmatch(i))}
    if len(letters) != 1 or not all(_AT.fullmatch(i) for i in own):
        return ""
    (index,) = letters
    beside = any(index in items for name, items in read if name != tensor)
    return index if index in own and (len({*own}) > 1 or beside) else ""


def _ended(found: re.Match[str], index: str, dim: str) -> str:
    """A statement whose index ends at a dim, where it is introduced once and states no end."""
    items = [i.strip() for i in (found["left"] or "").split(",")]
    if index in items:
        left = ", ".join(f"{i} < {dim}" if i == index else i for i in items)
        return f"{found['target'].partition('[')[0]}[{left}] = {found['value'].strip()}"
    bound = re.findall(rf"\w+\[(?:[^\[\]]*,\s*)?{index}\s*(?:,[^\[\]]*)?\]\(", found["value"])
    if len(bound) != 1:
        return ""
    shown = re.sub(rf"\b{index}\b", f"{index} < {dim}", bound[0], count=1)
    return f"{found['target']} = {found['value'].strip().replace(bound[0], shown, 1)}"
