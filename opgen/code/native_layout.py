"""Lines of C++ and CUDA as clang-format leaves them (Google style, 120 columns).

In go lines with their indentation, one statement or brace each; out come the same, with short functions and lambdas on
one line and long parameter and argument lists filled. Expressions were cut into parts that fit where they were printed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

LIMIT = 120
_BLOCK = re.compile(r"\s*(\}|(if|for|while|switch|struct|enum)\b)")


def commented(line: str) -> list[str]:
    """A comment broken at spaces."""
    out: list[str] = []
    current = "//"
    for word in line.removeprefix("//").split():
        if len(current) + 1 + len(word) > LIMIT:
            out.append(current)
            current = "//"
        current += f" {word}"
    return [*out, current]


def laid_out(lines: Sequence[str]) -> list[str]:
    """Collapse what fits on one line, break what does not."""
    return [part for line in _collapsed(lines) for part in _broken(line)]


def _collapsed(lines: Sequence[str]) -> list[str]:
    """A function or lambda of one statement goes on one line, inner ones first."""
    out: list[str] = []
    for line in lines:
        out.append(line)
        while len(out) > 2 and (whole := _joined(*out[-3:])):
            out[-3:] = [whole]
    return out


def _joined(head: str, body: str, tail: str) -> str | None:
    indent = len(head) - len(head.lstrip())
    if not head.endswith("{") or tail not in (" " * indent + "}", " " * indent + "});") or _BLOCK.match(head):
        return None
    if not body.endswith((";", "}")) or _BLOCK.match(body) or body.strip() in ("}", "};") or "= {" in head:
        return None
    whole = f"{head} {body.strip()} {tail.strip()}"
    return whole if len(whole) <= LIMIT else None


def _broken(line: str) -> list[str]:
    """A long list goes on below its first item; where that is too narrow, four columns in."""
    if len(line) <= LIMIT or "(" not in line or line.lstrip().startswith("//"):
        return [line]
    opening = _outermost(line)
    indent = len(line) - len(line.lstrip())
    for start, column in ((line[: opening + 1], opening + 1), (line[: opening + 1], indent + 4)):
        rows = [start if column == opening + 1 else " " * column]
        for item in re.split(r"(?<=,) ", line[opening + 1 :]):
            glue = "" if rows[-1].endswith("(") or not rows[-1].strip() else " "
            if len(rows[-1]) + len(glue) + len(item) > LIMIT:
                rows.append(" " * column)
                glue = ""
            rows[-1] += glue + item
        if all(len(r) <= LIMIT for r in rows):
            return rows if column == opening + 1 else [start, *rows]
    return [line]


def _outermost(line: str) -> int:
    """The opening parenthesis whose list is the longest."""
    best, at, stack = 0, line.index("("), []
    for i, c in enumerate(line):
        if c == "(":
            stack.append(i)
        elif c == ")" and stack:
            start = stack.pop()
            if i - start > best:
                best, at = i - start, start
    return at


def block(head: str, body: Sequence[str], tail: str = "}") -> list[str]:
    """Lines inside braces."""
    return [head, *(f"  {line}" if line else line for line in body), tail]


def indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" if line else line for line in lines]


def function(head: str, body: Sequence[str]) -> list[str]:
    return [f"{head} {{", *indented(body), "}"] if body else [f"{head} {{}}"]
