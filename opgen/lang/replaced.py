"""Elements that other libraries replace at computed positions, `x.index_fill(0, ids, 0)` and `x.scatter(1, ids, y)`.

Each element asks whether it is among the positions. Where none stands twice, that is what these libraries compute.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import Binder, Call, Compare, Expr, Name, Number, Reduction
from opgen.lang.products import reindexed
from opgen.lang.spread import Named, Spread, axis_of, size_at
from opgen.lang.vocabulary import SPARE, Vocabulary

# Functions that replace elements along one axis: how many axes the positions have, and the word for what is put there.
_REPLACING = MappingProxyType({
    "index_fill": (True, "value"), "index_copy": (True, "source"), "scatter": (False, "src"),
})  # fmt: skip
_KEYS = ("dim", "index")


def replaced(words: Vocabulary, name: str, args: Sequence[Expr], named: Named) -> Spread | None:
    """What such a call means; None for any other, and where it is not certain."""
    if name not in _REPLACING or not args:
        return None
    is_list, word = _REPLACING[name]
    given = {**dict(zip((*_KEYS, word), args[1:], strict=False)), **{_key(k, word): v for k, v in named.items()}}
    axis, ids, value = (given.get(key) for key in (*_KEYS, word))
    if len(args) > 4 or len(given) != 3 or isinstance(ids, tuple) or isinstance(value, tuple):
        return None
    if ids is None or value is None or not isinstance(ids, Name) or ids.name not in words.integers:
        return None
    whole, here = spelled(words, args[0]), args[0].span
    order, by = layout(words, whole), words.letters.get(ids.name, ())
    index = axis_of(words, order, axis, 0)
    if index is None or size_at(words, whole, index) is None or "..." in (*order, *by):
        return None
    place = order.index(index)
    if len(by) != (1 if is_list else len(order)):
        return None
    free = by[0] if is_list else by[place]
    each = free if free not in order else next(c for c in SPARE if c not in (*order, *by) and not words.knows(c))
    beside = [*order[:place], each, *order[place + 1 :]]
    at_ids = spelled(words, ids)
    if not is_list and any(
        size_at(words, at_ids, i) != size_at(words, whole, j)
        for k, (i, j) in enumerate(zip(by, order, strict=True))
        if k != place
    ):
        return None
    at = reindexed(at_ids, dict(zip(by, [each] if is_list else beside, strict=True)))
    there = Compare((at, Name(index, here)), ("==",), here)
    put, own = spelled(words, value), layout(words, spelled(words, value))
    if own:
        if len(own) != len(order) or "..." in own:
            return None
        if size_at(words, put, own[place]) != size_at(words, at_ids, free):
            return None
        read = reindexed(put, dict(zip(own, beside, strict=True)))
        chosen = Call("where", (there, read, Number(0, here)), here, here)
        put = Reduction("sum", (Binder(each, None, here),), chosen, here, here)
    found = Reduction("any", (Binder(each, None, here),), there, here, here)
    return Spread(Call("where", (found, put, whole), here, here), order)


def _key(name: str, word: str) -> str:
    return {"axis": "dim", "value": word, "src": word, "source": word}.get(name, name)
