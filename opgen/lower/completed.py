"""Accesses with too few or too many positions: the ones that are meant, with each position as it is written.

In go an access and the shape of its tensor. A position stands at the dim that its index runs over elsewhere, in the
statement or else in the spec, and a dim that is left gets the index in reach that runs over it. Where nothing tells,
the dims are named and nothing is proposed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

from opgen.diagnostics.model import Hint
from opgen.diagnostics.suggest import listed
from opgen.ir import text
from opgen.ir.scalar import BATCH, Batch, Dim, Lit
from opgen.lang.circles import shift_of
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name
from opgen.lang.unparse import unparse
from opgen.lang.walk import nodes, statement_at
from opgen.lower.proposals import shape_read
from opgen.lower.readings import letters_of
from opgen.lower.scope import UNKNOWN, Frame, Known

_MOST = 3  # ways that are listed where several are as likely
_Way = dict[int, str]  # places of a shape, with what is written there


@dataclass(frozen=True, slots=True)
class _Axes:
    """The dims of a tensor as text, the index that stands for each, and the places of those that are no batch."""

    sizes: tuple[str, ...]
    letters: tuple[str, ...]
    places: tuple[int, ...]

    def named(self, place: int) -> str:
        """The index that is named for a dim: none for one of a literal size, at which any may stand."""
        return "" if self.sizes[place].isdigit() else self.letters[place]

    def written(self, way: _Way) -> tuple[str, ...]:
        return tuple(way.get(k, "...") for k in range(len(self.sizes)))


def completed(f: Frame, e: Access, known: Known) -> tuple[str, ...]:
    """What to write in place of an access that has other positions than its tensor has dims."""
    assert known.shape is not None
    if known.shape in ((), (BATCH,)):
        if (shape := _moved(f, e)) is not None:  # it means another element, and there is none
            declared = f"give it the dims that it is read along: `{e.name}: {{shape: {shape}}}`"
            return (declared,) if e.name in f.decl.inputs else ()
        return (f"write `{f'{e.name}[...]' if known.shape else e.name}`",)
    if 0 < len(rows := likely(f, e, known)) <= _MOST:
        lines = [f"{e.name}[{', '.join(row)}]" for row in rows]
        told = f"write {listed(lines)}"
        return (Hint(told, e.span.text, lines[0]) if len(rows) == 1 and _is_bound(f, e, rows[0]) else told,)
    sizes = [text.position(size) for size in known.shape]
    dims = [size for size in sizes if size != "..."]
    if len(e.items) == 1 and isinstance(one := e.items[0], Name) and dims == sizes and dims == len(dims) * dims[:1]:
        diagonal = f"{e.name}[{', '.join(len(dims) * [one.name])}]"
        return (f"for the diagonal write `{diagonal}`, and else one position for each of its dims",)
    each = f"each of its dims, {listed(dims, 'and')}" if len(dims) > 1 else f"its dim, {listed(dims)}"
    return (f"write one position for {each}{', behind `...`' if sizes[0] == '...' else ''}",)


def _is_bound(f: Frame, e: Access, row: tuple[str, ...]) -> bool:
    """Whether each index of these that an access lacks is in reach."""
    own = ["..." if isinstance(i, Dots) else unparse(i) for i in e.items]
    return all(f.scope is not None and f.scope.find(i) is not None for i in row if i not in own)


def likely(f: Frame, e: Access, known: Known) -> list[tuple[str, ...]]:
    """The positions, one for each dim of its tensor, at which an access is likely meant, in every likely way."""
    assert known.shape is not None
    own = [i for i in e.items if not isinstance(i, Dots) and not (isinstance(i, Name) and i.name == "None")]
    names = [i.name for i in own if isinstance(i, Name)]
    if len(names) == len(own) and (whole := _as_elsewhere(f, e.name, names)):
        return [tuple(whole)]
    sizes = tuple(text.position(size) for size in known.shape)
    axes = _Axes(sizes, letters_of(f, known.shape), tuple(k for k, size in enumerate(sizes) if size != "..."))
    if (way := _around_ones(f, e, own, axes)) is not None:
        return [axes.written(way)]
    return [*dict.fromkeys(axes.written(way) for way in _ways(f, e, own, axes))]


def _around_ones(f: Frame, e: Access, own: Sequence[Expr], axes: _Axes) -> _Way | None:
    """The positions at the dims that are no 1, and 0 at the others, where there are as many: `gain[c]` of [C, 1, 1]."""
    longer = [k for k in axes.places if axes.sizes[k] != "1"]
    if len(longer) == len(axes.places) or len(own) != len(longer):
        return None
    if not _agree(longer, [_possible(f, e, i, axes) for i in own]):
        return None
    return dict.fromkeys(axes.places, "0") | dict(zip(longer, map(unparse, own), strict=True))


def _moved(f: Frame, e: Access) -> str | None:
    """The shape of a tensor that is read anywhere at a position which is no index alone; None of others."""
    every = [a for s in (*f.decl.forward, *f.decl.backward) for a in nodes(s.value) if isinstance(a, Access)]
    own = [a for a in every if a.name == e.name and len(a.items) == len(e.items)]
    if all(isinstance(i, Name | Dots) for a in own for i in a.items):
        return None
    items = (i if isinstance(i, Dots) or not (n := _index(i)) else Name(n, i.span) for i in e.items)
    return shape_read(replace(e, items=tuple(items)))


def _index(item: Expr) -> str:
    """The index that stands at a position alone, or moved by a number; empty where there is none."""
    shift = shift_of(item)
    return item.name if isinstance(item, Name) else shift.index if shift is not None else ""


def _as_elsewhere(f: Frame, name: str, names: Sequence[str]) -> list[str]:
    """The indices that a tensor is assigned at, if those that are written are among them, and the others in reach."""
    own = next((s.target.items or () for s in f.decl.forward if s.target.name == name), ())
    found = ["..." if isinstance(i, Dots) else i.name if isinstance(i, Binder) else "" for i in own]
    rest = iter(found)
    lacking = [i for i in found if i not in names and i != "..."]
    within = bool(names) and "" not in found and all(n in rest for n in names)
    return found if within and f.scope is not None and all(f.scope.find(i) is not None for i in lacking) else []


def _ways(f: Frame, e: Access, own: Sequence[Expr], axes: _Axes) -> list[_Way]:
    """The likely accesses."""
    at = [_possible(f, e, i, axes) for i in own]
    surplus, inner = len(own) - len(axes.places), range(len(own))
    if surplus > 0:
        dots = axes.sizes.index("...") if "..." in axes.sizes else None
        kept = [*combinations(inner, len(axes.places))]
        if dots is not None:  # what is too much stands where the batch dims are
            kept = [tuple(k for k in inner if not dots <= k < dots + surplus)]
        kept = [w for w in kept if all(isinstance(own[k], Name) for k in inner if k not in w)]
        kept = [w for w in kept if _agree(axes.places, [at[k] for k in w], known=dots is None)]
        return [dict(zip(axes.places, (unparse(own[k]) for k in w), strict=True)) for w in kept]
    batch = axes.sizes[0] == "..." and not any(isinstance(i, Dots) for i in e.items)
    for first in range(len(own) if batch else 1):  # batch dims may have been written as indices in front
        if any(at[k] is not None or not isinstance(own[k], Name) for k in range(first)):
            break
        if found := _placed(f, e, own[first:], at[first:], axes):
            return found
    return []


def _placed(f: Frame, e: Access, own: Sequence[Expr], at: Sequence[list[int] | None], axes: _Axes) -> list[_Way]:
    """The ways in which positions stand at dims they run over, in order if they can, with what is lacking."""
    orders = [w for w in combinations(axes.places, len(own)) if _agree(w, at)]
    single = [p[0] for p in at if p is not None and len(p) == 1]
    if not orders and len({*single}) == len(own):
        orders = [tuple(single)]
    shown = [unparse(i) for i in own]
    names = [i.name for i in own if isinstance(i, Name)]
    ways = [(dict(zip(w, shown, strict=True)), _in_reach(f, e, names, w, axes)) for w in orders]
    told = [{**way, **more} for way, fills in ways for more in fills or ()]
    idle = _of_reductions(f, e, names)
    if told and not (idle and ways and all({*idle}.isdisjoint(w.values()) for w in told)):
        same = [w for w in told if _in_order(f, e, [w[k] for k in axes.places])]
        return same if len(same) == 1 and all({*w.values()} == {*same[0].values()} for w in told) else told
    moved = any(not isinstance(i, Name) for i in own)
    if len(ways) > 1 and not (moved and all(p is None for p in at)):
        return _over_reductions(idle, shown, axes)
    return [{**way, **more} for way, _ in ways[:1] if (more := _named_for(f, e, names, way, axes)) is not None]


def _agree(way: Sequence[int], at: Sequence[list[int] | None], *, known: bool = False) -> bool:
    """Whether positions can stand at these places. `known`: only where something says so of each."""
    return all((not known) if p is None else k in p for k, p in zip(way, at, strict=True))


def _possible(f: Frame, e: Access, item: Expr, axes: _Axes) -> list[int] | None:
    """The places at which a position may stand; None where nothing tells."""
    if not (index := _index(item)):
        end = f.decl.words.ends.get(item.name) if isinstance(item, Access) else None
        return [k for k in axes.places if axes.sizes[k] == end] or None
    sizes = runs_over(f, e, index) or _beside(f, e, item)
    return [k for k in axes.places if axes.sizes[k] in sizes] or (
        [k for k in axes.places if axes.named(k) == index] or ([] if sizes else None)
    )


def _beside(f: Frame, e: Access, item: Expr) -> list[str]:
    """What the index of the same position runs over in an access of the tensor that has as few: `x[j] - x[i]`."""
    place = next((k for k, i in enumerate(e.items) if i is item), 0)
    return [size for a in _alike(f, e) if (n := _at(a, place)) and n != _index(item) for size in runs_over(f, e, n)]


def _at(a: Access, place: int) -> str:
    item = a.items[place]
    return "" if isinstance(item, Dots) else _index(item)


def _alike(f: Frame, e: Access) -> list[Access]:
    """The other accesses of a tensor that have as few positions, in the statement of one."""
    own = statement_at((*f.decl.forward, *f.decl.backward), e.span)
    every = () if own is None else (a for a in nodes(own.value) if isinstance(a, Access) and a.name == e.name)
    return [a for a in every if len(a.items) == len(e.items) and a.items != e.items]


def _in_reach(f: Frame, e: Access, names: Sequence[str], way: Sequence[int], axes: _Axes) -> list[_Way] | None:
    """The indices in reach that run over the dims that a way leaves, in every order that is likely; None where a dim
    has none.
    """
    reach = _free(f, e, names)
    parts: list[list[_Way]] = []
    for size in dict.fromkeys(axes.sizes[k] for k in axes.places if k not in way):
        places = [k for k in axes.places if k not in way and axes.sizes[k] == size]
        over = [n for n in reach if size in (runs := runs_over(f, e, n)) or (not runs and n in _letters(axes, places))]
        if len(over) < len(places):
            return None
        if all(n in over for n in _letters(axes, places)):
            over = _letters(axes, places)
        parts.append([dict(zip(places, some, strict=True)) for some in combinations(over, len(places))])
    return [{k: n for part in chosen for k, n in part.items()} for chosen in product(*parts)]


def _letters(axes: _Axes, places: Sequence[int]) -> list[str]:
    return [axes.named(k) for k in places]


def _named_for(f: Frame, e: Access, names: Sequence[str], way: _Way, axes: _Axes) -> _Way | None:
    """For the dims that a way leaves, the indices in reach that run over them or are read nowhere, or those that are
    named for them; None where neither tells.
    """
    dims, reach = f.decl.known_dims(), _free(f, e, names)
    left = [k for k in axes.places if k not in way]
    more: _Way = {}
    for k in left:
        over = [n for n in reach if axes.sizes[k] in (runs := runs_over(f, e, n)) or (not runs and n == axes.named(k))]
        if len(over) == 1 and [axes.sizes[x] for x in left].count(axes.sizes[k]) == 1:
            more[k] = over[0]
    free = [n for n in reach if n not in more.values() and not runs_over(f, e, n) and n.upper() not in dims]
    left = [k for k in left if k not in more]
    if len(free) == len(left):
        return {**more, **dict(zip(left, free, strict=True))}
    again = any(axes.sizes.count(axes.sizes[k]) > 1 or axes.letters[k] in (*names, *_reach(f)) for k in left)
    return None if free or again else {**more, **{k: axes.letters[k] for k in left}}


def _over_reductions(idle: Sequence[str], shown: Sequence[str], axes: _Axes) -> list[_Way]:
    """The ways in which the indices of reductions that are read nowhere stand at the last dims, or at those of literal
    sizes where these are others; none where they are not as many as are lacking.
    """
    if len(idle) + len(shown) != len(axes.places):
        return []
    literal = [k for k in axes.places if axes.sizes[k].isdigit()]
    last = axes.places[len(shown) :]
    found: list[_Way] = []
    for over in (last, literal) if len(literal) == len(idle) else (last,):
        rest = [k for k in axes.places if k not in over]
        found.append({**dict(zip(rest, shown, strict=True)), **dict(zip(over, idle, strict=True))})
    return found


def _of_reductions(f: Frame, e: Access, names: Sequence[str]) -> list[str]:
    """The indices of reductions around an access that are read nowhere else."""
    own = statement_at((*f.decl.forward, *f.decl.backward), e.span)
    target = [i.name for i in (own.target.items or () if own is not None else ()) if isinstance(i, Binder)]
    return [n for n in _free(f, e, names) if n not in target and not runs_over(f, e, n)]


def _free(f: Frame, e: Access, names: Sequence[str]) -> list[str]:
    """The indices in reach that may stand where an access lacks one: not at `names`, nor, where nothing tells over what
    they run, beside another access of the tensor that has as few.
    """
    beside = [i.name for a in _alike(f, e) for i in a.items if isinstance(i, Name)]
    return [n for n in _reach(f) if n not in names and (n not in beside or runs_over(f, e, n))]


def _reach(f: Frame) -> list[str]:
    """The indices in scope, outermost first."""
    return [i.name for i in (f.scope.visible() if f.scope is not None else ()) if not isinstance(i, Batch)]


def _in_order(f: Frame, e: Access, items: Sequence[str]) -> bool:
    """Whether another access of the statement, or its target, has all indices among these in their order."""
    own = statement_at((*f.decl.forward, *f.decl.backward), e.span)
    if own is None:
        return False
    reach = _reach(f)
    wanted = [n for n in items if n in reach]
    beside = [a.items for a in nodes(own.value) if isinstance(a, Access) and a is not e]
    rows = [[i.name for i in row if isinstance(i, Name | Binder)] for row in (*beside, own.target.items or ())]
    return any([n for n in row if n in wanted] == wanted for row in rows)


# --- what indices run over -------------------------------------------------------------------------------------------


def runs_over(f: Frame, e: Access, index: str) -> list[str]:
    """The sizes over which an index runs beside an access: where it stands in its statement, or else in the spec."""
    every = (*f.decl.forward, *f.decl.backward)
    info = f.scope.find(index) if f.scope is not None else None
    if info is not None and isinstance(info.stated, Dim | Lit):
        return [text.scalar(info.stated)]
    own = statement_at(every, e.span)
    here = [] if own is None else [*_sites(f, own, index)]
    return [*dict.fromkeys(here or [size for s in every for size in _sites(f, s, index)])]


def _sites(f: Frame, s: Assign, index: str) -> Iterator[str]:
    """The sizes of the dims at which an index stands alone in a statement, as far as these are known."""
    target = s.target.items or ()
    within = [n for i in target if not isinstance(i, Dots | Binder) for n in nodes(i)]
    for a in (n for n in (*within, *nodes(s.value)) if isinstance(n, Access)):
        known = f.state.tensors.get(a.name)
        shape = f.decl.shapes.get(a.name) if known is None else known.shape
        if shape is None or [isinstance(i, Dots) for i in a.items] != [isinstance(n, Batch) for n in shape]:
            continue
        for item, size in zip(a.items, shape, strict=True):
            if isinstance(item, Name) and item.name == index and not isinstance(size, Batch) and size != Dim(UNKNOWN):
                yield text.scalar(size)
