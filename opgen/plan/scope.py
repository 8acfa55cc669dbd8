"""What kernels have a form for; everything else is left to the torch code.

In: a Program. `require_plannable` raises `UnplannableError` for its first statement that no plan can say: recurrences,
scans, accesses whose positions are more than an index or an element of an integer tensor, padded accesses, and
scatters other than a sum onto zeros.
"""

from __future__ import annotations

from opgen.ir.program import Axis, Program, Recurrence, Scatter, Statement, statement_reads
from opgen.ir.ranges import in_range
from opgen.ir.reductions import REDUCTIONS
from opgen.ir.scalar import ZERO, Apply, Batch, Dim, Index, Lit, Position, Read
from opgen.plan.errors import UnplannableError

_SCANS = tuple(r.name for r in REDUCTIONS.values() if r.keeps_index and r.single_index)


def require_plannable(p: Program) -> None:
    """Raise unless every statement is of a form that plans have."""
    for s in p.statements:
        reason = _obstacle(p, s)
        if reason:
            name = s.targets[0] if isinstance(s, Recurrence) else s.target
            raise UnplannableError(f"{name}: no kernel for {reason}")


def _obstacle(p: Program, s: Statement) -> str:
    if isinstance(s, Recurrence):
        return "a recurrence"
    if any(isinstance(a, Axis) and not isinstance(a.extent, Dim | Lit) for a in s.loops):
        return "a computed extent"
    if isinstance(s, Scatter):
        if s.op != "sum" or s.padded or s.base != ZERO:
            return "a scatter that is not a sum onto zeros"
    elif s.op in _SCANS:
        return f"the scan {s.op}"
    for read in statement_reads(s):
        indices = [q for q in read.at if isinstance(q, Index)]
        if read.fill is not None:
            return "a padded access"
        if len(set(indices)) != len(indices) or not all(_simple(q) for q in read.at):
            return "a computed position"
        if any(isinstance(q, Lit) for q in read.at) and not in_range(p, s, read):
            return "a constant position that may be out of range"
    return ""


def _simple(q: Position) -> bool:
    """An index, a constant, an element of an integer tensor, or a choice between those."""
    match q:
        case Batch() | Index() | Lit() | Read():
            return True
        case Apply("where", (_, a, b)):
            return _simple(a) and _simple(b)
        case _:
            return False
