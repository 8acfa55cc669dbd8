"""Indices that are spelt like the dim that they run over: `y[N] = sum[K](x[N, K])` is `y[n] = sum[k](x[n, k])`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from opgen.diagnostics.model import Span
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Reduction
from opgen.lang.pairs import in_two_letters
from opgen.lang.vocabulary import SPARE, Vocabulary
from opgen.lang.walk import nodes, rebuild


def in_small_letters(words: Vocabulary, s: Assign) -> tuple[Assign, dict[str, Span]]:
    """The statement with such indices in small letters, and where each of them stands first.

    A capital is an index where a reduction binds it; and where it stands at the dim of its own name, just outside, if
    there is an index of its letter.
    """
    reductions = (r for r in nodes(s.value) if isinstance(r, Reduction))
    bound = {
        i.name for i in (*(s.target.items or ()), *(b for r in reductions for b in r.binders)) if isinstance(i, Binder)
    }
    found = {n: span for n, span in _capitals(words, s.value) if not bound.isdisjoint((n, n.lower()))}
    if not found:
        return s, {}
    items = s.target.items or ()
    on_the_left = {i.name: i.span for i in items if isinstance(i, Binder) and i.name in found}
    small = {name: name.lower() for name in found}
    target = replace(
        s.target,
        items=None
        if s.target.items is None
        else tuple(replace(i, name=small[i.name]) if isinstance(i, Binder) and i.name in small else i for i in items),
    )
    value = _small(s.value, small)
    first = {name: min(span, on_the_left.get(name, span), key=lambda at: at.start) for name, span in found.items()}
    made = replace(s, target=target, value=value)
    spare = (c for c in SPARE if not words.knows(c) and c not in words.letters)
    return in_two_letters(made, spare) or made, first


def _capitals(words: Vocabulary, e: Expr) -> Iterator[tuple[str, Span]]:
    for node in reversed([*nodes(e)]):  # the first of them is what remains
        if isinstance(node, Access):
            for item, size in zip(node.items, words.shapes.get(node.name, ()), strict=False):
                if isinstance(item, Name) and item.name == size:
                    yield item.name, item.span
        elif isinstance(node, Reduction):
            for b in node.binders:
                if isinstance(b, Binder) and b.name[:1].isupper():
                    yield b.name, b.span


def _small(e: Expr, names: Mapping[str, str]) -> Expr:
    """An expression with other names for indices where they stand alone; a dim that is a number stays."""
    made = rebuild(e, lambda part: _small(part, names))
    if isinstance(made, Access):
        return replace(
            made,
            items=tuple(
                replace(i, name=names[i.name]) if isinstance(i, Name) and i.name in names else i for i in made.items
            ),
        )
    if isinstance(made, Reduction):
        binders = (b if isinstance(b, Dots) else replace(b, name=names.get(b.name, b.name)) for b in made.binders)
        return replace(made, binders=tuple(binders))
    return made
