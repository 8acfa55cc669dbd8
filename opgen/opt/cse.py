"""Common subexpressions: statements that compute the same thing are computed once.

Within bodies sharing is left to the printers, which know what a temporary costs; `shared_subexpressions` tells them
what occurs more than once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.diff.contribution import rename
from opgen.ir.program import Axis, Compute, Loop, Program, Recurrence, Scatter, Statement
from opgen.ir.rewrite import retarget
from opgen.ir.scalar import Apply, Batch, Scalar, children


def cse(p: Program) -> Program:
    """Merge statements that differ in nothing but the names of their target and indices."""
    seen: dict[Compute | Scatter, str] = {}
    merged: dict[str, str] = {}
    kept: list[Statement] = []
    for original in p.statements:
        s = retarget(original, merged)
        if isinstance(s, Recurrence):
            kept.append(s)
            continue
        found = seen.setdefault(canonical(s), s.target)
        if found == s.target:
            kept.append(s)
        else:
            merged[s.target] = found
    outputs = tuple(replace(o, value=merged.get(o.value, o.value)) for o in p.outputs)
    override = replace(p.override, statements=tuple(retarget(s, merged) for s in p.override.statements))
    return replace(p, statements=tuple(kept), outputs=outputs, override=override)


def canonical(s: Compute | Scatter) -> Compute | Scatter:
    """The statement with its target and indices numbered."""
    loops = s.loops if isinstance(s, Compute) else (*s.axes, *s.loops)
    mapping: dict[str, str] = {}
    for a in loops:
        if isinstance(a, Axis) and a.name not in mapping:
            mapping[a.name] = f"#{len(mapping)}"

    def loop(a: Loop) -> Loop:
        return Axis(mapping[a.name], a.extent) if isinstance(a, Axis) else a

    axes = tuple(loop(a) for a in s.axes)
    match s:
        case Compute():
            over = tuple(loop(a) for a in s.over)
            return replace(s, target="", axes=axes, over=over, body=rename(s.body, mapping))
        case Scatter():
            at = tuple(p if isinstance(p, Batch) else rename(p, mapping) for p in s.at)
            body, base = rename(s.body, mapping), rename(s.base, mapping)
            return replace(s, target="", axes=axes, loops=tuple(map(loop, s.loops)), at=at, body=body, base=base)


def shared_subexpressions(bodies: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """The calls and operations that stand more than once in the bodies, innermost first.

    What stands only inside a larger shared expression is not listed. The branches of a `where` count too: whether a
    value may be computed outside its branch is for the printer to decide.
    """
    uses: dict[Scalar, int] = {}
    order: dict[Scalar, None] = {}

    def visit(e: Scalar) -> None:
        if isinstance(e, Apply):
            uses[e] = uses.get(e, 0) + 1
            if uses[e] > 1:
                return
        for c in children(e):
            visit(c)
        if isinstance(e, Apply):
            order[e] = None

    for body in bodies:
        visit(body)
    return tuple(e for e in order if uses[e] > 1)
