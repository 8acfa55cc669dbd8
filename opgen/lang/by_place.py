"""Bare tensors whose dims nothing in a statement runs over: read by place, at the indices that nothing else tells of.

`h[i, j] = h[i - 1, j] + s` of an `s` of shape [N, M] means `s[i, j]`; with `s` of shape [N], either index may be meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice

from opgen.lang.layout import access_at, bare, lined_up
from opgen.lang.nodes import Access, Assign, Binder, Call, Dots, Expr, Name, Number, Reduction
from opgen.lang.vocabulary import FIRST, UNCLEAR, Vocabulary
from opgen.lang.walk import nodes, transform

_MANY = 4  # so many ways to read a tensor are no proposal

Places = tuple[tuple[str, ...], ...]  # the indices at which a tensor may be read: one of these


@dataclass(frozen=True, slots=True)
class _Open:
    """A bare tensor: its indices so far, the places of those that nothing tells, and what may stand there."""

    own: tuple[str, ...]
    places: tuple[int, ...]
    free: tuple[str, ...]
    told: bool  # an index of the statement stands in place of its own


def by_place(words: Vocabulary, s: Assign, left: Sequence[str]) -> dict[str, Places]:
    """The indices of each bare tensor, as far as the letters of its dims say nothing; `left`: those of the target.

    The tensor with the most dims that are not told comes first: the others have the same indices along these.
    """
    names = dict.fromkeys(n.name for n in bare(words, s.value))
    opened = {n: o for n in names if (o := _opened(words, s, left, n)) is not None and o.places}
    told: dict[str, str] = {}
    found: dict[str, Places] = {}
    for name, o in sorted(opened.items(), key=lambda item: -len(item[1].places)):
        sizes = [words.shapes[name][k] for k in o.places]
        if all(size in told for size in sizes):
            found[name] = (_with(o.own, {k: told[size] for k, size in zip(o.places, sizes, strict=True)}),)
            continue
        chosen = [*islice(combinations(o.free, len(sizes)), _MANY)]
        if 0 < len(chosen) < _MANY:
            found[name] = tuple(_with(o.own, dict(zip(o.places, c, strict=True))) for c in chosen)
        if len(chosen) == 1 and len({*sizes}) == len(sizes) and not told:
            told = dict(zip(sizes, chosen[0], strict=True))
    own = {n: (o.own,) for n in names if (o := _opened(words, s, left, n)) is not None and not o.places and o.told}
    return found | own


def placed(e: Expr, at: Mapping[str, Places]) -> Expr:
    """A value with these tensors read there; where several places are possible, they stay as they are."""

    def step(node: Expr) -> Expr | None:
        if isinstance(node, Call) and node.name in ("given", "cast"):  # these name a tensor
            return replace(node, args=(*(placed(a, at) for a in node.args[:-1]), *node.args[-1:]))
        if not isinstance(node, Name) or len(at.get(node.name, ())) != 1:
            return None
        return access_at(node.name, at[node.name][0], node)

    return transform(e, step)


def _opened(words: Vocabulary, s: Assign, left: Sequence[str], name: str) -> _Open | None:
    """The dims of a bare tensor that no index is known to run over; None where too little is known of it."""
    shape, own = words.shapes.get(name, ()), [*lined_up(words, s.value)(name)]
    if len(shape) != len(own) or FIRST in own or UNCLEAR in own or ("..." in own and "..." not in left):
        return None
    around = [r for r in nodes(s.value) if isinstance(r, Reduction) and Name(name, s.span) in nodes(r.body)]
    reach = dict.fromkeys((*left, *(b.name for r in around for b in r.binders if isinstance(b, Binder))))
    written = {i.name for a in nodes(s.value) if isinstance(a, Access) for i in a.items if isinstance(i, Name)}
    told = False
    for k, size in enumerate(shape):
        over = [i for i, sizes in words.along.items() if size in sizes]
        if own[k] in reach or own[k] in written or not over:
            continue
        if len(over) > 1 or over[0] not in reach or over[0] in own:
            return None
        own[k], told = over[0], True
    places = [k for k, i in enumerate(own) if i not in reach and i not in written and i != "..."]
    if any(shape[k].isdigit() for k in places):
        return None
    free = [i for i in reach if i not in (*own, "...") and not words.along.get(i)]
    free = [i for i in free if not _is_other(words, s, i, [shape[k] for k in places])]
    return _Open((*own,), (*places,), (*free,), told)


def _with(own: Sequence[str], other: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(other.get(k, i) for k, i in enumerate(own))


def _is_other(words: Vocabulary, s: Assign, index: str, sizes: Sequence[str]) -> bool:
    """Whether it is said that an index of the statement runs over another dim than these."""
    items, declared = s.target.items or (), words.results.get(s.target.name, ())
    for item, size in zip(items, declared, strict=False) if len(items) == len(declared) else ():
        if isinstance(item, Binder) and item.name == index and size not in sizes:
            return True
    binders: list[Binder | Dots | Expr] = [*items]
    binders += [b for r in nodes(s.value) if isinstance(r, Reduction) for b in r.binders]
    extents = [b.extent for b in binders if isinstance(b, Binder) and b.name == index and b.extent is not None]
    return any(
        isinstance(e, Number) or (isinstance(e, Name) and e.name[:1].isupper() and e.name not in sizes) for e in extents
    )
