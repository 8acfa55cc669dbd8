"""Drop the statements that no output needs."""

from __future__ import annotations

from dataclasses import replace

from opgen.diff.structure import live, tensors_of
from opgen.ir.program import Program, definitions


def dce(p: Program) -> Program:
    """The same program without dead statements; arguments stay, they are the calling convention."""
    wanted = [o.value for o in p.outputs]
    if p.override.statements:
        wanted += [r for s in p.override.statements for r in _primal_reads(p, s.target)]
    return replace(p, statements=live(p.statements, wanted))


def _primal_reads(p: Program, target: str) -> tuple[str, ...]:
    """What a statement of the `backward:` block reads of the program."""
    own = {s.target for s in definitions(p)}
    s = next(s for s in p.override.statements if s.target == target)
    return tuple(t for t in tensors_of(s) if t in own)
