"""Values that are added up over indices of the right side alone, `t += m[i]*v[i]**2`: the reduction that is meant.

In go a scatter whose target has no computed position and nothing to start from, out comes the statement.
"""

from __future__ import annotations

from dataclasses import replace

from opgen.lang.layout import bare, layout, spelled
from opgen.lang.nodes import Assign, Binder, Dots, Expr, Reduction, Sum
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import statement_names
from opgen.lower.declare import Declarations

_REDUCTIONS = {"+=": "sum", "*=": "prod", "max=": "max", "min=": "min"}


def accumulated(d: Declarations, s: Assign) -> tuple[str, ...]:
    """What is written in place of all scatters into one name; nothing where one of them is something else."""
    own = [o for o in d.forward if o.target.name == s.target.name]
    plain = all(isinstance(i, Binder | Dots) for o in own for i in o.target.items or ())
    same = all(o.op == s.op and o.guard is None and o.target.items == s.target.items for o in own)
    if not plain or not same or s.target.padded or any(s.target.name in statement_names(o) for o in own):
        return ()
    if any(True for o in own for _ in bare(d.words, o.value)):
        return ()  # at which of the indices such a tensor is read is not said
    found = [_reduced(d, o) for o in own]
    if not any(over for _, over in found) or (len(own) > 1 and s.op != "+="):
        return ()
    values = [e for e, _ in found]
    value = values[0] if len(values) == 1 else Sum(tuple(("+", e) for e in values), s.value.span)
    lacks = dict.fromkeys(i for _, over in found for i in over)
    line = unparse_assign(replace(s, op="=", value=value))
    return (f"{', '.join(f'`{i}`' for i in lacks)} {'is' if len(lacks) == 1 else 'are'} reduced: write `{line}`",)


def _reduced(d: Declarations, s: Assign) -> tuple[Expr, tuple[str, ...]]:
    """What a scatter adds, reduced over the indices that its target lacks, and these."""
    left = {i.name for i in s.target.items or () if isinstance(i, Binder)}
    whole = spelled(d.words, s.value)
    over = tuple(i for i in layout(d.words, whole) if i != "..." and i not in left)
    if not over:
        return s.value, ()
    binders = tuple(Binder(i, None, s.value.span) for i in over)
    return Reduction(_REDUCTIONS[s.op], binders, whole, s.value.span, s.value.span), over
