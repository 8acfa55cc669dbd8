"""Sines of whole half turns, which are 0: a warning.

`sin(pi*k*n)` of whole numbers lacks what the turn is divided by. In: the statements as they are written.
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.diagnostics.model import Diagnostic
from opgen.lang.nodes import Access, Assign, Binder, Call, Expr, Name, Product
from opgen.lang.spread import bound_in
from opgen.lang.unparse import respelled
from opgen.lang.walk import nodes
from opgen.lower.assigned import assigned_once, written_out
from opgen.lower.declare import Declarations
from opgen.lower.doubts import doubt
from opgen.lower.whole_numbers import Whole

_SINES = ("sin", "tan")


def half_turns(d: Declarations) -> Iterator[Diagnostic]:
    """A warning for each sine that is 0 but for rounding."""
    once = {name: a for name, a in assigned_once(d).items() if a.guard is None}
    whole = Whole(d, once)
    for a in (s for s in d.forward if not _is_name(d, s)):
        for e in (n for n in nodes(a.value) if isinstance(n, Call) and n.name not in d.functions and len(n.args) == 1):
            if e.name in _SINES and _is_of_pi(whole, written_out(e.args[0], once)):
                yield _told(e)


def _is_name(d: Declarations, a: Assign) -> bool:
    """Whether a spec calls something else `pi`, or a statement an index."""
    left = {b.name for b in a.target.items or () if isinstance(b, Binder)}
    return d.words.knows("pi") or "pi" in {*d.targets(), *left, *bound_in(a.value)}


def _is_of_pi(whole: Whole, e: Expr) -> bool:
    """Whether an angle is a whole number times pi."""
    if not isinstance(e, Product) or any(op != "*" for op, _ in e.factors):
        return False
    turns = [f for _, f in e.factors if isinstance(f, Name) and f.name == "pi"]
    return len(turns) == 1 and all(f in turns or whole.is_whole(f) for _, f in e.factors)


def _told(e: Call) -> Diagnostic:
    message = f"`{respelled(e)}` is 0 everywhere, but for rounding: the angle is so many whole half turns"
    angle = respelled(e.args[0])
    whole = angle if isinstance(e.args[0], Product | Name | Access) else f"({angle})"
    hint = f"a part of a turn is divided by how many parts there are: `{e.name}({whole}/…)`"
    return doubt("OPG288", message, e, "whole half turns", hint)
