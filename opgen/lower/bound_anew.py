"""A reduction that binds an index of the left anew and reads a diagonal with it, `max[s](v[s] + a[s, s])`.

A statement and the reduction in; out the statements with a letter of its own for the reduction, one for each place of
the diagonal at which the index of the left may be meant.
"""

from __future__ import annotations

from dataclasses import replace

from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Reduction
from opgen.lang.unparse import unparse_assign
from opgen.lang.vocabulary import SPARE
from opgen.lang.walk import nodes, rebuild, transform
from opgen.lower.declare import Declarations


def diagonal_of(r: Reduction, name: str) -> Access | None:
    """The one access of a reduction that has an index at several positions."""
    twice = [n for n in nodes(r.body) if isinstance(n, Access) and _places(n, name)[1:]]
    return twice[0] if len(twice) == 1 else None


def is_diagonal_alone(r: Reduction, name: str) -> bool:
    """Whether the index stands nowhere else in the reduction, as in a trace."""
    read = [n for n in nodes(r.body) if isinstance(n, Access) and _places(n, name)]
    return len(read) == 1 and read[0] is diagonal_of(r, name)


def apart(d: Declarations, a: Assign, r: Reduction, name: str) -> tuple[str, ...]:
    """The statements that may be meant; none where there is no diagonal, or no letter left."""
    diagonal = diagonal_of(r, name)
    taken = {i.name for i in a.target.items or () if isinstance(i, Binder)}
    taken |= {b.name for n in nodes(r) if isinstance(n, Reduction) for b in n.binders if isinstance(b, Binder)}
    taken |= {n.name for n in nodes(r.body) if isinstance(n, Name | Access)}
    letter = next((c for c in SPARE if c not in taken and not d.words.knows(c)), None)
    if diagonal is None or letter is None:
        return ()
    other = Name(letter, r.span)

    def put(e: Expr, kept: int) -> Expr:
        """An expression with the letter for the index, which stays at one position of the diagonal."""
        if isinstance(e, Access):
            stay = kept if e is diagonal else None
            items = (i if isinstance(i, Dots) or k == stay else put(i, kept) for k, i in enumerate(e.items))
            return replace(e, items=tuple(items))
        return other if isinstance(e, Name) and e.name == name else rebuild(e, lambda x: put(x, kept))

    binders = tuple(replace(b, name=letter) if isinstance(b, Binder) and b.name == name else b for b in r.binders)
    meant = [replace(r, binders=binders, body=put(r.body, kept)) for kept in _places(diagonal, name)]
    return tuple(unparse_assign(replace(a, value=_with(a.value, r, m))) for m in meant)


def either(lines: tuple[str, ...], name: str) -> str:
    """What is said of statements of which one is meant."""
    shown = " or ".join(f"`{line}`" for line in lines)
    return f"write {shown}, as `{name}` of the left side stands at one place or the other"


def _with(e: Expr, old: Expr, new: Expr) -> Expr:
    return transform(e, lambda n: new if n is old else None)


def _places(a: Access, name: str) -> list[int]:
    return [k for k, i in enumerate(a.items) if isinstance(i, Name) and i.name == name]
