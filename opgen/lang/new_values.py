"""Inputs that a statement with foreign notation assigns, `w = w - lr*g`: each is a new value with a name of its own.

What a statement reads of an input is what was passed, no step before, so nothing of it is a recurrence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from opgen.diagnostics.model import Bag, Span
from opgen.lang.nodes import Assign
from opgen.lang.notes import Notes
from opgen.lang.unparse import unparse_assign
from opgen.lang.updates import IN_PLACE, RENAMED, in_place, read_as
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import statement_names

BUFFER = "what a buffer becomes is an output: `updates: {{{0}: {1}}}` of the module"


@dataclass(frozen=True, slots=True)
class NewValue:
    """An input with the name of its new value, where that was told, and how many plain statements stand above it."""

    name: str
    new: str
    told: tuple[str, Span]
    above: int


def name_new(words: Vocabulary, s: Assign) -> Assign | None:
    """Name the new value of an input that a statement assigns; what is meant where it updates it, `x += e`."""
    meant = in_place(words, s)
    if meant is not None:
        words.updates[s.span.start] = meant
    if s.op == "=" and s.target.name in words.buffers:
        words.renewed[s.target.name] = words.buffers[s.target.name]
    return meant


def as_new(notes: Notes, s: Assign, meant: Assign | None) -> Assign:
    """A statement as it is meant, if it has foreign notation and assigns an input; others wait for their turn."""
    words, name = notes.words, s.target.name
    buffer = name in words.buffers
    if not notes.found or (meant is None and (s.op != "=" or not (buffer or name in words.inputs))):
        return s
    hint = BUFFER.format(name, words.buffers[name]) if buffer else RENAMED
    message = f"`{name}` is an input and cannot be assigned"
    notes.note(s.target.name_span, message, *([IN_PLACE] if meant else []), hint, code="OPG236")
    return meant or replace(s, target=replace(s.target, name=words.renewed[name]))


def tell_below(bag: Bag, words: Vocabulary, made: Sequence[NewValue], found: Sequence[Assign]) -> None:
    """Say what plain statements below new values read then; what is more than one line is not applied by itself."""
    for value in made:
        readers = [s for s in found[value.above :] if value.name in statement_names(s)]
        told = next((d for d in bag.items if (d.code, d.span) == value.told), None)
        if told is None or not (readers or value.name in words.buffers):
            continue
        others = [read_as(s, {value.name: value.new}) for s in readers if s.target.name not in words.given]
        lines = ", ".join(f"`{unparse_assign(s)}`" for s in others)  # what assigns inputs is told by itself
        more = (f"and read that further down where it is meant: {lines}",) if others else ()
        bag.amend(*value.told, *map(str, told.hints), *more)
