"""A choice as C writes it, `c ? a : b`, in a line that YAML cannot read because of its colon.

The text of the line in, the statement that is meant out; where the line can be read, formulas do the same.
"""

from __future__ import annotations

import re

_STATEMENT = re.compile(r"(?:forward: *)?(?P<target>\w+(?:\[[^\]]*\])? *=(?!=))(?P<value>.*\?.*:.*)")
_GUARD = re.compile(r"\s(?:if\s|#).*")


def written(line: str) -> str:
    """The statement of a line with each `c ? a : b` as `where(c, a, b)`; empty where there is none."""
    found = _STATEMENT.fullmatch(line)
    if found is None:
        return ""
    guard = _GUARD.search(found["value"])
    value = found["value"] if guard is None else found["value"][: guard.start()]
    asked = "" if guard is None else guard[0].partition("#")[0].rstrip()
    while "?" in value:
        made = _replaced(value, value.rindex("?"))
        if made is None:
            return ""
        value = made
    return f"{found['target']} {value.strip()}{asked}" if ":" not in value else ""


def _replaced(text: str, at: int) -> str | None:
    """The text with the choice whose `?` is the last one written as `where`; None where it lacks its colon."""
    begin = len(text[:at]) - _reach(text[:at][::-1], ")]", "([", ",?:")
    colon = at + 1 + _reach(text[at + 1 :], "([", ")]", ",:")
    if text[colon : colon + 1] != ":":
        return None
    end = colon + 1 + _reach(text[colon + 1 :], "([", ")]", ",:")
    parts = (text[begin:at], text[at + 1 : colon], text[colon + 1 : end])
    before, behind = text[:begin], text[end:]
    if re.search(r"(?<![\w\]])\($", before) and behind.startswith(")"):  # parentheses of its own
        before, behind = before[:-1], behind[1:]
    blank = " " if before.endswith((",", ":", "?")) else ""
    return f"{before}{blank}where({', '.join(p.strip() for p in parts)}){behind}"


def _reach(text: str, opening: str, closing: str, ends: str) -> int:
    """How far a text goes on to one of `ends`, or to a bracket that it closes and does not open."""
    depth = 0
    for k, c in enumerate(text):
        depth += (c in opening) - (c in closing)
        if depth < 0 or (depth == 0 and c in ends):
            return k
    return len(text)
