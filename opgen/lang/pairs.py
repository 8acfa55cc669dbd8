"""An index that stands twice left of `=` where all pairs are meant: `gram[k, k] = sum[n](x[n, k]*x[n, k])`.

Pairs are factors, the outermost first: of two equal ones, or of two that are alone in reading it, the second one reads
another letter. Elsewhere of each pair of terms, arguments or positions that read it once the second one does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from opgen.lang.nodes import Access, Assign, Binder, Call, Dots, Expr, Name, Power, Product, Reduction, Sum
from opgen.lang.walk import integer, nodes, operands, rebuild


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
    if isinstance(e, Product | Sum) and (made := _of_parts(e, parts, index, other)) is not None:
        return made
    base = _squared(e)
    if base is not None and _count(base, index) and not _differs(base, index, of_one=False):
        return Product((("*", base), ("*", _instead(base, index, other))), e.span)
    if isinstance(e, Product) and sum(counts) > 2 and not all(_has_pair(p, index) for p in parts if _count(p, index)):
        return None
    apart = isinstance(e, Sum) and all(_squared_within(p) for p, n in zip(parts, counts, strict=True) if n)
    if sorted(counts, reverse=True)[:2] == [1, 1] and sum(counts) == 2 and not apart:
        second = [p for p, n in zip(parts, counts, strict=True) if n][1]
        return rebuild(e, lambda p: _instead(p, index, other) if p is second else p)
    each = {id(p): _paired(p, index, other) if n else p for p, n in zip(parts, counts, strict=True)}
    if any(m is None for m in each.values()):
        return None
    return rebuild(e, lambda p: each[id(p)] or p)


def _of_parts(e: Product | Sum, parts: tuple[Expr, ...], index: str, other: str) -> Expr | None:
    """A product or sum with another index in the second one of each two equal parts, or of the only two factors.

    `(x[n, d] - m[d])*(x[n, d] - m[d])` has one pair, its factors; in `(x[i] - x[i])*(y[i] - y[i])` each factor has its
    own. None where no parts are pairs.
    """
    signs = [sign for sign, _ in (e.factors if isinstance(e, Product) else e.terms)]
    open_ = [k for k, p in enumerate(parts) if _count(p, index)]
    made: dict[int, Expr] = {}
    for k in open_:
        again = (j for j in open_ if j > k and j not in made and parts[j] == parts[k])
        fits = k not in made and not any(_differs(n, index, of_one=True) for n in nodes(parts[k]))
        if fits and (j := next(again, None)) is not None and (isinstance(e, Sum) or signs[j] == signs[k]):
            made |= {k: parts[k], j: _instead(parts[j], index, other)}
    if not made and isinstance(e, Product) and len(open_) == 2:
        first, second = open_
        own = [_has_pair(parts[k], index) for k in open_]
        within = any(_differs(n, index, of_one=True) for k in open_ for n in nodes(parts[k]))
        if signs[first] == signs[second] and own[0] == own[1] and not within:
            made |= {first: parts[first], second: _instead(parts[second], index, other)}
    if not made:
        return None
    for k in open_:
        left = made.get(k) or _paired(parts[k], index, other)
        if left is None:
            return None
        made[k] = left
    done = iter([made.get(k, p) for k, p in enumerate(parts)])
    return rebuild(e, lambda _: next(done))


def _squared(e: Expr) -> Expr | None:
    """What a square is of: `e**2` and `square(e)`."""
    if isinstance(e, Power) and integer(e.exponent) == 2:
        return e.base
    return e.args[0] if isinstance(e, Call) and e.name == "square" and len(e.args) == 1 else None


def _squared_within(e: Expr) -> bool:
    return any(_squared(n) is not None for n in nodes(e))


def _differs(e: Expr, index: str, *, of_one: bool) -> bool:
    """Whether two terms of a sum read an index at the same positions, so that they are a pair; `of_one`: one tensor."""
    if isinstance(e, Reduction):
        return _differs(e.body, index, of_one=of_one)
    if not isinstance(e, Sum):
        return False
    read = [[a for a in nodes(t) if isinstance(a, Access) and _count(a, index)] for _, t in e.terms]
    found = [r[0] for r in read if r]
    return any(o.items == found[0].items and (o.name == found[0].name or not of_one) for o in found[1:])


def _has_pair(e: Expr, index: str) -> bool:
    """Whether a pair may be within an expression: a difference, a square or a product of two that read the index."""
    return any(
        _differs(n, index, of_one=False)
        or _squared(n) is not None
        or (isinstance(n, Product) and sum(_count(f, index) > 0 for _, f in n.factors) > 1)
        for n in nodes(e)
    )


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
