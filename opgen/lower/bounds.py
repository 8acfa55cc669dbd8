"""Bounds that are the wrong way round for all values that the domains allow, or with the defaults: a warning.

`clamp(x, 1 + eps, 1 - eps)` is `1 - eps` for each `eps > 0`. In: the statements as they are written, the domains, and
the defaults of params.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from opgen.diagnostics.model import Diagnostic
from opgen.diagnostics.suggest import listed
from opgen.lang.nodes import Access, Assign, Binder, Call, Dots, Expr, Name
from opgen.lang.unparse import respelled
from opgen.lang.walk import literal, nodes, transform
from opgen.lower.along import size_of, sizes_at
from opgen.lower.assigned import assigned_once
from opgen.lower.declare import Declarations
from opgen.lower.doubts import doubt
from opgen.lower.multiples import Known, Linear, multiples, plus


@dataclass(frozen=True, slots=True)
class _Pair:
    """A lower and an upper bound of a call, what it is if they are the wrong way round, and what exchanges them."""

    low: Expr
    high: Expr
    value: Expr
    call: Call
    places: tuple[tuple[Expr, Expr], ...]  # what is written in place of which part of the call

    @property
    def turned(self) -> str:
        """The call with the bounds exchanged."""
        return respelled(self.call, *((old, respelled(new)) for old, new in self.places))


def bounds(d: Declarations) -> Iterator[Diagnostic]:
    """A warning for each pair of bounds of which the lower one is never below the upper one."""
    once = assigned_once(d)
    calls = ((a, n) for a in d.forward for n in nodes(a.value) if isinstance(n, Call))
    for a, c, p in ((a, n, pair) for a, n in calls for pair in _pairs(n)):
        away = plus(multiples(p.low, once), multiples(p.high, once), -1)
        if than := _than(d, a, c, away):
            message = f"the lower bound is {than}: this is `{respelled(p.value)}`"
            yield doubt("OPG276", message, c, "whatever is bounded", f"write `{p.turned}`")
        elif Known(d).shown(with_defaults(d, away, once), strict=True):
            message = f"with the defaults, the lower bound is above the upper one: this is `{respelled(p.value)}`"
            yield doubt("OPG276", message, c, "whatever is bounded", f"write `{p.turned}`", *_exchanged(d, p))


def bounded(d: Declarations) -> Iterator[Diagnostic]:
    """A warning for each clamp of what is never above the lower bound, as where what is bounded stands last."""
    once = assigned_once(d)
    calls = ((a, n) for a in d.forward for n in nodes(a.value) if isinstance(n, Call))
    for a, c in calls:
        value, low, high = c.args if c.name == "clamp" and len(c.args) == 3 else (None, None, None)
        if value is None or low is None or high is None:
            continue
        away = plus(multiples(low, once), multiples(value, once), -1)
        if away and Known(d, _sizes(d, a)).shown(away, strict=False):
            meant = f"min({respelled(low)}, {respelled(high)})"
            message = f"what is bounded is never above the lower bound: this is `{meant}`"
            numbers = literal(value) is not None and literal(low) is not None and literal(high) is None
            turned = respelled(c, (value, respelled(high)), (low, respelled(value)), (high, respelled(low)))
            hint = f"write `{turned}`" if numbers else "what is bounded stands first: `clamp(x, low, high)`"
            yield doubt("OPG276", message, c, "whatever is read", hint)


def _than(d: Declarations, a: Assign, c: Call, away: Linear) -> str:
    """How a lower bound lies to an upper one, of which it is `away`, where that is the wrong way for certain."""
    known = Known(d, _sizes(d, a) | _read_along(d, a, c))
    if known.shown(away, strict=True):
        return "above the upper one"
    if away and known.shown(away, strict=False):
        return "never below the upper one"
    sizes = [k.name for k in away if isinstance(k, Name) and k.name in d.known_dims()]
    some = bool(sizes) and Known(d, known.sizes | {*sizes}).shown(away, strict=False)
    are = "is" if len(sizes) == 1 else "are"
    return f"never below the upper one where {listed(sizes, 'and')} {are} not 0" if some else ""


def with_defaults(d: Declarations, e: Linear, once: Mapping[str, Assign]) -> Linear:
    """A sum with the numbers that are the defaults of its params."""
    values = {n: v for n, found in d.defaults.items() if len(found) == 1 and literal(v := found[0]) is not None}
    if not values:
        return e
    number = {k: transform(k, lambda n: values.get(n.name) if isinstance(n, Name) else None) for k in e if k}
    found: Linear = {k: c for k, c in e.items() if k is None}
    for k, meant in number.items():
        found = plus(found, multiples(meant, once), e[k])
    return found


def _exchanged(d: Declarations, p: _Pair) -> Iterator[str]:
    """That the defaults of two params may be exchanged."""
    if isinstance(p.low, Name) and isinstance(p.high, Name) and {p.low.name, p.high.name} <= {*d.params}:
        yield f"or exchange the defaults of `{p.low.name}` and `{p.high.name}`"


def _sizes(d: Declarations, a: Assign) -> frozenset[str]:
    """The sizes that are not 0 where a statement computes anything."""
    own = [i for i in a.target.items or () if isinstance(i, Binder)]
    stated = (i.extent.name for i in own if isinstance(i.extent, Name))
    return frozenset((*stated, *(size_of(d, a, i.name) for i in own if i.extent is None)))


def _read_along(d: Declarations, a: Assign, c: Call) -> frozenset[str]:
    """The sizes of the axes that a call says the place on: an axis of none is not read."""
    found: set[str] = set()
    for read in (n for n in nodes(a.value) if isinstance(n, Access)):
        for k, i in enumerate(read.items):
            if not isinstance(i, Dots) and any(n is c for n in nodes(i)):
                found |= sizes_at(d, read, k)
    return frozenset(found)


def _pairs(c: Call) -> Iterator[_Pair]:
    """The bounds of a call."""
    if c.name == "clamp" and len(c.args) == 3:
        _, low, high = c.args
        yield _Pair(low, high, high, c, ((low, high), (high, low)))
    inner = {"min": "max", "max": "min"}.get(c.name)
    for k, within in enumerate(c.args if inner is not None and len(c.args) == 2 else ()):
        if isinstance(within, Call) and within.name == inner and len(within.args) == 2:
            outer = c.args[1 - k]
            for bound in within.args:
                low, high = (bound, outer) if inner == "max" else (outer, bound)
                turned = ((bound, outer), (outer, bound))
                yield _Pair(low, high, outer, c, turned if k == 0 else turned[::-1])
