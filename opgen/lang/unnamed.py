"""Params where `sum(x[..., k]*w[k])` reduces over an index that it does not name: one of another letter is meant."""

from __future__ import annotations

from collections.abc import Collection

from opgen.lang.layout import layout
from opgen.lang.nodes import Access, Dots, Expr, Name
from opgen.lang.products import reindexed
from opgen.lang.slices import stands
from opgen.lang.vocabulary import FIRST, UNCLEAR, Vocabulary
from opgen.lang.walk import nodes


def with_indices(words: Vocabulary, args: tuple[Expr, ...], left: Collection[str]) -> tuple[Expr, ...]:
    """The argument of such a reduction with indices in place of params, if nothing else is left to reduce over."""
    if len(args) != 1 or any(i not in left for i in layout(words, args[0])):
        return args
    (body,) = args
    letters: dict[str, str] = {}
    for a in (n for n in nodes(body) if isinstance(n, Access)):
        own = words.letters.get(a.name, ())
        for item, letter in zip(a.items, own if len(own) == len(a.items) else (), strict=False):
            inner = [] if isinstance(item, Dots) else [n.name for n in nodes(item) if isinstance(n, Name)]
            params = [n for n in inner if words.is_size(n) and not n[:1].isupper()]
            if params and not (isinstance(item, Name) and letter not in (*left, "...", FIRST, UNCLEAR)):
                return args
            letters |= {n: letters.get(n, letter) for n in params}
    return args if any(stands(body, n) for n in letters) else (reindexed(body, letters),)
