"""Sums over neighbours of which some stand outside: terms that need different ends, each with a sum of its own.

In `sum[i, j](s[i, j]*s[i + 1, j] + s[i, j]*s[i, j + 1])` an `i` that ends earlier leaves out pairs along `j`. In goes a
position that leaves its tensor; out comes the statement with a sum for each end, where each term is whole by itself: it
reads the element and its neighbour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.diagnostics.model import Span
from opgen.lang.nodes import Access, Binder, Dots, Expr, Name, Product, Reduction, Sum, Unary
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import nodes, statement_at, transform
from opgen.lower.earlier import less, moved_on, shift
from opgen.lower.outside import over
from opgen.lower.scope import Check, Frame

_Term = tuple[str, Expr]
_Ends = tuple[tuple[str, int, int], ...]  # an index, how far it reads before itself, and how far behind


def sums_apart(f: Frame, c: Check) -> str | None:
    """The statement with a sum for each end, empty for a mean; None where all terms have one, or belong together."""
    r = over(f, c)
    s = statement_at((*f.decl.forward, *f.decl.backward), c.span)
    if r is None or s is None or r.name not in ("sum", "mean") or r.further is not None:
        return None
    groups: dict[_Ends, list[_Term]] = {}
    for sign, term in (terms := _terms(f, r, "+", r.body)):
        groups.setdefault(_ends(f, r, term), []).append((sign, term))
    if len(groups) < 2 or not all(_is_whole(f, r, term) for _, term in terms):
        return None
    if r.name == "mean":
        return ""
    made = _added([_summed(f, r, ends, own) for ends, own in groups.items()], r.span)
    return unparse_assign(replace(s, value=transform(s.value, lambda n: made if n is r else None)))


def _terms(f: Frame, r: Reduction, sign: str, e: Expr) -> list[_Term]:
    """The terms that a body adds, those of a factor included where each of them may stand alone."""
    match e:
        case Sum(terms=terms):
            return [t for own, x in terms for t in _terms(f, r, _times(sign, own), x)]
        case Unary(op="-", operand=operand):
            return _terms(f, r, _times(sign, "-"), operand)
        case Product(factors=factors) if all(op in "*/" for op, _ in factors):
            for k, (op, x) in enumerate(factors):
                if op != "*" or not isinstance(x, Sum) or not _is_spread(f, r, e, x):
                    continue
                made: list[_Term] = []
                for own, t in x.terms:
                    parts = (
                        t.factors if isinstance(t, Product) and all(o in "*/" for o, _ in t.factors) else (("*", t),)
                    )
                    product = Product((*factors[:k], *parts, *factors[k + 1 :]), e.span)
                    made += _terms(f, r, _times(sign, own), product)
                return made
    return [(sign, e)]


def _is_spread(f: Frame, r: Reduction, e: Product, x: Sum) -> bool:
    """Whether the terms of a factor are all read at neighbours, or the other factors are the same everywhere."""
    names = [b.name for b in r.binders if isinstance(b, Binder)]
    rest = (n for _, o in e.factors if o is not x for n in nodes(o))
    return all(_ends(f, r, t) for _, t in x.terms) or not any(isinstance(n, Name) and n.name in names for n in rest)


def _checks(f: Frame, r: Reduction, e: Expr) -> list[tuple[Check, int]]:
    """What is read in an expression at an index of a reduction, and how far from it."""
    names = [b.name for b in r.binders if isinstance(b, Binder)]
    places = [n.span for n in nodes(e) if isinstance(n, Access)]
    own = ((c, shift(c)) for c in f.checks if c.site.span in places)
    return [(c, by) for c, by in own if by is not None and c.indices[0][1].name in names]


def _ends(f: Frame, r: Reduction, e: Expr) -> _Ends:
    """How far an expression reads from each index, of those that it reads neighbours of."""
    found: dict[str, tuple[int, int]] = {}
    for c, by in _checks(f, r, e):
        back, ahead = found.get(name := c.indices[0][1].name, (0, 0))
        found[name] = (max(back, -by), max(ahead, by))
    return tuple((name, back, ahead) for name, (back, ahead) in found.items() if back or ahead)


def _is_whole(f: Frame, r: Reduction, e: Expr) -> bool:
    """Whether a term that reads a neighbour reads the element itself, too."""
    read = _checks(f, r, e)
    here = [(c.site.tensor, c.indices[0][1].name) for c, by in read if by == 0]
    return all((c.site.tensor, c.indices[0][1].name) in here for c, by in read if by)


def _summed(f: Frame, r: Reduction, ends: _Ends, terms: Sequence[_Term]) -> _Term:
    """The sum of some terms over the places where all that they read is there, with its sign."""
    sign = terms[0][0]
    body = _added([(_times(sign, own), t) for own, t in terms], r.span)
    at = {name: (back, ahead) for name, back, ahead in ends}
    binders: list[Binder | Dots] = []
    for b in r.binders:
        own = at.get(b.name) if isinstance(b, Binder) else None
        if isinstance(b, Binder) and own is not None:
            c = next(c for _, t in terms for c, _ in _checks(f, r, t) if c.indices[0][1].name == b.name)
            body = moved_on(body, b.name, own[0], b.span) if own[0] else body
            binders.append(replace(b, extent=less(c, sum(own))))
        else:
            binders.append(b)
    return sign, replace(r, binders=tuple(binders), body=body)


def _times(sign: str, other: str) -> str:
    return "+" if sign == other else "-"


def _added(terms: Sequence[_Term], at: Span) -> Expr:
    (sign, first), *rest = terms
    first = first if sign == "+" else Unary("-", first, at)
    return Sum((("+", first), *rest), at) if rest else first
