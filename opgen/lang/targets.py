"""The left side of a statement that is proposed: in which order its indices stand, and which letters they have."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeGuard

from opgen.lang.layout import layout, spelled
from opgen.lang.lexer import T, Token
from opgen.lang.new_axes import is_whole
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Number, Reduction, Sum, Target
from opgen.lang.products import reindexed
from opgen.lang.slices import Item, Slice, size_of, stands, total
from opgen.lang.spread import bound_in
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import SPARE, UNCLEAR, Vocabulary, letters
from opgen.lang.walk import nodes, transform


def apart(words: Vocabulary, target: Target, value: Expr) -> tuple[Target, Expr] | None:
    """The sides with other letters for indices that are called like a tensor or a param; None where one stands."""
    bound = [b for r in nodes(value) if isinstance(r, Reduction) for b in r.binders if isinstance(b, Binder)]
    bound += [i for i in target.items or () if isinstance(i, Binder)]
    names = {b.name for b in bound}
    clashing = [n for n in names if words.knows(n) or n in words.letters or n in (*words.outputs, target.name)]
    if any(stands(value, n) for n in clashing):
        return None
    spare = (c for c in SPARE if not (c in names or words.knows(c) or c in words.letters or c == target.name))
    other = dict(zip(sorted(clashing), spare, strict=False))
    items = tuple(
        replace(i, name=other.get(i.name, i.name)) if isinstance(i, Binder) else i for i in target.items or ()
    )
    return replace(target, items=None if target.items is None else items), reindexed(value, other)


def named_first(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The names that a statement which cannot be read assigns, as far as its tokens tell."""
    first = tokens[0]
    if first.is_word("pad") and tokens[1].is_op("("):
        return (tokens[2].text,) if tokens[2].kind is T.NAME else ()
    if first.kind is T.NAME:
        return (first.text,)
    end = next(k for k, t in enumerate(tokens) if t.is_op("=") or t.kind in {T.NEWLINE, T.END})
    if not tokens[end].is_op("="):
        return ()
    depth, found = 0, []
    for t in tokens[:end]:
        depth += t.is_op("[") - t.is_op("]")
        if t.kind is T.NAME and not depth:
            found.append(t.text)
    return (*found,)


def behind_others(words: Vocabulary, name: str, items: Sequence[Binder | Dots | Expr]) -> str:
    """What is written for a part that is assigned behind others, `y[..., k + H] = a`; nothing for any other target."""
    moved = [k for k, item in enumerate(items) if not isinstance(item, Binder | Dots)]
    item = items[moved[0]] if len(moved) == 1 else None
    if not isinstance(item, Sum):
        return ""
    own = [t.name for op, t in item.terms if op == "+" and isinstance(t, Name) and t.name[:1].islower()]
    free = [n for n in own if not words.knows(n)]
    if len(free) != 1:
        return ""
    start = total([(1, item), (-1, Name(free[0], item.span))], item.span)
    plain = (Name(i.name, i.span) if isinstance(i, Binder) else i for i in items)
    parts = [Slice(start, None, None, item.span) if k in moved else i for k, i in enumerate(plain)]
    return in_parts(words, name, parts, "", free[0])


def is_said(items: Sequence[Item], after: Sequence[Token]) -> bool:
    """Whether the rest of a statement says what `y[b, :]` is: its indices stand there, and its slices are whole."""
    end = next(k for k, t in enumerate(after) if t.kind in {T.END, T.NEWLINE})
    words = {t.text for t in after[:end]}
    return all(is_whole(i) or isinstance(i, Dots) or (isinstance(i, Name) and i.name in words) for i in items)


def in_parts(words: Vocabulary, name: str, items: Sequence[Item], block: str, wish: str = "") -> str:
    """What is written for a tensor that is assigned slice by slice, `y[..., :H] = a` and `y[..., H:] = b`.

    `block`: all statements, which may assign one slice alone; `wish`: the index of a part that has one. Nothing where a
    slice has a step or two ends.
    """
    used = [n.name for i in items if not isinstance(i, Dots | Slice) for n in nodes(i) if isinstance(n, Name)]
    spare = iter([c for c in ("d", *SPARE) if not words.knows(c) and c not in words.letters])
    shape = words.results.get(name, ())
    own = letters(shape, words.instead) if len(shape) == len(items) else [""] * len(items)
    parts: list[tuple[str, str, bool]] = []  # each index that runs over a part, with where that is cut; the front one?
    shown: list[str] = []
    for item, letter in zip(items, own, strict=True):
        if not isinstance(item, Slice):
            shown.append("..." if isinstance(item, Dots) else unparse(item))
            continue
        likely = wish or letter
        index = likely if likely not in ("", "...", *used) else next((c for c in spare if c not in used), "")
        if not index or item.step is not None or (item.start is not None and item.stop is not None):
            return ""
        used.append(index)
        shown.append(index)
        if end := item.start or item.stop:
            parts.append((index, unparse(end), item.start is None))
    if not parts:
        return f"a place for each index: `{name}[{', '.join(shown)}] = …`"
    (index, cut, front), *others = parts
    alone = not wish and len(re.findall(rf"^[ \t]*{name}[ \t]*\[[^=\n]*:", block, re.MULTILINE)) == 1
    if others or (alone and not front):
        return ""
    if alone:
        return f"it runs so far: `{name}[{', '.join(f'{i} < {cut}' if i == index else i for i in shown)}] = …`"
    if not shape and (halved := re.fullmatch(r"(\w+) // 2", words.sizes.get(cut, ""))):
        shown = [f"{i} < {halved[1]}" if i == index else i for i in shown]
    return (
        f"parts of one tensor are one statement: `{name}[{', '.join(shown)}] = where({index} < {cut}, …, …)`; in the"
        f" first part `:{cut}` is read at `{index}` and `{cut}:` at `{index} + {cut}`, in the second `{cut}:` at"
        f" `{index}` and `:{cut}` at `{index} - {cut}`"
    )


