"""Recurrences that go back by the index of a sum, `y[t] = x[t] - sum[p](a[p]*y[t - p - 1])`: the sum spelt out.

How far a recurrence goes back is a number in the spec, and so is how many coefficients there are.
"""

from __future__ import annotations

from dataclasses import replace

from opgen.ir import text
from opgen.lang.nodes import Access, Binder, Dots, Expr, Name, Number, Reduction, Sum
from opgen.lang.unparse import unparse
from opgen.lang.walk import nodes, transform
from opgen.lower.declare import Declarations

_SHOWN = 2  # steps back


def sum_spelt_out(d: Declarations, e: Access) -> str:
    """What is said of an access that goes back by the index of a sum; empty for any other."""
    for place, item in enumerate(e.items):
        if (found := _summed_over(d, item)) is not None:
            index, body = found
            terms = " + ".join(unparse(_step(body, index, e, place, k)) for k in range(_SHOWN))
            counted = (c for a in nodes(body) if isinstance(a, Access) and (c := _declared(d, a, index)))
            return (
                f"how far a recurrence goes back is a number in the spec, and no index such as `{index}`: write the"
                f" sum out, as in `{terms}`{next(counted, '')}"
            )
    return ""


def _step(body: Expr, index: str, e: Access, place: int, k: int) -> Expr:
    """What is summed for one of the steps back."""
    item = e.items[place]
    assert isinstance(item, Sum)
    before = Sum((item.terms[0], ("-", Number(k + 1, item.span))), item.span)

    def step(n: Expr) -> Expr | None:
        if not isinstance(n, Access):
            return Number(k, n.span) if n == Name(index, n.span) else None
        if n == e:
            return replace(e, items=(*e.items[:place], before, *e.items[place + 1 :]))
        return replace(n, items=tuple(i if isinstance(i, Dots) else transform(i, step) for i in n.items))

    return transform(body, step)


def _summed_over(d: Declarations, item: Expr | Dots) -> tuple[str, Expr] | None:
    """The index of a sum that an index is moved by, as `p` in `t - p - 1`, and what is summed; None of others."""
    terms = item.terms[1:] if isinstance(item, Sum) else ()
    moved = [n.name for _, term in terms for n in nodes(term) if isinstance(n, Name)]
    reductions = (r for s in (*d.forward, *d.backward) for r in nodes(s.value) if isinstance(r, Reduction))
    bound = {b.name: r.body for r in reductions for b in r.binders if isinstance(b, Binder)}
    return next(((n, bound[n]) for n in moved if n in bound), None)


def _declared(d: Declarations, a: Access, index: str) -> str:
    """What declares the coefficients of an input, as many as are spelt out."""
    place = next((k for k, i in enumerate(a.items) if isinstance(i, Name) and i.name == index), None)
    shape = d.shapes.get(a.name)
    if a.name not in d.inputs or shape is None or place is None or len(shape) != len(a.items):
        return ""
    sizes = [text.position(size) for size in shape]
    sizes[place] = str(_SHOWN)
    return f", and declare how many there are: `{a.name}: {{shape: [{', '.join(sizes)}]}}`"
