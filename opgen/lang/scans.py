"""A scan of other libraries over steps, `h = scan[t](a*h + x[t])`, as what it is here: a recurrence.

In go the reduction, the name that its statement gives a value, and the indices of that; out comes the step.
"""

from __future__ import annotations

from collections.abc import Sequence

from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import Access, Binder, Dots, Expr, Name, Number, Reduction, Sum
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import names_read, transform

_NAMES = ("scan", "associative_scan", "fold", "foldl", "accumulate", "fori_loop")


def step_of_scan(words: Vocabulary, e: Reduction, target: str, left: Sequence[str]) -> Expr | None:
    """The body with what it reads of the target at the step before; None where it reads nothing of it."""
    index = e.binders[0] if len(e.binders) == 1 else None
    if e.name not in _NAMES or not isinstance(index, Binder) or target not in names_read(e.body):
        return None
    order = [*left] or [*layout(words, spelled(words, e.body))]
    if index.name not in order:
        return None

    def step(n: Expr) -> Expr | None:
        if not isinstance(n, Name) or n.name != target:
            return n if isinstance(n, Access) else None
        before = Sum((("+", Name(index.name, n.span)), ("-", Number(1, n.span))), n.span)
        at: dict[str, Expr | Dots] = {"...": Dots(n.span), index.name: before}
        return Access(target, tuple(at.get(i, Name(i, n.span)) for i in order), n.span, n.span)

    return transform(e.body, step)
