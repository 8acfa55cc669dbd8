"""Mistakes in the declaration of an input or a param that may be missing; what follows from them is not told."""

from __future__ import annotations

import re

from opgen.diagnostics.model import Bag, Diagnostic, Span
from opgen.lang.habits import ABSENT
from opgen.lang.nodes import Name
from opgen.lower.declare import Declarations
from opgen.schema.model import InputSpec, OpSpec, ParamSpec

_NONE = (*ABSENT, "none", "nil", "NULL")  # which no formula knows
_MISSING = ("`default: null`", "`optional: true`", "`optional`")  # what is said of a field that means it
_GIVEN, _NAME, _CAPITAL = "OPG229", "OPG113", "OPG241"


def has_no_default(d: Declarations, name: str) -> bool:
    """Whether the default of a param is a word for nothing, which is told where it is declared."""
    return any(isinstance(e, Name) and e.name in _NONE for e in d.defaults.get(name, ()))


def is_of_declaration(found: Diagnostic, spec: OpSpec, bag: Bag) -> bool:
    """Whether a mistake follows from one of a declaration: a name in capitals, or what says that it may be missing."""
    if found.code == _CAPITAL and found.span is not None:
        names = {told.span.text for told in bag.items if told.code == _NAME and told.span is not None}
        return found.span.text in names
    name = found.span.text if found.code == _GIVEN and found.span is not None else ""
    declared: list[InputSpec | ParamSpec] = [*spec.inputs, *spec.params]
    own = next((t.span for t in declared if t.name == name), None)
    if own is None:
        return False
    end = min((t.span.start for t in declared if t.span.start > own.start), default=_end(own))
    return any(
        told.span is not None
        and own.start < told.span.start < min(end, _end(own))
        and any(words in hint for hint in told.hints for words in _MISSING)
        for told in bag.items
    )


def as_null(p: ParamSpec) -> str:
    """How a param is declared that may be missing."""
    plain = p.domain is None and not p.choices and p.length is None and not p.doc
    return f"{{type: {p.type}, default: null}}" if plain else "{…, default: null}"


def _end(declared: Span) -> int:
    """Where the block ends that begins with a name: at the first line that is indented no further."""
    text = declared.source.text
    begin = text.rfind("\n", 0, declared.start) + 1
    indent = len(text[begin:]) - len(text[begin:].lstrip(" "))
    next_line = re.compile(rf"^ {{0,{indent}}}\S", re.M).search(text, declared.end)
    return len(text) if next_line is None else next_line.start()