def order_of(
    words: Vocabulary, results: Sequence[tuple[Expr, tuple[str, ...]]], value: Expr, runs: Collection[str] = ()
) -> tuple[str, ...] | None:
    """The indices of a target that has none written; None where their order is not clear.

    `results`: nodes whose indices have an order of their own; `runs`: those that may stand in no access.
    """
    items = layout(words, value)
    alone = {n.name for n in nodes(value) if isinstance(n, Name)} - bound_in(value)
    items = (*items, *(i for i in runs if i in alone and i not in items))
    if not results:
        return items
    order = results[0][1]
    made = [spelled(words, node) for node, _ in results]
    found = [*nodes(value)]
    if made == [value]:
        return order
    if not all(of in found for of in made):
        return None
    if not items:
        return items  # all is reduced, so that no order matters
    if any(other != order for _, other in results):
        return None
    if {*items} < {*order} and {*order} - {*items} <= bound_in(value):
        return tuple(i for i in order if i in items)
    rest = iter(order)
    beside = layout(words, transform(value, lambda n: Number(0, n.span) if n in made else None))
    if set(order) < set(items) == set(beside):
        rest = iter(beside)
        return beside if all(i in rest for i in order) else None
    return order if set(items) == set(order) and all(i in rest for i in beside) else None


def is_plain(item: Binder | Dots | Expr, words: Vocabulary) -> TypeGuard[Binder | Dots]:
    """Whether an item of a target is an index or `...`; `x < a` of an input is a mask."""
    mask = isinstance(item, Binder) and item.extent is not None and item.name in words.inputs
    return isinstance(item, Binder | Dots) and not mask


def remember(words: Vocabulary, s: Assign) -> None:
    """Read the target of a proposal further down as the proposal has it."""
    items = s.target.items or ()
    read = tuple("..." if isinstance(i, Dots) else i.name for i in items if isinstance(i, Dots | Binder))
    if items and len(read) == len(items):
        known = words.letters.setdefault(s.target.name, read)
        if read == ("...", *known):  # that has a batch was not written
            words.letters[s.target.name] = read
            words.batched[s.target.name] = None
        sizes(words, s)


def sizes(words: Vocabulary, s: Assign) -> None:
    """Note the shape that a statement gives its target, where each index says plainly how far it runs."""
    shape: list[str] = []
    for item in s.target.items or ():
        if isinstance(item, Dots):
            shape.append("...")
            continue
        if not isinstance(item, Binder) or (item.extent is not None and item.name in words.inputs):
            return
        size = item.extent or next(
            (size_of(words.shapes[a.name][k], a.span)
             for a in nodes(s.value) if isinstance(a, Access) and len(words.shapes.get(a.name, ())) == len(a.items)
             for k, i in enumerate(a.items) if i == Name(item.name, a.span)),
            None,
        )  # fmt: skip
        if size is None:
            return
        shape.append(size_text(size))
    if s.target.items is not None:
        words.shapes.setdefault(s.target.name, tuple(shape))


def size_text(size: Expr) -> str:
    """A size as it stands in a shape, where it does."""
    return unparse(size) if isinstance(size, Name | Number) else UNCLEAR


def read_by(target: Target) -> frozenset[str]:
    """The indices in computed positions of a scatter."""
    positions = [i for i in target.items or () if not isinstance(i, Binder | Dots)]
    return frozenset(n.name for i in positions for n in nodes(i) if isinstance(n, Name))


def sizes_of(target: Target) -> tuple[Expr, ...]:
    """All that stands in the extents of a target."""
    extents = (i.extent for i in target.items or () if isinstance(i, Binder) and i.extent is not None)
    return tuple(n for e in extents for n in nodes(e))
