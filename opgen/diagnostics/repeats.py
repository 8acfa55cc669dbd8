"""One mistake that stands at several places: one message, with a label at each of them.

Programs get a record for every place (`records.py`), since that is where an editor underlines and a replacement goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from opgen.diagnostics.model import Diagnostic, Label
from opgen.diagnostics.suggest import counted

_QUOTED = re.compile(r"`[^`]*`")
_MOST = 20  # places beside the first one that are shown
_OF_A_TENSOR = ("OPG212",)  # which is declared once, and read in several ways
_OF_FIELDS = ("OPG1", "OPG214", "OPG224", "OPG241")
_OF_A_NAME = ("OPG205", "OPG209", "OPG211")  # which is not there, however it may be replaced at each place


def gathered(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The diagnostics in order, those that say the same of several places of a file as one.

    What stands in backticks may differ in hints, and among the fields of a spec in messages: each place has its own.
    What is said of a name that is not there may differ as a whole within a line.
    """
    first: dict[object, tuple[Diagnostic, list[Label]]] = {}
    lines: dict[object, object] = {}
    once = {(d.code, d.span, d.message) if d.span is not None else n: d for n, d in enumerate(diagnostics)}
    for number, d in enumerate(once.values()):
        if d.span is None:
            first[number] = d, []
            continue
        own = (d.span.text, d.message, d.hints) if d.related and d.code not in _OF_A_TENSOR else ()
        words = [_QUOTED.sub("``", text) for text in (d.message, d.label, *d.notes, *d.hints)]
        names = "" if d.code.startswith(_OF_FIELDS) else d.message
        alike: object = (d.code, d.severity, d.span.source.path, own, d.related, names, *words)
        if d.code in _OF_A_NAME:
            line, _ = d.span.source.line_col(d.span.start)
            alike = lines.setdefault((d.code, d.span.source.path, d.message, line), alike)
        before, besides = first.setdefault(alike, (d, []))
        if before is not d:
            besides.append(Label(d.span, _besides(before, d)))
    return tuple(_together(d, besides) for d, besides in first.values())


def _together(d: Diagnostic, besides: list[Label]) -> Diagnostic:
    """A diagnostic with the first of the other places, and how many more there are."""
    more = len(besides) - _MOST
    notes = (*d.notes, f"and at {counted(more, 'more place')}") if more > 0 else d.notes
    return replace(d, related=(*d.related, *besides[:_MOST]), notes=notes)


def _besides(before: Diagnostic, d: Diagnostic) -> str:
    """What is said at another place of a mistake that has been told."""
    told = [hint.removeprefix("or ") for hint in before.hints]
    hints = [hint for hint in d.hints if hint.removeprefix("or ") not in told]
    return f"this too: {'; '.join(hints)}" if hints else "this too"
