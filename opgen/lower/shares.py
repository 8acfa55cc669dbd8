"""Sums of the shares of a softmax over its own indices, which are 1 whatever the scores: a warning.

In: the statements as they are written. What a name holds is looked up where it is assigned once.
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.diagnostics.model import Diagnostic
from opgen.lang.nodes import Binder, Reduction
from opgen.lang.unparse import respelled
from opgen.lang.walk import nodes
from opgen.lower.assigned import assigned_once, written_out
from opgen.lower.declare import Declarations
from opgen.lower.doubts import doubt


def whole_shares(d: Declarations) -> Iterator[Diagnostic]:
    """A warning for each sum, or mean, of shares alone."""
    once = {name: a for name, a in assigned_once(d).items() if a.guard is None}
    for a in d.forward:
        for r in (n for n in nodes(a.value) if isinstance(n, Reduction) and n.name in ("sum", "mean")):
            made = written_out(r.body, once)
            if isinstance(made, Reduction) and made.name == "softmax" and _indices(made) == _indices(r):
                yield _told(r)


def _indices(r: Reduction) -> set[str]:
    return {b.name if isinstance(b, Binder) else "..." for b in r.binders}


def _told(r: Reduction) -> Diagnostic:
    over, share = ", ".join(sorted(_indices(r))), respelled(r.body)
    shown = f"{r.name}[{over}]({share})"
    message = f"the shares of a softmax add up to 1, and `{shown}` is the same for all scores"
    hints = (
        f"the largest share is `max[{over}]({share})`",
        f"how even they are is their entropy: `-sum[{over}](xlogy({share}, {share}))`",
    )
    return doubt("OPG288", message, r, "says nothing of the scores", *hints)
