"""`k=0..K-1`, how other notations say how far an index runs."""

from __future__ import annotations

import re

from opgen.diagnostics.model import Hint, Span
from opgen.schema.formula import Formula

_RANGE = re.compile(
    r"\b(?P<index>[a-z]\w*)[ ]*(?:=|in\b)[ ]*(?P<first>\d+)[ ]*\.\.[ ]*(?P<last>(?P<size>\w+)[ ]*-[ ]*1\b|[^\],\n]+)"
)


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
            return span, (f"an index runs from 0: `{index} < …`, and is read at `{index} + {first}`",)
    return None
