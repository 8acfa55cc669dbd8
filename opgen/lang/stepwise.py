"""Values that go on from themselves and have no index at all, `h = tanh(h + x[:, t])`: recurrences along what is read.

Statements in, statements out; None where it is not certain along which index they go on.
"""

from __future__ import annotations

from dataclasses import replace

from opgen.lang.inner_products import stated
from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import Access, Assign, Dots, Expr, Name, Number, Sum, Unary
from opgen.lang.notes import Notes
from opgen.lang.spread import size_at
from opgen.lang.subscripts import target_of
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import nodes, transform

_STEP = "t"  # along which things go on, where several indices may be meant


def note_steps(notes: Notes, s: Assign) -> None:
    """Note a value that goes on from itself, where its start or another index would hide that further on."""
    words, name = notes.words, s.target.name
    found = _along(words, s)
    if found is None or (len(found[1]) == 1 and name not in words.letters):
        return
    own = next(n for n in nodes(s.value) if isinstance(n, Name) and n.name == name)
    notes.note(own.span, f"`{name}` goes on from its own value, and at no step", code="OPG219")
    notes.found[-1].label = "the step before is meant"


def as_steps(words: Vocabulary, s: Assign, before: list[Assign], notes: Notes) -> Assign | None:
    """Such a statement as a recurrence, with what is said of it and its start noted; that is changed in `before`."""
    found, name = _along(words, s), s.target.name
    starts = [k for k, o in enumerate(before) if o.target.name == name]
    if found is None or len(starts) > 1:
        return None
    index, order = found
    own = [i for i in words.letters.get(name, ()) if i not in order]
    order = (*order, *own)
    lines: list[str] = []
    for k in starts:
        start = before[k]
        value = spelled(words, start.value)
        if start.op != "=" or start.guard or index in layout(words, value) or not {*layout(words, value)} <= {*order}:
            return None
        if value == Number(0, value.span):
            notes.alternatives.append(f"without a start it starts from 0: leave out `{unparse_assign(start)}`")
            continue
        minus = Unary("-", Number(1, s.span), s.span)
        target = target_of(name, order, start.target.span)
        items = tuple(minus if i == index else b for i, b in zip(order, target.items or (), strict=True))
        before[k] = replace(start, target=replace(target, items=items), value=value)
        lines.append(unparse_assign(before[k]))
    read = Access(name, tuple(_back(i, index, s) for i in order), s.span, s.span)
    value = transform(s.value, lambda n: read if n == Name(name, n.span) else None)
    words.letters[name] = order
    if words.outputs.get(name) is None:
        at = tuple(i for i in order if i != index)
        size = size_at(words, spelled(words, s.value), index)
        if size is not None:
            last = ", ".join(f"{unparse(size)} - 1" if i == index else i for i in order)
            left = f"last_{name}[{', '.join(at)}]" if at and at != ("...",) else f"last_{name}"
            hint = f"every step is a result then; for the last one alone, add `{left} = {name}[{last}]`"
            notes.alternatives.append(hint)
    notes.above, notes.along = (*lines,), index
    return replace(s, target=target_of(name, order, s.target.span), value=value)


def _back(i: str, index: str, s: Assign) -> Expr | Dots:
    at = Dots(s.span) if i == "..." else Name(i, s.span)
    return Sum((("+", at), ("-", Number(1, s.span))), s.span) if i == index and isinstance(at, Name) else at


def _along(words: Vocabulary, s: Assign) -> tuple[str, tuple[str, ...]] | None:
    """The index along which a bare value goes on from itself, and all that it has then; None for anything else."""
    name = s.target.name
    bare = s.op == "=" and s.guard is None and s.target.items is None and name not in words.given
    reads = [n for n in nodes(s.value) if isinstance(n, Name | Access) and n.name == name] if bare else []
    if not reads or not all(isinstance(n, Name) for n in reads):
        return None
    rest = transform(s.value, lambda n: Number(0, n.span) if n == Name(name, n.span) else None)
    order, own = layout(words, spelled(words, rest)), words.letters.get(name, ())
    named = stated(rest)
    free = [i for i in order if i in named and i not in own and i != "..." and not words.knows(i)]
    chosen = free if len(free) == 1 else [i for i in free if i == _STEP]
    return (chosen[0], order) if chosen else None
