"""Functions that other libraries compute, as generated Python calls them: objects with a callable and its derivatives.

In goes a Program, out comes one in which every call of such a function has its last arguments, the params and sizes
that its derivatives read. Autograd needs them where it differentiates the call itself, beyond the second order. A
function that the spec names for neither torch nor NumPy is its formula here, where it has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from opgen.diff.partials import with_partials
from opgen.ir.operator import Operator, Variant
from opgen.ir.program import Argument, Compute, Function, Output, Program, Tensor
from opgen.ir.rewrite import map_scalars
from opgen.ir.scalar import BATCH, Apply, Dim, Param, Read, Scalar, substitute, transform, walk
from opgen.opt.functions import inline_functions
from opgen.torch.dialect import torch_function_name

BACK_ENDS = ("torch", "numpy")


@dataclass(frozen=True, slots=True)
class Slopes:
    """The derivatives of one function as a program, and the params and sizes that it reads."""

    function: Function
    others: tuple[Argument, ...]
    program: Program


def calls(p: Program) -> Program:
    """The program with calls as generated Python makes them."""
    p = opened(p)
    if not p.functions:
        return p
    others = _others(p.functions)

    def extend(e: Scalar) -> Scalar:
        return Apply(e.fn, (*e.args, *others[e.fn])) if isinstance(e, Apply) and e.fn in others else e

    statements = tuple(map_scalars(s, lambda e: transform(e, extend)) for s in p.statements)
    return replace(p, statements=statements, functions=())


def opened(p: Program) -> Program:
    """The program with the formulas of functions that have no other form in Python."""
    return inline_functions(p, lambda f: f.value is not None and f.spelling(*BACK_ENDS) is None)


def called(operator: Operator) -> tuple[Function, ...]:
    """The functions that generated Python calls in any variant, with their derivatives."""
    found: dict[str, Function] = {}
    for v in operator.variants:
        for f in opened(with_partials(v.program)).functions:
            found.setdefault(f.name, f)
    return tuple(found.values())


def _others(functions: Sequence[Function]) -> dict[str, tuple[Param | Dim, ...]]:
    """What the derivatives of each function read besides its arguments, those of functions they call included."""
    own = {f.name: f for f in functions}
    reached = {f.name: _reached(f.name, own) for f in functions}
    found: dict[str, tuple[Param | Dim, ...]] = {}
    for f in functions:
        leaves: dict[Param | Dim, None] = {}
        for name in reached[f.name]:
            nodes = (n for e in own[name].partials for n in walk(e))
            for n in nodes:
                if isinstance(n, Dim) or (isinstance(n, Param) and n.name not in own[name].params):
                    leaves[Param(n.name) if isinstance(n, Param) else n] = None
        found[f.name] = tuple(leaves)
    return found


def _reached(name: str, own: dict[str, Function]) -> tuple[str, ...]:
    """A function and those that its derivatives of any order call."""
    found = [name]
    for n in found:
        called = (e.fn for p in own[n].partials for e in walk(p) if isinstance(e, Apply))
        found += [c for c in dict.fromkeys(called) if c in own and c not in found]
    return tuple(found)


def slopes(operator: Operator) -> tuple[Slopes, ...]:
    """The derivatives of every function that generated Python calls."""
    functions = called(operator)
    others = _others(functions)
    declared = {a.name: a for a in operator.params}
    made: list[Slopes] = []
    for f in functions:
        arguments = tuple(
            declared[leaf.name] if isinstance(leaf, Param) else Argument(leaf.name, "int") for leaf in others[f.name]
        )
        inputs = tuple(Tensor(n, (BATCH,)) for n in f.params)
        leaves: dict[Scalar, Scalar] = {Param(n): Read(n, (BATCH,)) for n in f.params}
        leaves |= {leaf: Param(leaf.name) for leaf in others[f.name] if isinstance(leaf, Dim)}

        def extend(e: Scalar) -> Scalar:
            return Apply(e.fn, (*e.args, *others[e.fn])) if isinstance(e, Apply) and e.fn in others else e

        bodies = [substitute(transform(e, extend), leaves) for e in f.partials]
        statements = tuple(Compute(f"slope_{n}", (BATCH,), e) for n, e in zip(f.params, bodies, strict=True))
        outputs = tuple(Output(s.target, s.target, (BATCH,)) for s in statements)
        made.append(Slopes(f, arguments, Program(f"{f.name}_slopes", inputs, arguments, (), statements, outputs)))
    return tuple(made)


def slopes_operator(s: Slopes) -> tuple[Operator, Variant]:
    """The derivatives in the form in which programs are printed."""
    variant = Variant((), s.program)
    outputs = tuple(o.name for o in s.program.outputs)
    return Operator(s.program.name, s.program.inputs, (), s.others, outputs, (variant,)), variant


__all__ = ["Slopes", "called", "calls", "slopes", "slopes_operator", "torch_function_name"]
