"""Statements that leave out indices of what they read, right and left: `h[t] = a*h[t - 1] + x[t]` over `x: [B, T, D]`.

In goes an access with too few positions, outside of reductions; out comes its whole statement with an index for each
dim, on the left and in reads of what is assigned as well, since nothing else binds one that is added to a read alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from opgen.ir.scalar import BATCH
from opgen.lang.circles import shift_of
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Reduction
from opgen.lang.unparse import respelled, unparse
from opgen.lang.walk import nodes, statement_at
from opgen.lower.completed import likely
from opgen.lower.loose import around
from opgen.lower.readings import letters_of
from opgen.lower.scope import Frame, Known

_Row = tuple[str, ...]


def grown(f: Frame, e: Access | Name) -> tuple[str, ...]:
    """The hint with the statement of an access, or of a bare tensor beside one; none where its indices are bound, or
    what is meant is not certain.
    """
    s = statement_at(f.decl.forward, e.span)
    if s is None or s.op != "=" or s.target.name != f.target:
        return ()
    rows = _rows(f, s)
    if rows is None or not any(a is e for a, _ in rows):
        return ()
    own = [_shown(i) for i in s.target.items or ()]
    left = own
    for a, row in rows:
        left = _merged(left, _indices(a, row)) if isinstance(a, Access) else left
    more = [i for i in left if i not in own]
    if not own or not more or _is_joint(rows, own, more) or not _is_clear(f, s, more, left):
        return ()
    if any(i not in left for a, row in rows if isinstance(a, Name) for i in row):
        return ()
    parts = {id(a): f"{a.name}[{', '.join(row)}]" for a, row in rows}
    for a in (n for n in nodes(s.value) if isinstance(n, Access) and n.name == s.target.name):
        if len(a.items) != len(own):
            return ()
        at = dict(zip(own, map(_shown, a.items), strict=True))
        parts[id(a)] = f"{a.name}[{', '.join(at.get(i, i) for i in left)}]"
    changed = _in_order(s.value, parts)
    if changed is None:
        return ()
    return (f"write `{_line(s, own, left, respelled(s.value, *changed))}`",)


def _line(s: Assign, own: Sequence[str], left: Sequence[str], value: str) -> str:
    """A statement at these indices, `own` among them as they are written."""
    at = dict(zip(own, map(_written, s.target.items or ()), strict=True))
    guard = "" if s.guard is None else f" if {respelled(s.guard)}"
    return f"{s.target.name}[{', '.join(at.get(i, i) for i in left)}] = {value}{guard}"


def is_said(f: Frame, hints: tuple[str, ...]) -> bool:
    """Whether these hints, with the statement, are given to another part of it already."""
    return bool(hints) and any(hints == told.hints for told in f.bag.items)


def with_kept(f: Frame, e: Reduction) -> str:
    """The statement of an index operator with the indices left that it keeps; empty where a reduction is around it."""
    s = statement_at(f.decl.forward, e.span)
    if s is None or s.op != "=" or s.target.name != f.target or around(f, e.span) or f.scope is None:
        return ""
    kept = [b.name for b in e.binders if isinstance(b, Binder) and f.scope.find(b.name) is None]
    rows = [_indices(a, [_shown(i) for i in a.items]) for a in nodes(e.body) if isinstance(a, Access)]
    row = next((row for row in rows if {*kept} <= {*row}), [])
    own = [_shown(i) for i in s.target.items or ()]
    left = _merged(own, row)
    more = [i for i in left if i not in own]
    whole = s.target.items or not [i for i in row if not (i == "..." or i.isidentifier())]
    if not row or not whole or not _is_clear(f, s, more, left):
        return ""
    return _line(s, own, left, respelled(s.value))


def _rows(f: Frame, s: Assign) -> list[tuple[Access | Name, _Row]] | None:
    """The accesses of a statement that lack positions, each with all of them, then tensors without any.

    None where one may be meant otherwise.
    """
    found: list[tuple[Access | Name, _Row]] = []
    for a in (n for n in nodes(s.value) if isinstance(n, Access) and n.name != s.target.name):
        known = f.state.tensors.get(a.name)
        if known is None or known.shape is None or not _lacks(a, known):
            continue
        rows = likely(f, a, known)
        names = [n.name for i in a.items if not isinstance(i, Dots) for n in nodes(i) if isinstance(n, Name)]
        bound = all(f.scope is not None and f.scope.find(n) for n in names if not f.decl.words.knows(n))
        if len(rows) != 1 or known.running or not bound or around(f, a.span):
            return None
        found.append((a, rows[0]))
    return [*found, *_bare(f, s)]


def _bare(f: Frame, s: Assign) -> Iterator[tuple[Name, _Row]]:
    """The tensors with named dims that stand without indices, each with those that its dims are named for."""
    items = (i for a in nodes(s.value) if isinstance(a, Access) for i in a.items if not isinstance(i, Dots))
    within = {id(n) for i in items for n in nodes(i)}
    for n in nodes(s.value):
        known = f.state.tensors.get(n.name) if isinstance(n, Name) and id(n) not in within else None
        if isinstance(n, Name) and known is not None and known.shape and BATCH not in known.shape:
            yield n, letters_of(f, known.shape)


def _lacks(a: Access, known: Known) -> bool:
    """Whether an access has fewer positions than its tensor has dims, or none for its batch dims."""
    shape = known.shape or ()
    batch = any(isinstance(i, Dots) for i in a.items)
    return len(a.items) < len(shape) and (BATCH in shape or not batch)


def _indices(a: Access, row: Sequence[str]) -> list[str]:
    """What stands at the positions of an access: of one that is moved by a number its index."""
    apart = [i for i in a.items if not isinstance(i, Dots)]
    moved = {unparse(i): shift.index for i in apart if (shift := shift_of(i)) is not None}
    return [moved.get(i, i) for i in row]


def _merged(left: Sequence[str], row: Sequence[str]) -> list[str]:
    """The indices of a target with those of an access: each that it lacks in front of the next one that it has."""
    found = list(left)
    for k, i in enumerate(row):
        if i in found or not (i == "..." or i.isidentifier()):
            continue
        behind = next((j for j in row[k + 1 :] if j in left), None)
        before = next((j for j in reversed(row[:k]) if j in found), None)
        place = found.index(behind) if behind is not None else len(found) if before is None else found.index(before) + 1
        found.insert(place, i)
    return found


def _is_joint(rows: Sequence[tuple[Access | Name, _Row]], own: Sequence[str], more: Sequence[str]) -> bool:
    """Whether accesses at different indices of the target lack the same one, over which a sum may well be meant."""
    return any(
        len({tuple(n for n in _indices(a, row) if n in own) for a, row in rows if i in row and isinstance(a, Access)})
        > 1
        for i in more
        if i != "..."
    )


def _is_clear(f: Frame, s: Assign, more: Sequence[str], left: Sequence[str]) -> bool:
    """Whether a target with indices of its own can have more: no shape says otherwise, and nobody reads it beside
    such an index of theirs, as one does what has none.
    """
    items = s.target.items or ()
    if any(not isinstance(i, Binder | Dots) for i in items):
        return False
    if any(f.scope is None or f.scope.find(i) is not None or f.decl.words.knows(i) for i in more if i != "..."):
        return False
    shape = f.decl.output_shapes.get(s.target.name)
    others = [o for o in f.decl.forward if o.target.name != s.target.name and _reads(o, s.target.name)]
    beside = any(_shown(i) in more for o in others for i in o.target.items or ())
    return (shape is None or len(shape) == len(left)) and not beside


def _reads(s: Assign, name: str) -> bool:
    return any(isinstance(n, Access | Name) and n.name == name for n in nodes(s.value))


def _in_order(value: Expr, parts: Mapping[int, str]) -> list[tuple[Expr, str]] | None:
    """The parts of a value that change, as they stand in it; None where one is within another."""
    found = sorted(((n, parts[id(n)]) for n in nodes(value) if id(n) in parts), key=lambda part: part[0].span.start)
    apart = all(a.span.end <= b.span.start for (a, _), (b, _) in pairwise(found))
    return found if apart else None


def _shown(item: Binder | Dots | Expr) -> str:
    return "..." if isinstance(item, Dots) else item.name if isinstance(item, Binder) else respelled(item)


def _written(item: Binder | Dots | Expr) -> str:
    """A position left of `=`, with the extent that is written there."""
    return "..." if isinstance(item, Dots) else item.span.text
