"""Scatters that start from what they cannot change: warnings.

`max=` leaves `inf` as it is, as `min=` does `-inf`, and `*=` does 0; 0 stays where nothing beyond it comes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType

from opgen.diagnostics.model import Diagnostic, Severity, Span
from opgen.ir.operator import Variant
from opgen.ir.program import Compute, Kind, Program, Scatter
from opgen.ir.scalar import INF, NEG_INF, ZERO, Lit, Read, Scalar
from opgen.lang.unparse import unparse
from opgen.lang.walk import statement_at
from opgen.lower.declare import Declarations
from opgen.lower.signs import signs_of

# What a scatter cannot change: what is said of it, why, and what it starts from instead.
_STUCK = MappingProxyType({
    ("prod", ZERO): ("starts at 0, and so do all of its products", "0 times anything", "1"),
    ("max", INF): ("starts from inf, and so it stays: nothing is above that", "changes nothing", "-inf"),
    ("min", NEG_INF): ("starts from -inf, and so it stays: nothing is below that", "changes nothing", "inf"),
    ("min", ZERO): ("starts from 0, and so it stays: no value is below that", "changes nothing", "inf"),
    ("max", ZERO): ("starts from 0, and so it stays: no value is above that", "changes nothing", "-inf"),
    ("sum", INF): ("starts from inf, and so it stays: no sum is a number then", "changes nothing", "0"),
    ("sum", NEG_INF): ("starts from -inf, and so it stays: no sum is a number then", "changes nothing", "0"),
})  # fmt: skip
_SIGN = MappingProxyType({"min": 1, "max": -1})  # of what leaves 0 as it is


def stuck(d: Declarations, variants: Sequence[Variant]) -> Iterator[Diagnostic]:
    """A warning for each of them."""
    told: set[int] = set()
    known = signs_of(d)
    for s, start, span in (found for v in variants for found in _found(v.program)):
        own = statement_at(d.forward, span)
        sign = _SIGN.get(s.op) if start == ZERO else None
        if span.start in told or (sign is not None and (own is None or not known.has(own.value, sign))):
            continue
        told.add(span.start)
        what, label, neutral = _STUCK[s.op, start]
        name = s.target if own is None else own.target.name
        hints = (f"write `{line}`" for line in _started(d, name, neutral) if sign is None or s.kind is not Kind.INT)
        message = f"`{name}` {what}"
        yield Diagnostic("OPG267", message, span, label, hints=tuple(hints), severity=Severity.WARNING)


def _found(p: Program) -> Iterator[tuple[Scatter, Scalar, Span]]:
    """The scatters that change nothing, with what they start from."""
    starts = {s.target: s.body for s in p.statements if isinstance(s, Compute) and s.op is None}
    for s in (s for s in p.statements if isinstance(s, Scatter)):
        start = starts.get(s.base.tensor) if isinstance(s.base, Read) else s.base
        start = ZERO if isinstance(start, Lit) and not start.value else start
        if start is not None and (s.op, start) in _STUCK and s.span is not None:
            yield s, start, s.span


def _started(d: Declarations, name: str, value: str) -> Iterator[str]:
    """The statements that give a name the number that it starts from, with another one in its place."""
    for a in d.forward:
        if a.target.name == name and a.op == "=" and unparse(a.value) in ("0", "0.0", "inf", "-inf"):
            text, old = a.span.source.text, a.value.span
            yield f"{text[a.span.start : old.start]}{value}{text[old.end : a.span.end]}"
