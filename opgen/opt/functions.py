"""Functions that were kept as calls: after differentiation, most are just their formulas.

In goes a program, out comes one in which only functions that back ends have are calls: rows of the table that are no
formulas, and functions from other libraries. A back end that one of these does not name writes its value out as well,
if it has one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from opgen.ir.formula import scalar
from opgen.ir.functions import FUNCTIONS
from opgen.ir.program import Function, Program, statement_scalars
from opgen.ir.rewrite import map_scalars
from opgen.ir.scalar import Apply, Param, Scalar, substitute, transform, walk


def _defined(called: Iterable[str], own: Mapping[str, object]) -> tuple[str, ...]:
    """The rows of the table that are formulas, among those called, with those that their formulas call."""
    found: dict[str, None] = {}
    queue = [name for name in called if name not in own]
    while queue:
        name = queue.pop()
        if name in FUNCTIONS and FUNCTIONS[name].value and name not in found:
            found[name] = None
            formula = scalar(FUNCTIONS[name].value, FUNCTIONS[name].args)
            queue += [n.fn for n in walk(formula) if isinstance(n, Apply)]
    return tuple(found)


def _reached(functions: Sequence[Function], opened: Collection[str]) -> tuple[Function, ...]:
    """The functions that are not opened, and those that their derivatives go on to."""
    own = {f.name: f for f in functions}
    queue = [f.name for f in functions if f.name not in opened]
    found = dict.fromkeys(queue)
    while queue:
        called = (n.fn for e in own[queue.pop()].scalars for n in walk(e) if isinstance(n, Apply))
        more = [n for n in dict.fromkeys(called) if n in own and n not in found]
        found |= dict.fromkeys(more)
        queue += more
    return tuple(f for f in functions if f.name in found)


def inline_functions(
    p: Program, opened: Callable[[Function], bool] = lambda f: f.value is not None and not f.spellings
) -> Program:
    """The program with every function that is to be opened replaced by its value."""
    table = {f.name: f.value for f in p.functions if f.value is not None and opened(f)}
    params = {f.name: f.params for f in p.functions}
    scalars = [*(e for s in (*p.statements, *p.override.statements) for e in statement_scalars(s)), *table.values()]
    scalars += [e for f in p.functions for e in f.scalars]
    called = dict.fromkeys(n.fn for e in scalars for n in walk(e) if isinstance(n, Apply))
    local = tuple(params)
    for name in _defined(called, params):
        row = FUNCTIONS[name]
        table[name], params[name] = scalar(row.value, row.args), row.args
    if not table:
        return p

    def step(e: Scalar) -> Scalar:
        if isinstance(e, Apply) and e.fn in table:
            known: dict[Scalar, Scalar] = {Param(n): a for n, a in zip(params[e.fn], e.args, strict=True)}
            return transform(substitute(table[e.fn], known), step)
        return e

    def inside(e: Scalar) -> Scalar:
        return transform(e, step)

    def beside(e: Scalar) -> Scalar:
        return transform(e, lambda n: step(n) if isinstance(n, Apply) and n.fn not in local else n)

    kept = tuple(
        replace(f, value=None if f.value is None else beside(f.value), partials=tuple(map(beside, f.partials)))
        for f in _reached(p.functions, table)
    )
    statements = tuple(map_scalars(s, inside) for s in p.statements)
    override = tuple(map_scalars(s, inside) for s in p.override.statements)
    return replace(p, statements=statements, functions=kept, override=replace(p.override, statements=override))
