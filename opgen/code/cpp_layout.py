"""Lines of C++ as clang-format leaves them (Google style, 120 columns): blocks, schemas, aligned tables.

What all native dialects share is in `opgen.code.native_layout`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from opgen.code import native_layout
from opgen.code.native_layout import LIMIT, block, commented

__all__ = ["block", "commented", "laid_out", "named", "schema_lines", "table_lines", "under"]

_LAMBDA = re.compile(r"\[&[\w, ]*\]\([^)]*\) \{$")
_LAST_ARGUMENT = re.compile(r"^(\s*)(\w+\.\w+\((?:i|lane), |return )(.*?)(\);|;)$")


def laid_out(lines: Sequence[str]) -> list[str]:
    """Collapse what fits on one line, break what does not."""
    out: list[str] = []
    for line in lines:
        out.append(line)
        if len(out) > 2 and _LAMBDA.search(out[-3]) and out[-1].strip() == "});":
            out[-3:] = [out[-3], *_halved(*out[-3:]), out[-1]]
    return native_layout.laid_out(out)


def _halved(head: str, body: str, tail: str) -> list[str]:
    """The one statement of a lambda that would fit on a line only without its head, as two statements."""
    found = _LAST_ARGUMENT.match(body)
    alone = len(tail) - len(tail.lstrip()) == len(head) - len(head.lstrip())
    if not found or not alone or len(head) + len(body.strip()) + len(tail.strip()) + 2 <= LIMIT:
        return [body]
    indent, call, value, end = found.groups()
    if call == "return " and end == ");":
        value, end = f"{value})", ";"
    first = _first_argument(value)
    return [f"{indent}const auto value = {first};", f"{indent}{call}value{value[len(first) :]}{end}"]


def _first_argument(arguments: str) -> str:
    """What stands before the first comma outside of parentheses."""
    depth = 0
    for k, c in enumerate(arguments):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            return arguments[:k]
    return arguments


def named(name: str, body: Sequence[str]) -> str:
    """A parameter of a lambda behind its type: without a name where its body does not ask for it."""
    return f" {name}" if any(re.search(rf"\b{name}\b", line) for line in body) else ""


def under(condition: str, line: str) -> list[str]:
    """A statement under a condition, if there is one."""
    short = f"if ({condition}) {line}"
    if condition and len(short) < LIMIT - 2:
        return [short]
    return block(f"if ({condition}) {{", [line]) if condition else [line]


def schema_lines(schema: str) -> list[str]:
    """The statement that defines a schema; a long one as adjacent literals."""
    whole = f'm.def("{schema}");'
    if len(whole) <= LIMIT - 2:  # of a block
        return [whole]
    parts, rest = [], schema
    room = LIMIT - len('      "");')
    while len(rest) > room:
        cut = rest.rfind(" ", 0, room) + 1 or rest.find(" ") + 1 or len(rest)
        parts.append(rest[:cut])
        rest = rest[cut:]
    lines = [f'    "{p}"' for p in [*parts, rest]]
    return ["m.def(", *lines[:-1], f"{lines[-1]});"]


def table_lines(entries: Sequence[str]) -> list[str]:
    """The entries of the table of steps, numbered."""
    entries = [f"{entry}," for entry in entries]
    width = max(map(len, entries), default=0)
    return [f"    {entry:{width}}  // {k}" for k, entry in enumerate(entries)]
