"""Tensors with named dims that stand without indices, `y[n] = 2*x` of an `x` of shape [N]: which ones are meant."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from opgen.lang.layout import bare
from opgen.lang.nodes import Access, Assign, Binder, Call, Name, Reduction, Target
from opgen.lang.notes import Notes
from opgen.lang.subscripts import target_of
from opgen.lang.unparse import unparse_assign, unparse_target
from opgen.lang.vocabulary import FIRST, UNCLEAR, Vocabulary
from opgen.lang.walk import nodes

_CODE = "OPG242"


def with_indices(notes: Notes, s: Assign) -> Assign:
    """A statement that is fine otherwise, with these tensors noted, and updated at all indices if at none."""
    name, letters, updated = s.target.name, notes.words.letters.get(s.target.name, ()), s.op != "="
    own = s.target.items is None and name not in notes.words.inputs  # an input that is updated is a new value
    if notes.found or (updated and not (own and {*letters} - {"..."} and UNCLEAR not in letters)):
        return s
    made = replace(s, target=target_of(name, letters, s.target.span)) if updated else s
    read = _read_whole(notes.words, s, notes.left)
    if updated:
        text = unparse_target(made.target) if read else unparse_assign(made)
        _note(notes, s.target, f"`{name}` has named dims and is assigned without indices", f"write `{text}`")
    for bare_name, hints in read.items():
        _note(notes, bare_name, f"`{bare_name.name}` has named dims and is read without indices", *hints)
    return made


def _note(notes: Notes, of: Name | Target, message: str, *hints: str) -> None:
    notes.note(of.span, message, *hints, code=_CODE)
    shape = notes.words.shapes.get(of.name)
    notes.found[-1].label = "" if shape is None else f"has shape [{', '.join(shape)}]"


def _read_whole(words: Vocabulary, s: Assign, left: Container[str]) -> dict[Name, tuple[str, ...]]:
    """The first place of each, with what to write; none where a function is unknown, which comes first."""
    everything = [*nodes(s.value)]
    indices = {i.name for a in everything if isinstance(a, Access) for i in a.items if isinstance(i, Name)}
    indices.update(b.name for r in everything if isinstance(r, Reduction) for b in r.binders if isinstance(b, Binder))
    if any(isinstance(c, Call) and not words.has(c.name) for c in everything):
        return {}
    found: dict[Name, tuple[str, ...]] = {}
    for name in {n.name: n for n in reversed([*bare(words, s.value)])}.values():
        if name.name in indices or name.name in left:
            continue  # an index that hides it
        letters = words.letters[name.name]
        hints = [f"write `{name.name}[{', '.join(letters)}]`"]
        if {*letters} == {FIRST}:
            hints.append(f"or declare one number as what it is: `{name.name}: {{shape: []}}`")
        found[name] = (*hints,)
    return found
