"""An index that stands twice left of `=` where all pairs are meant: `gram[k, k] = sum[n](x[n, k]*x[n, k])`.

Of each pair of factors, terms, arguments or positions that read it once, the second one reads another letter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from opgen.lang.nodes import Assign, Binder, Dots, Expr, Name, Reduction
from opgen.lang.walk import nodes, operands, rebuild


def in_two_letters(s: Assign, letters: Iterable[str]) -> Assign | None:
    """The statement with one of these letters for the second one; None where its value has no pairs."""
    names = [i.name for i in s.target.items or () if isinstance(i, Binder)]
    again = [name for k, name in enumerate(names) if name in names[:k]]
    if len(again) != 1 or s.op != "=":
        return None
    taken = {*names, *(n.name for n in nodes(s.value) if isinstance(n, Name))}
    taken |= {b.name for r in nodes(s.value) if isinstance(r, Reduction) for b in r.binders if isinstance(b, Binder)}
    other = next(c for c in letters if c not in taken)
    value = _paired(s.value, again[0], other)
    if value is None:
        return None
    items: list[Binder | Dots | Expr] = []
    for item in s.target.items or ():
        second = any(isinstance(i, Binder) and isinstance(item, Binder) and i.name == item.name for i in items)
        items.append(replace(item, name=other) if second and isinstance(item, Binder) else item)
    return replace(s, target=replace(s.target, items=tuple(items)), value=value)


def _paired(e: Expr, index: str, other: str) -> Expr | None:
    """An expression with another index in the second part of each pair that reads an index; None where one has none."""
    parts = operands(e)
    counts = [_count(p, index) for p in parts]
    if isinstance(e, Reduction) and any(isinstance(b, Binder) and b.name in (index, other) for b in e.binders):
        return e
    if isinstance(e, Name):
        return None if e.name == index else e
    if sorted(counts, reverse=True)[:2] == [1, 1] and sum(counts) == len("ab"):
        second = [p for p, n in zip(parts, counts, strict=True) if n][1]
        return rebuild(e, lambda p: _instead(p, index, other) if p is second else p)
    made = {id(p): _paired(p, index, other) if n else p for p, n in zip(parts, counts, strict=True)}
    if any(m is None for m in made.values()):
        return None
    return rebuild(e, lambda p: made[id(p)] or p)


def _count(e: Expr, index: str) -> int:
    """How often an index is read that is not bound anew."""
    return sum(name == index for name in _names(e, ()))


def _names(e: Expr, bound: tuple[str, ...]) -> Iterator[str]:
    if isinstance(e, Name) and e.name not in bound:
        yield e.name
    own = [b.name for b in e.binders if isinstance(b, Binder)] if isinstance(e, Reduction) else []
    for part in operands(e):
        yield from _names(part, (*bound, *own))


def _instead(e: Expr, index: str, other: str) -> Expr:
    if isinstance(e, Name):
        return replace(e, name=other) if e.name == index else e
    return rebuild(e, lambda part: _instead(part, index, other))
