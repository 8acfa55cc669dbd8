"""Bare tensors in a reduction whose index nothing reads, `d = sum[k]((x - y)**2)`: along which axis that index runs.

In go the words of a spec and a statement without indices on its left; out come the statements that may be meant.
"""

from __future__ import annotations

from dataclasses import replace

from opgen.lang.layout import bare, layout, spelled
from opgen.lang.nodes import Assign, Binder, Expr, Reduction
from opgen.lang.products import reindexed
from opgen.lang.subscripts import target_of
from opgen.lang.vocabulary import FIRST, UNCLEAR, Vocabulary
from opgen.lang.walk import names_read, nodes, transform


def along_each(words: Vocabulary, s: Assign) -> list[Assign]:
    """The statement with the index of its one reduction along each axis of what it reduces; none where it is read."""
    reductions = [r for r in nodes(s.value) if isinstance(r, Reduction)]
    if s.target.items is not None or s.op != "=" or len(reductions) != 1:
        return []
    r = reductions[0]
    binder = r.binders[0] if len(r.binders) == 1 else None
    plain = isinstance(binder, Binder) and binder.extent is None and binder.name not in names_read(r.body)
    if not isinstance(binder, Binder) or not plain or not [*bare(words, r.body)]:
        return []
    body = spelled(words, r.body)
    letters = [i for i in layout(words, body) if i not in ("...", FIRST, UNCLEAR)]
    if binder.name in letters:
        letters = [binder.name]
    return [_along(words, s, r, reindexed(body, {i: binder.name})) for i in letters]


def _along(words: Vocabulary, s: Assign, r: Reduction, body: Expr) -> Assign:
    made = replace(r, body=body)
    value = spelled(words, transform(s.value, lambda n: made if n is r else None))
    return replace(s, target=target_of(s.target.name, layout(words, value), s.target.span), value=value)
