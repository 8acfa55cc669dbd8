"""Powers of `e`: the exponential function that each is, all of a line at once.

In goes a formula and a power of `e` in it, as `opgen.lang.signs` finds it; out comes one message for a line, with the
line as it is meant where there are several.
"""

from __future__ import annotations

import re

from opgen.diagnostics.model import Bag, Hint, Span
from opgen.lang import signs
from opgen.schema.formula import Formula

_POWER = re.compile(r"(?<![\w.])e\s*(\^|\*\*)")
_STATEMENT = re.compile(r"[a-z]\w*(\[[^\]=]*\])?\s*=(?!=).+")


def tell(f: Formula, found: signs.Meant, bag: Bag) -> None:
    """Report a power of `e`, unless its line has been told with one in front of it."""
    typed, span = f.text[found.start : found.end], f.span(found.start, found.end)
    if any(d.code == "OPG205" and d.span is not None and _is_within(span, d.span) for d in bag.items):
        return
    begin, line = _line(f.text, found.start)
    powers = [*_POWER.finditer(line)]
    made = _meant(line) if len(powers) > 1 else None
    hint = Hint(f"write `{found.shown}`", typed, found.shown)
    if made is not None:
        if powers[0].start() < found.start - begin:
            return
        hint = Hint(f"write `{made}`", line, made, f.span(begin, begin + len(line)))
    bag.error("OPG205", "there is no `e`", span, label="the exponential function", hints=(hint,))


def _is_within(span: Span, other: Span) -> bool:
    return span.source == other.source and other.start <= span.start and span.end <= other.end


def _line(text: str, at: int) -> tuple[int, str]:
    """The line around a place without the blanks and the comment around it, and where it begins."""
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:].partition("\n")[0].partition("#")[0]
    return begin + len(line) - len(line.lstrip()), line.strip()


def _meant(line: str) -> str | None:
    """A statement of one line with each power as a function of its exponent; None for a part of a statement."""
    if not _STATEMENT.fullmatch(line) or any(line.count(a) != line.count(b) for a, b in ("()", "[]")):
        return None
    while (power := _POWER.search(line)) is not None:
        found = signs.exponential(line, power.start(), power.end())
        if found is None:
            return None
        line = line[: found.start] + found.shown + line[found.end :]
    return line
