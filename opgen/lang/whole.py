"""Tensors with named dims that are read whole, `y[n] = 2*x` of an `x` of shape [N]: at which indices they are meant."""

from __future__ import annotations

from collections.abc import Container

from opgen.lang.layout import bare
from opgen.lang.nodes import Access, Assign, Binder, Call, Name, Reduction
from opgen.lang.vocabulary import FIRST, Vocabulary
from opgen.lang.walk import nodes


def read_whole(words: Vocabulary, s: Assign, left: Container[str]) -> dict[Name, tuple[str, ...]]:
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
