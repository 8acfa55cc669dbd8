"""`k=0..K-1`, how other notations say how far an index runs."""

from __future__ import annotations

import re
from itertools import accumulate

from opgen.diagnostics.model import Hint, Span
from opgen.schema.formula import Formula

_RANGE = re.compile(
    r"\b(?P<index>[a-z]\w*)[ ]*(?:=|in\b)[ ]*(?P<first>\d+)[ ]*\.\.[ ]*(?P<last>(?P<size>\w+)[ ]*-[ ]*1\b|[^\],\n]+)"
)
_HEAD = re.compile(r"(\w+)\[\s*$")


def run_between(f: Formula, at: int) -> tuple[Span, tuple[str, ...]] | None:
    """`k=0..K-1` around two dots, with what it is here; None where they stand for something else."""
    begin = f.text.rfind("\n", 0, at) + 1
    for found in _RANGE.finditer(f.text, begin):
        if found.start() <= at < found.end():
            index, first, last = found["index"], found["first"], found["last"].strip()
            after = (
                str(int(last) + 1)
                if last.isdecimal()
                else last
                if last.isidentifier() and last[:1].isupper()
                else f"{last} + 1"
            )
            size = found["size"] or after  # a dim is the number of elements, of which the last has one less
            right = f"{index} < {size}"
            span = f.span(*found.span())
            if first == "0":
                return span, (Hint(f"write `{right}`", span.text, right),)
            size = (
                f"{last} - {int(first) - 1}".removesuffix(" - 0")
                if not last.isdecimal()
                else str(int(last) + 1 - int(first))
            )
            line = _from_0(f, found, index, size, first)
            told = f"an index runs from 0: `{index} < {size}`, and is read at `{index} + {first}`"
            return span, (told, *([f"write `{line}`"] if line else ()))
    return None


def _from_0(f: Formula, found: re.Match[str], index: str, size: str, first: str) -> str:
    """The reduction whose index that is, with the index running from 0; nothing where it is no reduction."""
    head, tail = _HEAD.search(f.text[: found.start()]), f.text[found.end() :]
    if head is None or not tail.startswith("]("):
        return ""
    depths = accumulate((c == "(") - (c == ")") for c in tail[1:])
    end = next((k for k, depth in enumerate(depths, 1) if depth == 0), 0)
    if not end or "\n" in tail[:end]:
        return ""
    body = re.sub(rf"([+-])([ ]*){index}\b(?![ ]*[*/\[(])", rf"\1\g<2>{index} \1 {first}", tail[2:end])
    body = re.sub(rf"(?<![+-])(?<![+-][ ])\b{index}\b(?![\[(])", f"({index} + {first})", body)
    return f"{head[1]}[{index} < {size}]({body})"
