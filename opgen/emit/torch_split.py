"""Long bodies cut into named parts, so that every line of printed code fits.

In goes a statement whose line is too long; out comes one that reads the parts, which were made statements of their own. No
generated expression then needs to be broken over lines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from opgen.emit.torch_prepare import _kind, _statement
from opgen.emit.torch_scope import Scope
from opgen.ir.program import Compute, Kind
from opgen.ir.scalar import Apply, Read, Scalar, substitute, walk
from opgen.ir.text import scalar as as_text

_PART = 56


def split(scope: Scope, s: Compute, bind: Callable[[Compute], Read]) -> Compute:
    """The statement over parts of at most a comfortable length, bound in order of evaluation."""
    if s.op == "sum":
        return s if not isinstance(s.body, Apply) else replace(s, body=_rebuilt(scope, s.body, s, bind))
    return replace(s, body=_rebuilt(scope, s.body, s, bind))


def _rebuilt(scope: Scope, e: Scalar, s: Compute, bind: Callable[[Compute], Read]) -> Scalar:
    while True:
        part = _largest_part(e)
        if part is None:
            return e
        kind = _kind(scope.program, part) if all(r.tensor in _known(scope) for r in walk(part) if isinstance(r, Read)) else Kind.FLOAT
        made = bind(_statement("mask" if kind is Kind.BOOL else "part", part, s, kind))
        e = substitute(e, {part: made})


def _known(scope: Scope) -> tuple[str, ...]:
    p = scope.program
    return (*(t.name for t in p.inputs), *(t.target for t in p.statements))


def _largest_part(e: Scalar) -> Scalar | None:
    """The largest proper sub-expression that fits a line of its own, once the whole is too long."""
    if len(as_text(e)) <= _PART + 20:
        return None
    parts = [n for n in walk(e) if n is not e and isinstance(n, Apply) and any(isinstance(m, Read) for m in walk(n))]
    fitting = [n for n in parts if 16 <= len(as_text(n)) <= _PART]  # noqa: PLR2004 (shorter saves nothing)
    return max(fitting, key=lambda n: len(as_text(n)), default=None)
