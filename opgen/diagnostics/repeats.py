"""One mistake that stands at several places: one message, with a label at each of them.

Programs get a record for every place (`records.py`), since that is where an editor underlines and a replacement goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from opgen.diagnostics.model import Diagnostic, Label

_QUOTED = re.compile(r"`[^`]*`")
_OF_FIELDS = ("OPG1", "OPG214", "OPG224", "OPG241")


def gathered(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The diagnostics in order, those that say the same of several places of a file as one.

    What stands in backticks may differ in hints, and among the fields of a spec in messages: each place has its own.
    """
    first: dict[object, tuple[Diagnostic, Diagnostic]] = {}
    once = {(d.code, d.span, d.message) if d.span is not None else n: d for n, d in enumerate(diagnostics)}
    for number, d in enumerate(once.values()):
        if d.span is None:
            first[number] = d, d
            continue
        own = (d.span.text, d.message, d.hints) if d.related else ()
        words = [_QUOTED.sub("``", text) for text in (d.message, d.label, *d.notes, *d.hints)]
        names = "" if d.code.startswith(_OF_FIELDS) else d.message
        alike = (d.code, d.severity, d.span.source.path, own, d.related, names, *words)
        told, before = first.setdefault(alike, (d, d))
        if before is not d:
            first[alike] = replace(told, related=(*told.related, Label(d.span, _besides(before, d)))), before
    return tuple(told for told, _ in first.values())


def _besides(before: Diagnostic, d: Diagnostic) -> str:
    """What is said at another place of a mistake that has been told."""
    hints = [hint for hint, told in zip(d.hints, before.hints, strict=True) if hint != told]
    return f"this too: {'; '.join(hints)}" if hints else "this too"
