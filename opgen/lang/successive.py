"""Values of one output after each other, `y += x` and then `y /= n` as NumPy has them: each with a name of its own.

The last one is the output, so that what is read further down and what is returned stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from opgen.diagnostics.model import Span
from opgen.lang.circles import shift_of
from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Number, Target, Unary
from opgen.lang.notes import Notes
from opgen.lang.stepwise import as_steps
from opgen.lang.subscripts import target_of
from opgen.lang.unparse import unparse_assign
from opgen.lang.updates import free_name, read_as, updated
from opgen.lang.vocabulary import Vocabulary, letters
from opgen.lang.walk import nodes, statement_names

KEPT = "a new value is a new name, and the output is the last one"


@dataclass(slots=True)
class Values:
    """The values of one output so far."""

    names: list[str] = field(default_factory=list)  # of those before the value at hand
    since: int = 0  # how many statements of the block stood before the last update


def as_values(
    words: Vocabulary, values: dict[str, Values], s: Assign, before: Sequence[Assign], below: str
) -> tuple[Assign, tuple[str, ...]] | None:
    """An update as a value of its own, and what the lines above it become, where it is that of a listed output.

    `before`: the statements of the block so far; `below`: its text from there on. None for an update of an input, and
    of what is never started.
    """
    name = s.target.name
    listed = words.outputs.get(name) is not None
    if name in words.inputs:
        return None
    so_far = values.setdefault(name, Values())
    if not so_far.names:
        if listed and not any(o.target.name == name for o in before):
            return None
        so_far.names.append(_named(words, name, 1) if listed else name)
    old = so_far.names[-1]
    update = rf"(?:(?://|\*\*|/|%)=|-=.*\b{name}\b)"
    more = re.search(rf"^[ \t]*{name}[ \t]*(?:\[[^=\n]*\])?[ \t]*{update}", below, re.MULTILINE)
    new = name if listed and more is None else _named(words, name, len(so_far.names) + 1)
    meant = updated(words, s, own=old, new=new)
    if new != name:
        so_far.names.append(new)
    if meant is None or not listed:
        return None if meant is None else (meant, ())
    above = [o for o in before[so_far.since :] if o.target.name == name or name in statement_names(o)]
    lines = [read_as(o, {name: old}) for o in above]
    first = next((o for o in above if o.target.name == name), None)
    if first is not None and first.op != "=" and so_far.names[0] == old:
        lines[:0] = _start(words, name, old, first)
    so_far.since = len(before)
    return meant, tuple(map(unparse_assign, lines))


def is_new(words: Vocabulary, values: Mapping[str, Values], s: Assign) -> bool:
    """Whether `y -= e` makes a new value: a scatter cannot read its own target, nor go on from one that is renamed."""
    name, left = s.target.name, {i.name for i in s.target.items or () if isinstance(i, Binder)}
    own = [n for n in nodes(s.value) if isinstance(n, Name | Access) and n.name == name]
    steps = (shift_of(i) for n in own if isinstance(n, Access) for i in n.items)
    back = any(step is not None and step.index in left for step in steps)  # a recurrence
    begun = name in values and bool(values[name].names)
    return (bool(own) and not back) or (begun and words.outputs.get(name) is None)


@dataclass(slots=True)
class Chain:
    """Values of one name that are each made of the one before: what was said of the first, and what each becomes."""

    told: tuple[str, Span] | None = None  # code and place
    lines: tuple[str, ...] = ()


def go_on(words: Vocabulary, chains: dict[str, Chain], s: Assign, before: list[Assign], notes: Notes) -> Assign:
    """A statement as it is with a name for each value, where it makes one of itself: told with the first of them."""
    chain = chains.setdefault(s.target.name, Chain())
    if (stepped := as_steps(words, s, before, notes)) is not None:
        notes.told = chain.told
        return stepped
    renewed = of_itself(words, s, before)
    if renewed is None:
        chain.told, chain.lines = None, ()
        return s
    chain.lines += renewed[1]
    notes.above, notes.told = chain.lines, chain.told
    return notes.read_as(s, renewed[0])


def of_itself(words: Vocabulary, s: Assign, before: list[Assign]) -> tuple[Assign, tuple[str, ...]] | None:
    """A statement that makes a value of itself, `s[i] = f(s[i])`, as it reads the value so far under another name.

    With it go the lines above that have this name then, as they have in `before` from then on. None for anything else,
    as for what goes on from a step before.
    """
    name, own = s.target.name, [o for o in before if o.target.name == s.target.name]
    letters_of = words.letters.get(name, ())
    if s.target.items is None and letters_of not in ((), ("...",)) and own and name in statement_names(s):
        value = spelled(words, s.value)
        same = layout(words, value) == letters_of
        s = replace(s, target=target_of(name, letters_of, s.target.span) if same else s.target, value=value)
    at = tuple(Name(i.name, i.span) if isinstance(i, Binder) else i for i in s.target.items or ())
    reads = [n for n in nodes(s.value) if isinstance(n, Name | Access) and n.name == name]
    first = own[0].target.items or () if len(own) == 1 and not own[0].guard and own[0].op == "=" else None
    if s.op != "=" or s.guard or not reads or first is None or not all(isinstance(i, Binder | Dots) for i in first):
        return None
    whole = tuple(Name(i.name, i.span) if isinstance(i, Binder) else i for i in first)  # of which this is reduced
    read_at = at if len(first) == len(at) and all(isinstance(i, Name | Dots) for i in at) else whole
    if any((n.items if isinstance(n, Access) else ()) != read_at for n in reads):
        return None
    new = _named(words, name, 1)
    above = [k for k, o in enumerate(before) if o is own[0] or name in statement_names(o)]
    for k in above:
        before[k] = read_as(before[k], {name: new})
    return replace(s, value=read_as(s, {name: new}).value), tuple(unparse_assign(before[k]) for k in above)


def _named(words: Vocabulary, name: str, first: int) -> str:
    """A free name for a value, which is read as the output itself is."""
    found = free_name(words, name, first)
    for known in (words.letters, words.shapes):
        if name in known:
            known[found] = known[name]
    return found


def _start(words: Vocabulary, name: str, old: str, first: Assign) -> list[Assign]:
    """What is scattered into, of the shape that the output states: nothing where it states none."""
    shape, at = words.results.get(name, ()), first.span
    neutral: dict[str, Expr] = {"+=": Number(0, at), "*=": Number(1, at), "min=": Name("inf", at)}
    value = neutral.get(first.op, Unary("-", Name("inf", at), at))
    items = tuple(
        Dots(at) if i == "..." else Binder(i, _size(size, at), at)
        for i, size in zip(letters(shape, words.instead), shape, strict=True)
    )
    return [Assign(Target(old, items, at, at), "=", value, None, at)] if shape else []


def _size(text: str, at: Span) -> Expr:
    return Number(int(text), at) if text.isdigit() else Name(text, at)
