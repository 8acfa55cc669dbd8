"""Lines of C++ and CUDA as clang-format leaves them (Google style, 120 columns).

In go lines with their indentation, one statement or brace each; out come the same, with short functions and lambdas on
one line and long parameter and argument lists filled. Expressions were cut into parts that fit where they were printed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

LIMIT = 120
_BLOCK = re.compile(r"\s*(\}|(if|for|while|switch|struct|enum)\b)")

_IS_FUNCTION = re.compile(r"\s*(?!(if|for|while|switch)\b)[\w:<>, ]+[ >]\w+\(")
_TOTAL = re.compile(r"(\s*const int64_t \w+ = )(.*;)$")
_ROWS_FOR_A_BREAK = 4  # clang-format: a break behind the parenthesis of a declaration costs 140, one in its list 41
_PASS = re.compile(r"(\s*rt::each(?:<\w+>)?\()[^\[]*, (?=\[&\])")  # where a pass begins, up to its lambda
_LANES = re.compile(r"(\s*)rt::lanes<\w+>\(")


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
    """A function or lambda of one statement goes on one line, inner ones first; a template stays as it is."""
    out: list[str] = []
    for line in lines:
        out.append(line)
        while len(out) > 2 and (whole := _joined(*out[-3:])):
            if len(out) > 3 and out[-4].lstrip().startswith("template <"):
                break
            out[-3:] = [whole]
    return out


def _joined(head: str, body: str, tail: str) -> str | None:
    indent = len(head) - len(head.lstrip())
    if (
        not head.endswith("{")
        or tail.strip() not in ("}", "};", "});")
        or tail != " " * indent + tail.strip()
        or _BLOCK.match(head)
    ):
        return None
    if not body.endswith((";", "}")) or _BLOCK.match(body) or body.strip() in ("}", "};") or "= {" in head:
        return None
    whole = f"{head} {body.strip()} {tail.strip()}"
    return whole if len(whole) <= LIMIT or _fits_below(whole) else None


def _fits_below(line: str) -> bool:
    """Whether a lambda goes in a row of its own: below the first item of its list, or below a call of it alone."""
    alone, start = _LANES.match(line), _PASS.match(line)
    if alone is not None:
        return len(alone[1]) + 4 + len(line) - len(alone[0]) <= LIMIT
    return start is not None and len(start[1]) + len(line) - len(start[0]) <= LIMIT


def _broken(line: str) -> list[str]:
    """A long list goes on below its first item; where that is too narrow, four columns in. What is assigned stands in a
    row of its own, if that takes no more rows. Only if nothing else fits a list in a list is broken, too.
    """
    if len(line) <= LIMIT or "(" not in line or line.lstrip().startswith("//"):
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    if line.lstrip().startswith("if (") and not line.endswith("{"):
        close = _close_of(line, line.index("(")) + 1
        if done := line[close:].strip():
            return [*_broken(line[:close]), *_broken(f"{indent}  {done}")]
    if (total := _TOTAL.match(line)) and len(terms := _terms(total[2])) > 1:
        return _in_rows(total[1], terms)
    opening = _outermost(line)
    head, items = line[: opening + 1], line[opening + 1 :]
    if head.endswith("if (") and (inner := _call_alone(items)):
        head, items = head + items[:inner], items[inner:]
        opening += inner
    ways = [_filled(head, items, opening + 1), [head, *_filled("", items, len(indent) + 4)]]
    target, made = head.rsplit(" = ", 1) if " = " in head else (head, "")
    if made and not line.endswith("{"):
        braced = made.startswith("{")
        start = f"{indent}    {made[braced:]}"
        ways.insert(0, [f"{target} = {'{' * braced}".rstrip(), *_filled(start, items, len(start))])
    ways = [rows for rows in ways if all(len(r) <= LIMIT for r in rows)]
    if line.endswith("{"):
        fewest = ways[1:] if _IS_FUNCTION.match(line) and len(ways) > 1 and _pays(*ways) else ways[:1]
    else:
        fewest = sorted(ways, key=len)[:1]
    return fewest[0] if fewest else _filled_twice(head, items, opening + 1) or [line]


def _terms(total: str) -> list[str]:
    """The terms of a sum, each with the sign behind it."""
    found, depth, start = [], 0, 0
    for k, c in enumerate(total):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and total[k : k + 3] in (" + ", " - "):
            found.append(total[start : k + 2])
            start = k + 3
    return [*found, total[start:]]


def _in_rows(start: str, terms: Sequence[str]) -> list[str]:
    """What is assigned in a row of its own, or its terms in rows below each other."""
    below = " " * (len(start) - len(start.lstrip()) + 4) + " ".join(terms)
    if len(below) <= LIMIT:
        return [start.rstrip(), below]
    rows = [start + terms[0]]
    for term in terms[1:]:
        if len(rows[-1]) + 1 + len(term) > LIMIT:
            rows.append(" " * len(start) + term)
        else:
            rows[-1] += f" {term}"
    return rows


def _close_of(line: str, opening: int) -> int:
    """The parenthesis that closes one."""
    depth = 0
    for k in range(opening, len(line)):
        depth += (line[k] == "(") - (line[k] == ")")
        if depth == 0:
            return k
    return len(line) - 1


def _call_alone(items: str) -> int:
    """Where the arguments begin of a call that is all there is in a condition; 0 where there is more."""
    call = re.match(r"[\w.:]+\(", items)
    return call.end() if call and items[_close_of(items, call.end() - 1) + 1 :] in (")", ") {") else 0


def _pays(below: Sequence[str], beside: Sequence[str]) -> bool:
    """Whether parameters four columns in take so many rows fewer that their function's name stands alone."""
    return len(below) - (len(beside) - 1) >= _ROWS_FOR_A_BREAK


def _filled(start: str, items: str, column: int) -> list[str]:
    """The items of a list in rows from a column on."""
    rows = [start or " " * column]
    for item in _items(items):
        glue = "" if rows[-1].endswith(("(", "{")) or not rows[-1].strip() else " "
        if len(rows[-1]) + len(glue) + len(item) > LIMIT:
            rows.append(" " * column)
            glue = ""
        rows[-1] += glue + item
    return rows


def _filled_twice(start: str, items: str, column: int) -> list[str]:
    """The same where an item is too long for a row, and is a list itself; empty where that does not help."""
    rows = [start]
    for item in _items(items):
        opening = item.find("{") + 1
        rest = f"{rows[-1]}{'' if rows[-1].endswith('(') else ' '}{item}"
        if len(rest) <= LIMIT:
            rows[-1] = rest
        elif column + len(item) <= LIMIT:
            rows.append(" " * column + item)
        else:
            rows += _filled(" " * column + item[:opening], item[opening:], column + opening)
    return rows if all(len(r) <= LIMIT for r in rows) else []


def _items(text: str) -> list[str]:
    """What stands between commas that are in no inner list."""
    found: list[str] = []
    depth = 0
    for part in re.split(r"(?<=,) ", text):
        if depth:
            found[-1] += f" {part}"
        else:
            found.append(part)
        depth += sum(c in "([{" for c in part) - sum(c in ")]}" for c in part)
    return found


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
