"""Running reductions of other libraries from the end, or without the element itself, `cumsum(x, reverse=True)`.

Nodes in; out comes a reduction over the places behind or in front; None where a size or an index is not certain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from opgen.lang.backwards import RUNNING
from opgen.lang.beside import Arguments
from opgen.lang.layout import layout, spelled
from opgen.lang.limits import NOTHING, size_of
from opgen.lang.nodes import Binder, Call, Compare, Expr, Name, Reduction
from opgen.lang.notes import Notes
from opgen.lang.products import reindexed
from opgen.lang.spread import Named, Spread, axis_of
from opgen.lang.vocabulary import SPARE, Vocabulary

DIRECTIONS = ("reverse", "exclusive")
_SIGNS = MappingProxyType({(False, True): "<", (True, False): ">=", (True, True): ">"})  # of the places, to the element
_TRUTH = MappingProxyType({"True": True, "true": True, "False": False, "false": False})


def directed(words: Vocabulary, name: str, args: Sequence[Expr], named: Named) -> Spread | None:
    """`cumsum(x, dim=1, reverse=True)`."""
    if name not in RUNNING or not 0 < len(args) < 3 or not {*named} & {*DIRECTIONS}:
        return None
    whole = spelled(words, args[0])
    order = layout(words, whole)
    axis = args[1] if len(args) > 1 else next((v for k, v in named.items() if k not in DIRECTIONS), None)
    index = axis_of(words, order, axis, -1) if order else None
    return None if index is None else _over_places(words, name, index, whole, order, named)


def directed_by_index(notes: Notes, e: Reduction, beside: Arguments | None) -> Expr | None:
    """`cumsum[n](x[n], reverse=True)`, noted."""
    index = e.binders[0] if len(e.binders) == 1 else None
    if beside is None or beside.given or not {*beside.named} or not {*beside.named} <= {*DIRECTIONS}:
        return None
    if e.name not in RUNNING or not isinstance(index, Binder):
        return None
    made = _over_places(notes.words, e.name, index.name, e.body, layout(notes.words, e.body), beside.named)
    if made is None:
        return None
    notes.note(beside.at or e.span, "arguments are positional", "a running reduction goes from the first element on")
    notes.moved |= made.runs
    notes.results.append((made.node, made.order))
    return made.node


def _over_places(
    words: Vocabulary, name: str, index: str, body: Expr, order: Sequence[str], named: Mapping[str, object]
) -> Spread | None:
    said = [v.name if isinstance(v := named.get(k), Name) else "" if k in named else "False" for k in DIRECTIONS]
    size = size_of(words, index, body)
    if not {*said} <= {*_TRUTH} or size is None:
        return None
    sign = _SIGNS.get((_TRUTH[said[0]], _TRUTH[said[1]]))
    here = body.span
    if sign is None:
        return Spread(Reduction(name, (Binder(index, None, here),), body, here, here), tuple(order), {index: size})
    taken = (*order, *words.left, *words.bound)
    other = next(c for c in SPARE[::-1] if c not in taken and not words.knows(c) and c not in words.letters)
    at = Compare((Name(other, here), Name(index, here)), (sign,), here)
    chosen = (at, reindexed(body, {index: other}), NOTHING[RUNNING[name]](here))
    summed = Reduction(RUNNING[name], (Binder(other, None, here),), Call("where", chosen, here, here), here, here)
    return Spread(summed, tuple(order), {index: size})
