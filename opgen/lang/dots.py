"""Operators and functions with a `.`, as MATLAB and Julia apply them to each element: `a .* b.^2`, `exp.(x)`."""

from __future__ import annotations

import re

from opgen.diagnostics.suggest import listed

_NUMBER = re.compile(r"(?<![\w.])(\d+)\.(?=[-+*/^])")  # `2.` of `2.*x`
_DOT = re.compile(r"(?<!\.)\.(?=[-+*/^(]|[<>=!]=?)")


def dotted(text: str, at: int) -> bool:
    """Whether a `.` stands before an operator in the line around a place."""
    return _meant(_line(text, at)) is not None


def lines_meant(text: str) -> str:
    """The lines of a formula in which one does, as they are meant, for the end of a message."""
    lines = listed([line for line in map(_meant, text.split("\n")) if line is not None], "and")
    return f": {lines}" if lines else ""


def _line(text: str, at: int) -> str:
    return text[:at].rpartition("\n")[2] + text[at:].partition("\n")[0]


def _meant(line: str) -> str | None:
    """A line without its dots, and with `**` for powers; None where it has none, or more to change than those."""
    line = line.partition("#")[0].strip().strip("\"'")
    found = _DOT.sub("", _NUMBER.sub(r"\1", line))
    if _DOT.search(_NUMBER.sub(r"\1", line)) is None or re.search(r"[{'\\]|[A-Za-z]\^\d+\(", found):
        return None
    return found.replace("^", "**")
