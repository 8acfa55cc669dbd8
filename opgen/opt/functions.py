"""Functions of a spec that were kept as calls: after differentiation, most are just their formulas.

In goes a program, out comes one in which only functions from other libraries are calls. A back end that such a function
does not name then writes its value out as well, if it has one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from opgen.ir.program import Function, Program
from opgen.ir.rewrite import map_scalars
from opgen.ir.scalar import Apply, Param, Scalar, substitute, transform


def inline_functions(
    p: Program, opened: Callable[[Function], bool] = lambda f: f.value is not None and not f.spellings
) -> Program:
    """The program with every function that is to be opened replaced by its value."""
    table = {f.name: f.value for f in p.functions if f.value is not None and opened(f)}
    if not table:
        return p
    params = {f.name: f.params for f in p.functions}

    def step(e: Scalar) -> Scalar:
        if isinstance(e, Apply) and e.fn in table:
            known: dict[Scalar, Scalar] = {Param(n): a for n, a in zip(params[e.fn], e.args, strict=True)}
            return transform(substitute(table[e.fn], known), step)
        return e

    def inside(e: Scalar) -> Scalar:
        return transform(e, step)

    kept = tuple(
        replace(f, value=None if f.value is None else inside(f.value), partials=tuple(map(inside, f.partials)))
        for f in p.functions
        if f.name not in table
    )
    statements = tuple(map_scalars(s, inside) for s in p.statements)
    override = tuple(map_scalars(s, inside) for s in p.override.statements)
    return replace(p, statements=statements, functions=kept, override=replace(p.override, statements=override))
