"""Long bodies cut into named parts, so that every line of printed code fits.

In goes a statement whose line is too long; out comes a part of its body as a statement of its own. No generated
expression then needs to be broken over lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from opgen.code.wide import has_wide, tree
from opgen.ir.described import described
from opgen.ir.kinds import kind_of
from opgen.ir.program import Compute, Kind, Plain, Scatter
from opgen.ir.scalar import Apply, Batch, Index, Lit, Read, Scalar
from opgen.ir.text import scalar as as_text
from opgen.torch.rewrite import open_operands, statement, varies
from opgen.torch.scope import Scope

_SHORTEST = 10  # naming less saves nothing


def largest_part(scope: Scope, s: Plain) -> Compute | None:
    """The sub-expression nearest to half of the body, to be computed on a line of its own."""
    if isinstance(s, Scatter):
        return _update(scope, s)
    half = len(as_text(s.body)) / 2
    parts = [(abs(len(as_text(n)) - half), i, n) for i, n in enumerate(_parts(s.body)) if _can_stand_alone(n, s.body)]
    if not parts:
        return _made(scope, "", s.body, s) if s.op is not None and isinstance(s.body, Apply) else None
    return _made(scope, "", min(parts)[2], s)


def _update(scope: Scope, s: Scatter) -> Compute | None:
    """What a scatter adds, then where."""
    if isinstance(s.body, Apply):
        return _made(scope, "update", s.body, s)
    position = next((q for q in s.at if isinstance(q, Apply)), None)
    return None if position is None else _made(scope, "position", position, s)


def _made(scope: Scope, name: str, part: Scalar, s: Plain) -> Compute:
    kind = kind_of(lambda tensor: scope.stored[tensor].kind, scope.program.params, part)
    return statement("mask" if kind is Kind.BOOL else name or described(part), part, s, kind)


def nested(s: Plain) -> Plain:
    """A long sum or product with its first half as an operand of its own."""

    def halved(e: Scalar) -> Scalar:
        if isinstance(e, Apply) and e.fn in ("add", "mul") and len(e.args) > 2:
            half = (len(e.args) + 1) // 2
            return Apply(e.fn, (Apply(e.fn, e.args[:half]), *e.args[half:]))
        return e

    return replace(s, body=halved(s.body)) if isinstance(s, Compute) and s.op is None else s


def balanced(s: Plain) -> Plain:
    """The statement with sums of very many terms as trees."""
    return replace(s, body=tree(s.body)) if isinstance(s, Compute) and has_wide(s.body) else s


def _parts(e: Scalar) -> Iterator[Scalar]:
    """Every node but those inside affine positions, which make their access a view."""
    yield e
    for part in open_operands(e):
        yield from _parts(part)


def _can_stand_alone(e: Scalar, body: Scalar) -> bool:
    if e is body or len(as_text(e)) < _SHORTEST or not varies(e):
        return False
    return isinstance(e, Apply) or (isinstance(e, Read) and any(not isinstance(q, Batch | Index | Lit) for q in e.at))
