"""Neighbours on either side and nothing between, `u[i + 1] - u[i - 1]`: no element says how far the index runs.

In goes an index without an extent; out comes its statement in each way that it may be meant, with the extent stated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from opgen.ir.polynomial import polynomial
from opgen.ir.scalar import Dim, Index
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Reduction
from opgen.lang.unparse import respelled, unparse, unparse_assign, unparse_target
from opgen.lang.walk import nodes, statement_at, transform
from opgen.lower.both_ends import inside, wrapped
from opgen.lower.earlier import less, moved_on
from opgen.lower.read_further import is_read_further
from opgen.lower.scope import Check, Frame, IndexInfo


@dataclass(frozen=True, slots=True)
class _Ends:
    """An index that is read before itself and behind, by how much, with the positions that do."""

    info: IndexInfo
    read: tuple[Check, ...]
    back: int
    ahead: int

    @property
    def longest(self) -> Name:
        return Name(self.read[0].extent.name if isinstance(self.read[0].extent, Dim) else "", self.info.span)


def neighbours_only(f: Frame, info: IndexInfo) -> tuple[str, ...]:
    """The statement of an index that is read on either side of itself alone, for all such indices of it."""
    s = statement_at((*f.decl.forward, *f.decl.backward), info.span)
    lacking = dict.fromkeys(i.unique for c in f.checks for _, i in c.indices if i.stated is None and not i.sites)
    infos = {i.unique: i for c in f.checks for _, i in c.indices}
    ends = [_ends(f, infos[unique]) for unique in lacking]
    found = [e for e in ends if e is not None]
    if s is None or s.op != "=" or len(found) < len(ends) or not any(e.info is info for e in found):
        return ()
    read = [n for n in nodes(s.value) if isinstance(n, Access)]
    if any(n.name == s.target.name for n in read):
        return ()
    own = [b.span for b in s.target.items or () if isinstance(b, Binder)]
    on_left = [e.info.span in own for e in found]
    if not all(on_left) and any(on_left):
        return ()
    f.reported.update(e.info.name for e in found)
    return _of_target(f, s, found, read) if all(on_left) else _of_reduction(s, found, read)


def _ends(f: Frame, info: IndexInfo) -> _Ends | None:
    read = tuple(c for c in f.checks if any(i is info for _, i in c.indices))
    shifts = [(polynomial(c.position) - polynomial(Index(info.unique))).constant for c in read]
    far = [by for by in shifts if by is not None]
    plain = all(len(c.indices) == 1 and c.always and not c.site.written and not c.site.padded for c in read)
    same = isinstance(read[0].extent, Dim) and all(c.extent == read[0].extent for c in read)
    if not plain or not same or len(far) < len(shifts) or not min(far) < 0 < max(far):
        return None
    return _Ends(info, read, int(-min(far)), int(max(far)))


def _of_target(f: Frame, s: Assign, found: Sequence[_Ends], read: Sequence[Access]) -> tuple[str, ...]:
    left = _target(s, {e.info.name: e.longest for e in found})
    there = " and ".join(c for e in found for c in inside(e.read[0], e.back, e.ahead))
    padded, rings = _replaced(found, read)
    guard = "" if s.guard is None else f" if {respelled(s.guard)}"
    told = [
        f"write `{left} = {respelled(s.value, *padded)}{guard}`, or what there is outside in place of 0",
        f"or say what all of it is there, 0 for one: `{left} = where({there}, {respelled(s.value)}, 0){guard}`",
        f"or, to wrap around: `{left} = {respelled(s.value, *rings)}{guard}`",
    ]
    sizes = {e.info.name: less(e.read[0], e.back + e.ahead) for e in found}
    if s.guard is None and not any(
        is_read_further(f, s.target.name, name, unparse(size)) for name, size in sizes.items()
    ):
        value = s.value
        for e in found:
            value = moved_on(value, e.info.name, e.back, e.info.span)
        told.append(f"or leave out what lacks one of them: `{_target(s, sizes)} = {unparse(value)}`")
    return tuple(told)


def _of_reduction(s: Assign, found: Sequence[_Ends], read: Sequence[Access]) -> tuple[str, ...]:
    by_span = {e.info.span: e for e in found}

    def step(e: Expr) -> Expr | None:
        own = [by_span[b.span] for b in e.binders if b.span in by_span] if isinstance(e, Reduction) else []
        if not isinstance(e, Reduction) or not own:
            return None
        body = transform(e.body, step)
        for x in own:
            body = moved_on(body, x.info.name, x.back, x.info.span)
        return replace(e, binders=tuple(map(shorter, e.binders)), body=body)

    def shorter(b: Binder | Dots) -> Binder | Dots:
        e = by_span.get(b.span)
        return b if e is None or isinstance(b, Dots) else replace(b, extent=less(e.read[0], e.back + e.ahead))

    whole = [(Name(e.info.name, e.info.span), f"{e.info.name} < {e.longest.name}") for e in found]
    padded, rings = (sorted((*whole, *p), key=lambda part: part[0].span.start) for p in _replaced(found, read))
    left = unparse_target(s.target)
    guard = "" if s.guard is None else f" if {respelled(s.guard)}"
    return (
        f"leave out what lacks one of them: write `{unparse_assign(replace(s, value=transform(s.value, step)))}`",
        f"or write `{left} = {respelled(s.value, *padded)}{guard}`, or what there is outside in place of 0",
        f"or, to wrap around: `{left} = {respelled(s.value, *rings)}{guard}`",
    )


def _target(s: Assign, sizes: dict[str, Name] | dict[str, Expr]) -> str:
    items = tuple(
        replace(i, extent=sizes[i.name]) if isinstance(i, Binder) and i.name in sizes else i
        for i in s.target.items or ()
    )
    return unparse_target(replace(s.target, items=items))


def _replaced(found: Sequence[_Ends], read: Sequence[Access]) -> tuple[list[tuple[Expr, str]], list[tuple[Expr, str]]]:
    """The reads that leave their tensor, with a value for what is outside, and around the end."""
    own = [(n, [c for e in found for c in e.read if c.site.span == n.span]) for n in read]
    return (
        [(n, f"pad({respelled(n)}, 0)") for n, checks in own if checks],
        [(n, wrapped(n, checks)) for n, checks in own if checks],
    )
