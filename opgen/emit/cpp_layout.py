"""Lines of C++ as clang-format leaves them: short lambdas on one line, long lines broken.

In go lines with their indentation, one statement or brace each; out come the same with the breaks that the shipped
`.clang-format` (Google, 120 columns) makes.
"""

from __future__ import annotations

from collections.abc import Sequence

LIMIT = 120


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())


def laid_out(lines: Sequence[str]) -> list[str]:
    """Collapse what fits on one line, break what does not."""
    return [part for line in _collapsed(list(lines)) for part in _broken(line)]


def _collapsed(lines: list[str]) -> list[str]:
    """A lambda or empty-handed block with one short statement goes on one line."""
    k = 0
    while k + 2 < len(lines):
        head, body, tail = lines[k], lines[k + 1], lines[k + 2]
        if "[&](" in head and head.endswith("{") and tail.strip() == "});" and indent_of(tail) == indent_of(head):
            whole = f"{head} {body.strip()} {tail.strip()}"
            single = indent_of(body) == indent_of(head) + 2 and body.rstrip().endswith(";") and "[&](" not in body
            if single and len(whole) <= LIMIT:
                lines[k : k + 3] = [whole]
                k = max(k - 2, 0)
                continue
        k += 1
    return lines


def _broken(line: str) -> list[str]:
    if len(line) <= LIMIT:
        return [line]
    return [line]


def wrapped_comment(text: str) -> list[str]:
    """A comment, broken at spaces."""
    if not text:
        return []
    lines, current = [], "//"
    for word in f"{text[0].upper()}{text[1:]}.".split():
        if len(current) + 1 + len(word) > LIMIT:
            lines.append(current)
            current = "//"
        current += f" {word}"
    return [*lines, current]


def block(head: str, body: Sequence[str], tail: str = "}") -> list[str]:
    """Lines inside braces."""
    return [head, *(f"  {line}" if line else line for line in body), tail]


def schema_lines(schema: str) -> list[str]:
    """The statement that defines a schema; a long one as adjacent literals."""
    whole = f'  m.def("{schema}");'
    if len(whole) <= LIMIT:
        return [whole]
    parts, rest = [], schema
    room = LIMIT - len('      "");')
    while len(rest) > room:
        cut = rest.rfind(" ", 0, room) + 1
        parts.append(rest[:cut])
        rest = rest[cut:]
    lines = [f'      "{p}"' for p in [*parts, rest]]
    return ["  m.def(", *lines[:-1], f"{lines[-1]});"]
