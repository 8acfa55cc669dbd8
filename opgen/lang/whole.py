"""Tensors with named dims that stand without indices, or with the first of them: which ones are meant.

`y[n] = 2*x` of an `x` of shape [N], and `y[ids[n]] += x[n]` of matrices.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from opgen.diagnostics.suggest import counted, listed
from opgen.lang.aligned import aligned, is_by_place
from opgen.lang.by_place import Places, by_place, placed
from opgen.lang.layout import bare, lacks_batch, layout, spelled
from opgen.lang.nodes import Access, Assign, Binder, Call, Dots, Expr, Name, Number, Reduction, Target, Unary
from opgen.lang.notes import Notes
from opgen.lang.stepwise import note_steps
from opgen.lang.subscripts import target_of
from opgen.lang.targets import remember
from opgen.lang.unparse import unparse, unparse_assign, unparse_target
from opgen.lang.unread import along_each
from opgen.lang.vocabulary import FIRST, UNCLEAR, Vocabulary, letters
from opgen.lang.walk import names_read, nodes, rebuild

_CODE = "OPG242"


def with_indices(notes: Notes, s: Assign) -> Assign:
    """A statement that is fine otherwise, with these tensors noted, and updated at all indices if at none."""
    if notes.found:
        return s
    _note_batch(notes, s)
    note_steps(notes, s)
    name, at, updated = s.target.name, notes.words.letters.get(s.target.name, ()), s.op != "="
    own = s.target.items is None and name not in notes.words.inputs  # an input that is updated is a new value
    if updated and not (own and {*at} - {"..."} and UNCLEAR not in at):
        return _completed(notes, s)
    if not updated and (_lack_an_index(notes, s) or _goes_on(notes.words, s)):
        return s  # told with the whole statement where it is lowered
    made = replace(s, target=target_of(name, at, s.target.span)) if updated else s
    places = by_place(notes.words, s, notes.left) if notes.plain else {}
    read = _read_whole(notes.words, s, notes.left, places)
    if updated:
        text = unparse_target(made.target) if read else unparse_assign(made)
        _note(notes, s.target, f"`{name}` has named dims and is assigned without indices", f"write `{text}`")
    new = notes.words.renewed.get(name, name) if name in notes.words.given else name
    if read and (lines := along_each(notes.words, replace(s, target=replace(s.target, name=new)))):
        shown = listed([unparse_assign(line) for line in lines])
        read = dict.fromkeys(read, (f"write {shown}",))
        notes.unclear = True
        remember(notes.words, lines[-1])
    for bare_name, hints in read.items():
        _note(notes, bare_name, f"`{bare_name.name}` has named dims and is read without indices", *hints)
        notes.unclear |= len(places.get(bare_name.name, ())) > 1
    notes.unclear |= bool(read) and any(UNCLEAR in notes.words.letters[n.name] for n in bare(notes.words, s.value))
    return replace(made, target=_row(notes.words, made), value=placed(made.value, places)) if read else made


def _note_batch(notes: Notes, s: Assign) -> None:
    """Note values that are read without the batch which a proposal further up gives them."""
    for a in nodes(s.value):
        if isinstance(a, Access) and a.name in notes.words.batched and lacks_batch(notes.words, a):
            read = unparse(spelled(notes.words, a))
            notes.note(a.span, f"`{a.name}` is read without its batch dims", f"write `{read}`", code="OPG212")


def _is_integer(item: Binder | Dots | Expr) -> bool:
    return isinstance(item.operand if isinstance(item, Unary) else item, Number)


def _row(words: Vocabulary, s: Assign) -> Target:
    """The target of a row of a whole that is given as whole tensors, `y[0] = a`, with the indices of the row."""
    places, shape = s.target.items or (), words.results.get(s.target.name)
    rest = layout(words, s.value)
    is_row = places and all(map(_is_integer, places)) and not {FIRST, UNCLEAR} & {*rest}
    if not is_row or "..." in rest[1:] or (shape is not None and len(shape) != len(places) + len(rest)):
        return s.target
    inner = tuple(Dots(s.span) if i == "..." else Binder(i, None, s.span) for i in rest)
    batch = int(rest[:1] == ("...",))
    return replace(s.target, items=(*inner[:batch], *places, *inner[batch:]))


def _completed(notes: Notes, s: Assign) -> Assign:
    """A scatter with accesses that lack their last indices, noted, with these."""
    words, items = notes.words, s.target.items or ()
    inner = [n for i in items if not isinstance(i, Dots | Binder) for n in nodes(i)]
    partial = [a for a in (*inner, *nodes(s.value)) if isinstance(a, Access) and _lacking(words, a)]
    taken = {n.name for e in (*inner, *nodes(s.value)) for n in _positions(e)}
    if not partial or any(taken & {*_lacking(words, a)} - {*notes.left} for a in partial):
        return s
    if any(_stands_elsewhere(words, a, (*inner, *nodes(s.value))) for a in partial):
        return s  # what it lacks is not the last of them

    def whole(e: Expr) -> Expr:
        made = rebuild(e, whole)
        if not isinstance(made, Access):
            return made
        return replace(made, items=(*made.items, *(Name(i, e.span) for i in _lacking(words, made))))

    for a in partial:
        lacks, has = (counted(n, "dim") for n in (len(words.letters[a.name]), len(a.items)))
        hint = f"write `{unparse(whole(a))}`"
        notes.note(a.span, f"`{a.name}` has {lacks} and is read at {has}", hint, code="OPG212")
    shape = words.results.get(s.target.name, ())
    rest = letters(shape, words.instead)[len(items) :] if items and "..." not in shape else ()
    left = (*(i if isinstance(i, Dots | Binder) else whole(i) for i in items), *(Binder(i, None, s.span) for i in rest))
    return replace(s, target=replace(s.target, items=left if items else None), value=whole(s.value))


def _lack_an_index(notes: Notes, s: Assign) -> bool:
    """Whether an access has too few positions beside bare tensors, for want of an index that the target lacks, too."""
    lacking = [i for a in nodes(s.value) if isinstance(a, Access) for i in _lacking(notes.words, a)]
    reduced = any(isinstance(n, Reduction) for n in nodes(s.value))
    return not reduced and any(i not in notes.left for i in lacking)


def _goes_on(words: Vocabulary, s: Assign) -> bool:
    """Whether an input is assigned as a whole, by steps: `h = a*h + x[t]`, where nothing binds `t`."""
    own = words.letters.get(s.target.name, ())
    if (
        s.target.items is not None
        or s.target.name not in words.given
        or any(isinstance(n, Reduction) for n in nodes(s.value))
    ):
        return False
    steps = (i.name for a in nodes(s.value) for i in _positions(a) if i.name not in own and not words.knows(i.name))
    return {n.name for n in bare(words, s.value)} == {s.target.name} and any(not i[:1].isupper() for i in steps)


def _lacking(words: Vocabulary, a: Access) -> tuple[str, ...]:
    """The indices of the last axes of a tensor that an access does not name."""
    own = words.letters.get(a.name, ())
    partial = 0 < len(a.items) < len(own) and "..." not in own and not any(isinstance(i, Dots) for i in a.items)
    return own[len(a.items) :] if partial and UNCLEAR not in own else ()


def _stands_elsewhere(words: Vocabulary, a: Access, everything: Sequence[Expr]) -> bool:
    """Whether an index of an access stands at other sizes only where a tensor is read at all of its dims."""
    for item, size in zip(a.items, words.shapes.get(a.name, ()), strict=False):
        whole = (n for n in everything if isinstance(n, Access) and len(n.items) == len(words.shapes.get(n.name, ())))
        sizes = [other for n in whole for i, other in zip(n.items, words.shapes[n.name], strict=True) if i == item]
        if isinstance(item, Name) and sizes and size not in sizes:
            return True
    return False


def _positions(e: Expr) -> Iterator[Name]:
    """The indices that stand alone at a place of an access."""
    return (i for i in e.items if isinstance(i, Name)) if isinstance(e, Access) else iter(())


def _note(notes: Notes, of: Name | Target, message: str, *hints: str) -> None:
    notes.note(of.span, message, *hints, code=_CODE)
    shape = notes.words.shapes.get(of.name)
    notes.found[-1].label = "" if shape is None else f"has shape [{', '.join(shape)}]"


def _read_whole(
    words: Vocabulary, s: Assign, left: Container[str], places: Mapping[str, Places]
) -> dict[Name, tuple[str, ...]]:
    """The first place of each, with what to write; none where a function is unknown, which comes first."""
    everything = [*nodes(s.value)]
    indices = {i.name for a in everything if isinstance(a, Access) for i in a.items if isinstance(i, Name)}
    indices.update(b.name for r in everything if isinstance(r, Reduction) for b in r.binders if isinstance(b, Binder))
    if any(isinstance(c, Call) and not words.has(c.name) for c in everything):
        return {}
    found: dict[Name, tuple[str, ...]] = {}
    sure = not is_by_place(words, s.value) or aligned(words, (), s.value) is not None
    for name in {n.name: n for n in reversed([*bare(words, s.value)])}.values():
        if name.name in indices or name.name in left:
            continue  # an index that hides it
        letters = words.letters[name.name]
        if UNCLEAR in letters:
            continue  # its statement has a mistake that leaves its dims open
        at = [
            ("" if i in left else _position_beside(words, s, i, size)) or i
            for i, size in zip(letters, words.shapes.get(name.name, ("...",) * len(letters)), strict=True)
        ]
        by = places.get(name.name, ()) if at == [*letters] else ()
        by = by or (() if sure else _either(words, s, name.name))
        reads = [f"`{name.name}[{', '.join(i)}]`" for i in by or (at,)]
        hints = [f"write {' or '.join(reads)}"]
        if {*at} == {FIRST}:
            hints.append(f"or declare one number as what it is: `{name.name}: {{shape: []}}`")
        found[name] = (*hints,)
    return found


def _either(words: Vocabulary, s: Assign, name: str) -> Places:
    """The indices of the tensor with the most dims at which a smaller one may be read, where its place is not told."""
    largest = max((n.name for n in bare(words, s.value)), key=lambda n: len(words.letters[n]))
    axes = [*zip(words.letters[largest], words.shapes.get(largest, ()), strict=False)]
    shape = words.shapes.get(name, ())
    fits = (at for at in combinations(axes, len(shape)) if [size for _, size in at] == [*shape])
    return tuple(tuple(i for i, _ in at) for at in fits)


def _position_beside(words: Vocabulary, s: Assign, index: str, size: str) -> str:
    """The position at which the statement reads a dim of that size, if no index is there to run over it; else empty."""
    if size == "...":
        return ""
    reads = [n for n in nodes(s.value) if isinstance(n, Access) and len(n.items) == len(words.shapes.get(n.name, ()))]
    at = [i for n in reads for i, other in zip(n.items, words.shapes[n.name], strict=True) if other == size]
    inner = {b.name for r in nodes(s.value) if isinstance(r, Reduction) for b in r.binders if isinstance(b, Binder)}
    if not at or index in inner or any(isinstance(i, Dots | Name) or inner & names_read(i).keys() for i in at):
        return ""
    shown = [*dict.fromkeys(unparse(i) for i in at if not isinstance(i, Dots))]
    return shown[0] if len(shown) == 1 else ""
