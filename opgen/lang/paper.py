"""Products as on paper, without a sign between the factors: where the signs belong."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from opgen.schema.reductions import REDUCTIONS

_TOKEN = re.compile(r"\s*(?P<text>\d[\d.]*(?:[eE][-+]?\d+)?|\.\d+|[A-Za-z_]\w*|\.\.\.|\*\*|//|[<>=!]=|\S)")
_STATEMENT = re.compile(r"(?:(?:forward|backward)\s*:\s*)?(?P<left>\w+(?:\[[^\]]*\])?\s*=)\s*(?P<right>[^=].*)")
_WORDS = ("and", "or", "not", "if", "in", "else", "for")


def multiplied(before: str, after: str, spec: str, functions: Collection[str]) -> str:
    """The statement of a line with a `*` between factors that stand side by side; empty where they are not clear.

    Factors are what the spec names elsewhere, or an index of the statement; other words are prose.
    """
    line = before + after
    found = _STATEMENT.fullmatch(line.partition("#")[0].strip().strip("\"'"))
    if found is None or re.search(r"[\"']", found["right"]):
        return ""
    named = {*re.findall(r"\w+", spec.replace(line, "\n", 1) + " ".join(re.findall(r"\[([^\[\]]*)\]", line)))}
    words = {w for w in re.findall(r"[A-Za-z_]\w*", found["right"]) if w not in _WORDS}
    if not words <= {*named, *functions, *REDUCTIONS}:
        return ""
    try:
        right = "".join(_signed(found["right"], functions))
    except ValueError:
        return ""
    return f"{found['left']} {right}" if right != found["right"] else ""


def _signed(text: str, functions: Collection[str]) -> Iterator[str]:
    """The pieces of a formula, with the signs; raises where a function or a reduction lacks its parentheses."""
    heads: list[str] = []  # what stands before the brackets that are open
    before, closed = "", ""  # the last token, and what stands before the brackets that it closes
    for found in _TOKEN.finditer(text):
        token = found["text"]
        if _ends(before) and _begins(token):
            named = before if before[:1].isalpha() else closed
            if named in functions or (before == "]" and named in REDUCTIONS):
                if token != "(":
                    raise ValueError(f"`{named}` lacks its parentheses")
            elif token != "(" or before == ")" or not before[:1].isalpha() or found.start("text") > found.start():
                yield f"*{token}"
                before = _pushed(token, before, heads)
                continue
        yield found[0]
        if token in ")]" and heads:
            closed = heads.pop()
        before = _pushed(token, before, heads)


def _pushed(token: str, before: str, heads: list[str]) -> str:
    if token in ("(", "["):
        heads.append(before)
    return token


def _ends(token: str) -> bool:
    """Whether a factor may end here."""
    return token in (")", "]") or ((token[:1].isalnum() or token[:1] == "_") and token not in _WORDS)


def _begins(token: str) -> bool:
    """Whether a factor may begin here."""
    return token == "(" or ((token[:1].isalnum() or token[:1] == "_") and token not in _WORDS)
