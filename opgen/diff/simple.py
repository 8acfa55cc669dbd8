"""Conditions on indices in few words: what is said twice, what follows, what holds for every place of an axis.

A guard that follows a cotangent through a program is joined with itself again and again; left as it comes, it doubles
at every step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce

from opgen.ir.arithmetic import either, negation_of
from opgen.ir.scalar import FALSE, TRUE, Apply, Index, Lit, Scalar, both


def simple(e: Scalar, extents: Mapping[str, int]) -> Scalar:
    """An equal condition; `extents` are those of indices that are known."""
    match e:
        case Apply("eq" | "ne" as fn, (Lit(a), Lit(b))):
            return Lit((a == b) is (fn == "eq"))
        case Apply("eq" | "ne" as fn, (Lit() as a, b)):
            return Apply(fn, (b, a))
        case Apply("not", (a,)):
            return negation_of(simple(a, extents))
        case Apply("and", args):
            return _all(simple(a, extents) for a in args)
        case Apply("or", args):
            return _any((simple(a, extents) for a in args), extents)
        case _:
            return e


def _all(conditions: Iterable[Scalar]) -> Scalar:
    parts = list(dict.fromkeys(p for c in conditions for p in _parts(c, "and") if p != TRUE))
    places = [p.args for p in parts if isinstance(p, Apply) and p.fn == "eq" and isinstance(p.args[1], Lit)]
    if FALSE in parts or len({a for a, _ in places}) < len(places):  # at two places at once
        return FALSE
    kept = [p for p in parts if not any(q != p and q in parts for q in _parts(p, "or"))]
    everywhere: Scalar = TRUE
    return reduce(both, kept, everywhere)


def _any(conditions: Iterable[Scalar], extents: Mapping[str, int]) -> Scalar:
    terms = {frozenset(_parts(t, "and")): t for c in conditions for t in _parts(c, "or") if t != FALSE}
    if TRUE in terms.values():
        return TRUE
    for name, extent in extents.items():
        if 0 < extent <= len(terms):
            terms = _covered(terms, name, extent)
    kept = [t for parts, t in terms.items() if not any(other < parts for other in terms)]
    nowhere: Scalar = FALSE
    return TRUE if frozenset[Scalar]() in terms else reduce(either, kept, nowhere)


def _covered(terms: dict[frozenset[Scalar], Scalar], name: str, extent: int) -> dict[frozenset[Scalar], Scalar]:
    """The terms without the place along an index where they name all of its places."""
    places = {Apply("eq", (Index(name), Lit(k))) for k in range(extent)}
    found: dict[frozenset[Scalar], set[Scalar]] = {}
    for parts in terms:
        for p in parts & places:
            found.setdefault(parts - {p}, set()).add(p)
    whole = {rest for rest, at in found.items() if at == places}
    everywhere: Scalar = TRUE
    return {
        **{parts: t for parts, t in terms.items() if not any(parts - {p} in whole for p in parts & places)},
        **{rest: reduce(both, sorted(rest, key=repr), everywhere) for rest in whole},
    }


def _parts(e: Scalar, fn: str) -> Iterator[Scalar]:
    if isinstance(e, Apply) and e.fn == fn:
        for a in e.args:
            yield from _parts(a, fn)
    else:
        yield e
