"""Long bodies cut into named parts, so that every line of printed code fits.

In goes a statement whose line is too long; out comes a part of its body as a statement of its own. No generated
expression then needs to be broken over lines.
"""

from __future__ import annotations

from dataclasses import replace

from opgen.emit.torch_prepare import described, kind_of, statement
from opgen.emit.torch_scope import Scope
from opgen.emit.wide import has_wide, tree
from opgen.ir.program import Compute, Kind, Scatter, Statement
from opgen.ir.scalar import Apply, Read, Scalar, walk
from opgen.ir.text import scalar as as_text

_SHORTEST = 10  # naming less saves nothing


def largest_part(scope: Scope, s: Statement) -> Compute | None:
    """The sub-expression nearest to half of the body, to be computed on a line of its own."""
    if isinstance(s, Scatter):
        return _update(scope, s)
    half = len(as_text(s.body)) / 2
    best: Scalar | None = None
    distance = half
    for n in walk(s.body):
        if n is not s.body and isinstance(n, Apply):
            length = len(as_text(n))
            if length >= _SHORTEST and (best is None or abs(length - half) < distance) and _has_read(n):
                best, distance = n, abs(length - half)
    if best is None:
        return _made(scope, "", s.body, s) if s.op is not None and isinstance(s.body, Apply) else None
    return _made(scope, "", best, s)


def _update(scope: Scope, s: Scatter) -> Compute | None:
    """What a scatter adds, then where."""
    if isinstance(s.body, Apply):
        return _made(scope, "update", s.body, s)
    position = next((q for q in s.at if isinstance(q, Apply)), None)
    return None if position is None else _made(scope, "position", position, s)


def _made(scope: Scope, name: str, part: Scalar, s: Statement) -> Compute:
    kind = kind_of(lambda tensor: scope.stored[tensor].kind, scope.program, part)
    return statement("mask" if kind is Kind.BOOL else name or described(part), part, s, kind)


def nested(s: Statement) -> Statement:
    """A long sum or product with its first half as an operand of its own."""

    def halved(e: Scalar) -> Scalar:
        if isinstance(e, Apply) and e.fn in ("add", "mul") and len(e.args) > 2:
            half = (len(e.args) + 1) // 2
            return Apply(e.fn, (Apply(e.fn, e.args[:half]), *e.args[half:]))
        return e

    return replace(s, body=halved(s.body)) if isinstance(s, Compute) and s.op is None else s


def balanced(s: Statement) -> Statement:
    """The statement with sums of very many terms as trees."""
    return replace(s, body=tree(s.body)) if isinstance(s, Compute) and has_wide(s.body) else s


def _has_read(e: Scalar) -> bool:
    return any(isinstance(n, Read) for n in walk(e))
