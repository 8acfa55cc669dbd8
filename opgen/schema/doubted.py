"""What is wrong with a spec whatever it says at a mistake that nobody can guess the meaning of.

In goes what was found in the spec without the entry that holds the mistake, and the names that this leaves in doubt;
out comes what has to do with none of them, by the words of the statement or lines it points at and of its message. A
name that is assigned from one in doubt is in doubt as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from opgen.diagnostics.model import Diagnostic, Severity, Span
from opgen.schema.elsewhere import Callee
from opgen.schema.entries import NAME
from opgen.schema.formula import Formula
from opgen.schema.model import OpSpec
from opgen.schema.nodes import Mapping, Node
from opgen.schema.nodes import Sequence as List

_NAME = re.compile(r"[^\W\d]\w*")
_ENTRIES = ("inputs", "params", "dims", "functions", "outputs")
_LOOSE = ("optional", "absent")  # whether an input may be missing changes nothing but what asks for that
_ASKED = "given"


def names_in(text: str) -> frozenset[str]:
    return frozenset(_NAME.findall(text))


def without_entry(root: Mapping, loc: Sequence[int | str]) -> tuple[Node, frozenset[str]] | None:
    """What to leave away where a mistake is, for the rest to have a meaning, and the names that are then in doubt.

    None where that is no entry of a mapping or list of names, or where its name is wrong, which others may be for, too.
    """
    top = root.get(str(loc[0])) if loc and loc[0] in _ENTRIES else None
    at = loc[1] if len(loc) > 1 else None
    if not isinstance(at, int) or not isinstance(top, Mapping | List) or loc[-1] == NAME:
        return None
    parts = [value for _, value in top.entries] if isinstance(top, Mapping) else list(top.items)
    if at >= len(parts):
        return None
    entry = parts[at]
    field = entry.get(str(loc[2])) if isinstance(entry, Mapping) and len(loc) > 2 and loc[2] in _LOOSE else None
    if loc[0] == "inputs" and field is not None:
        return field, frozenset((_ASKED,))
    key = top.entries[at][0].text if isinstance(top, Mapping) else entry.span.text
    others = names_in(" ".join(part.span.text for part in parts if part is not entry))
    sizes = [name for name in _NAME.findall(entry.span.text) if name[0].isupper() and name not in others]
    return (top if len(parts) == 1 else entry), names_in(" ".join((key.partition("(")[0], *sizes)))


def independent(found: Iterable[Diagnostic], doubted: frozenset[str], spec: OpSpec) -> list[Diagnostic]:
    """The mistakes that have nothing to do with names in doubt; everything where there are none."""
    if not doubted:
        return list(found)
    blocks = [f for f in (spec.forward, spec.backward) if f is not None and not isinstance(f, Callee)]
    statements = [s for f in blocks for s in _statements(f)]
    reached, before = doubted, frozenset[str]()
    while reached != before:
        before = reached
        for s in statements:
            words = _NAME.findall(s.text)
            if words and not reached.isdisjoint(words):
                reached |= {words[0]}
    return [d for d in found if d.severity is Severity.ERROR and reached.isdisjoint(_words(d, statements))]


def _words(d: Diagnostic, statements: Sequence[Span]) -> list[str]:
    """The words of a message, and of the statement or the lines that it points at."""
    told = (d.message, d.label, *d.notes, *d.hints, *(label.text for label in d.related))
    if d.span is None:
        return _NAME.findall(" ".join(told))
    text, start, end = d.span.source.text, d.span.start, d.span.end
    line = text[text.rfind("\n", 0, start) + 1 : max(end, text.find("\n", end) % (len(text) + 1))]
    around = [s.text for s in statements if s.start <= start < max(s.end, s.start + 1)]
    return _NAME.findall(" ".join((*told, *(around or [line]))))


def _statements(f: Formula) -> list[Span]:
    """The lines of a block, those together that an open bracket joins."""
    found: list[Span] = []
    start = depth = 0
    for at, c in enumerate(f"{f.text}\n"):
        depth += (c in "([{") - (c in ")]}")
        if c == "\n" and depth <= 0:
            found.append(f.span(start, at))
            start, depth = at + 1, 0
    return [s for s in found if s.text.strip()]
