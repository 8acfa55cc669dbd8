"""Lines that end in an operator, as if the formula went on: which lines belong to it, and how it is written.

In go the token at the end of such a line, or the tokens of a block; out come a hint, and where the next statement is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from opgen.lang.habits import over_lines
from opgen.lang.lexer import T, Token

_STATEMENT = re.compile(r"\s*\w+\s*(?:\[[^=\n]*\])?\s*(?:[-+*/]|max|min)?=(?!=)")
_OPEN = ("+", "-", "*", "/", "//", "%", "**", "=", "==", "!=", "<", "<=", ">", ">=")  # expect something behind them


def hint_of(end: Token) -> str:
    """How a formula is written whose line ends here, with an operator or its `=`."""
    text = end.span.source.text
    first = _bare(text[: end.span.start].rpartition("\n")[2])
    indented = len(first) - len(first.lstrip())
    more: list[str] = []
    for line in text[end.span.start :].split("\n")[1:]:
        inside = len(line) - len(line.lstrip()) >= indented or not line.strip()
        if not inside or _STATEMENT.match(line):
            break
        more += [_bare(line).strip()] if _bare(line).strip() else []
    if not more or not _STATEMENT.match(first):
        return over_lines("", "")
    if first.endswith("=") and len(more) == 1:
        return f"a formula begins on the line of its `=`: write `{first.strip()} {more[0]}`"
    return over_lines(first, more[-1])


def next_statement(tokens: Sequence[Token], at: int) -> int:
    """Where a block goes on behind the lines of a formula that is cut at a line end; the line end itself if none is."""
    last = tokens[at - 1] if at else None
    if last is None or tokens[at].kind is not T.NEWLINE or not (last.is_op(*_OPEN) or last.is_word("and", "or", "not")):
        return at
    while tokens[at].kind is T.NEWLINE:
        end = next(k for k, t in enumerate(tokens) if k > at and t.kind in {T.NEWLINE, T.END})
        depth = 0
        for t in tokens[at + 1 : end]:
            depth += t.is_op("(", "[") - t.is_op(")", "]")
            if not depth and t.is_op("=", "+=", "-=", "*=", "/="):
                return at
        at = end
    return at


def _bare(line: str) -> str:
    """A line without its comment."""
    return line.partition("#")[0].rstrip()
