"""Bounds that are the wrong way round for all values that the domains allow: a warning.

`clamp(x, 1 + eps, 1 - eps)` is `1 - eps` for each `eps > 0`. In: the statements as they are written, and the domains.
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.diagnostics.model import Diagnostic
from opgen.lang.nodes import Assign, Binder, Call, Expr, Name
from opgen.lang.unparse import respelled
from opgen.lang.walk import nodes
from opgen.lower.along import size_of
from opgen.lower.assigned import assigned_once
from opgen.lower.declare import Declarations
from opgen.lower.doubts import doubt
from opgen.lower.multiples import Known, multiples, plus


def bounds(d: Declarations) -> Iterator[Diagnostic]:
    """A warning for each pair of bounds of which the lower one is never below the upper one."""
    once = assigned_once(d)
    calls = ((a, n) for a in d.forward for n in nodes(a.value) if isinstance(n, Call))
    for a, c, (low, high, value, meant) in ((a, n, pair) for a, n in calls for pair in _pairs(n)):
        known, away = Known(d, _sizes(d, a)), plus(multiples(low, once), multiples(high, once), -1)
        strict = known.shown(away, strict=True)
        if strict or (away and known.shown(away, strict=False)):
            than = "above" if strict else "never below"
            message = f"the lower bound is {than} the upper one: this is `{respelled(value)}`"
            yield doubt("OPG276", message, c, "whatever is bounded", f"write `{meant}`")


def _sizes(d: Declarations, a: Assign) -> frozenset[str]:
    """The sizes that are not 0 where a statement computes anything."""
    own = [i for i in a.target.items or () if isinstance(i, Binder)]
    stated = (i.extent.name for i in own if isinstance(i.extent, Name))
    return frozenset((*stated, *(size_of(d, a, i.name) for i in own if i.extent is None)))


def _pairs(c: Call) -> Iterator[tuple[Expr, Expr, Expr, str]]:
    """A lower and an upper bound, what a call is if they are the wrong way round, and the call with them exchanged."""
    if c.name == "clamp" and len(c.args) == 3:
        _, low, high = c.args
        yield low, high, high, respelled(c, (low, respelled(high)), (high, respelled(low)))
    inner = {"min": "max", "max": "min"}.get(c.name)
    for k, within in enumerate(c.args if inner is not None and len(c.args) == 2 else ()):
        if isinstance(within, Call) and within.name == inner and len(within.args) == 2:
            outer = c.args[1 - k]
            for bound in within.args:
                low, high = (bound, outer) if inner == "max" else (outer, bound)
                turned = ((bound, respelled(outer)), (outer, respelled(bound)))
                yield low, high, outer, respelled(c, *(turned if k == 0 else turned[::-1]))
