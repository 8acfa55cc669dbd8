"""Open local functions with stated derivatives: after differentiation they are just their formulas."""

from __future__ import annotations

from dataclasses import replace

from opgen.ir.program import Function, Program
from opgen.ir.rewrite import map_scalars
from opgen.ir.scalar import Apply, Param, Scalar, substitute, transform


def inline_functions(p: Program) -> Program:
    """The program with every local function replaced by its value."""
    if not p.functions:
        return p
    table = {f.name: f for f in p.functions}

    def step(e: Scalar) -> Scalar:
        if isinstance(e, Apply) and e.fn in table:
            return transform(applied(table[e.fn], e.args), step)
        return e

    statements = tuple(map_scalars(s, lambda e: transform(e, step)) for s in p.statements)
    override = tuple(map_scalars(s, lambda e: transform(e, step)) for s in p.override.statements)
    return replace(p, statements=statements, functions=(), override=replace(p.override, statements=override))


def applied(f: Function, args: tuple[Scalar, ...]) -> Scalar:
    """The value of a function at its arguments."""
    known: dict[Scalar, Scalar] = {Param(n): a for n, a in zip(f.params, args, strict=True)}
    return substitute(f.value, known)
