"""One mistake that stands at several places: one message, with a label at each of them.

Programs get a record for every place (`records.py`), since that is where an editor underlines and a replacement goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from opgen.diagnostics.model import Diagnostic, Label


def gathered(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The diagnostics in order, those that say the same of the same text of a file as one."""
    first: dict[object, Diagnostic] = {}
    for number, d in enumerate(diagnostics):
        words = (d.code, d.message, d.label, d.notes, d.hints, d.severity, d.related)
        alike = number if d.span is None else (words, d.span.source.path, d.span.text)
        before = first.setdefault(alike, d)
        if d.span is not None and before is not d:
            first[alike] = replace(before, related=(*before.related, Label(d.span, "this too")))
    return tuple(first.values())
