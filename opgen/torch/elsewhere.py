"""Functions that stay calls, as generated Python calls them: objects with a callable or formula, and its derivatives.

In goes a Program, out comes one in which every call of such a function has its last arguments, the params and sizes
that its derivatives read. Autograd needs them where it differentiates the call itself. A function that the spec names
for neither torch nor NumPy is its formula, which is differentiated by what the spec states.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
    """The derivatives of one function as a program, and the params and sizes that it reads.

    `value` is the program of a function that is its formula here.
    """

    function: Function
    others: tuple[Argument, ...]
    program: Program
    value: Program | None = None


def calls(p: Program) -> Program:
    """The program with calls as generated Python makes them."""
    if not p.functions:
        return p
    others = _others(p.functions)
    statements = tuple(map_scalars(s, lambda e: _extended(e, others)) for s in p.statements)
    return replace(p, statements=statements)


def _extended(e: Scalar, others: dict[str, tuple[Param | Dim, ...]]) -> Scalar:
    """A formula whose calls have their last arguments."""

    def extend(e: Scalar) -> Scalar:
        return Apply(e.fn, (*e.args, *others[e.fn])) if isinstance(e, Apply) and e.fn in others else e

    return transform(e, extend)


def called(operator: Operator) -> tuple[Function, ...]:
    """The functions that generated Python may call in any variant, with their derivatives."""
    found: dict[str, Function] = {}
    for v in operator.variants:
        for f in inline_functions(with_partials(v.program), lambda f: False).functions:
            found.setdefault(f.name, f)
    return tuple(found.values())


def is_formula(f: Function) -> bool:
    """Has generated Python no other form of a function than what the spec says?"""
    return f.value is not None and f.spelling(*BACK_ENDS) is None


def _scalars(f: Function) -> tuple[Scalar, ...]:
    """What is printed of a function."""
    return f.scalars if is_formula(f) else f.partials


def _others(functions: Sequence[Function]) -> dict[str, tuple[Param | Dim, ...]]:
    """What the derivatives of each function read besides its arguments, those of functions they call included."""
    own = {f.name: f for f in functions}
    reached = {f.name: _reached(f.name, own) for f in functions}
    found: dict[str, tuple[Param | Dim, ...]] = {}
    for f in functions:
        leaves: dict[Param | Dim, None] = {}
        for name in reached[f.name]:
            nodes = (n for e in _scalars(own[name]) for n in walk(e))
            for n in nodes:
                if isinstance(n, Dim) or (isinstance(n, Param) and n.name not in own[name].params):
                    leaves[Param(n.name) if isinstance(n, Param) else n] = None
        found[f.name] = tuple(leaves)
    return found


def _reached(name: str, own: dict[str, Function]) -> tuple[str, ...]:
    """A function and those that its formula and its derivatives of any order call."""
    found = [name]
    for n in found:
        called = (e.fn for p in _scalars(own[n]) for e in walk(p) if isinstance(e, Apply))
        found += [c for c in dict.fromkeys(called) if c in own and c not in found]
    return tuple(found)


def slopes(operator: Operator) -> tuple[Slopes, ...]:
    """The derivatives of every function that generated Python may call."""
    functions = called(operator)
    others = _others(functions)
    declared = {a.name: a for a in operator.params}
    made: list[Slopes] = []
    for f in functions:
        arguments = tuple(
            declared[leaf.name] if isinstance(leaf, Param) else Argument(leaf.name, "int") for leaf in others[f.name]
        )
        leaves: dict[Scalar, Scalar] = {Param(n): Read(n, (BATCH,)) for n in f.params}
        leaves |= {leaf: Param(leaf.name) for leaf in others[f.name] if isinstance(leaf, Dim)}
        formulas = {
            f"slope_{n}": substitute(_extended(e, others), leaves) for n, e in zip(f.params, f.partials, strict=True)
        }
        program = _elementwise(f"{f.name}_slopes", f, arguments, formulas)
        value = None
        if f.value is not None and is_formula(f):
            of_value = {f"value_of_{f.name}": substitute(_extended(f.value, others), leaves)}
            value = _elementwise(f"{f.name}_value", f, arguments, of_value)
        made.append(Slopes(f, arguments, program, value))
    return tuple(made)


def _elementwise(name: str, f: Function, arguments: tuple[Argument, ...], formulas: dict[str, Scalar]) -> Program:
    """A program of formulas of the arguments of a function."""
    inputs = tuple(Tensor(n, (BATCH,)) for n in f.params)
    statements = tuple(Compute(n, (BATCH,), e) for n, e in formulas.items())
    outputs = tuple(Output(n, n, (BATCH,)) for n in formulas)
    return Program(name, inputs, arguments, (), statements, outputs)


def reached(names: Collection[str], functions: Sequence[Function]) -> tuple[Function, ...]:
    """The functions of these names, with those that their formulas and their derivatives of any order call."""
    own = {f.name: f for f in functions}
    found = dict.fromkeys(n for f in functions if f.name in names for n in _reached(f.name, own))
    return tuple(f for f in functions if f.name in found)


def as_operator(p: Program) -> tuple[Operator, Variant]:
    """A program of a function in the form in which programs are printed."""
    variant = Variant((), p)
    outputs = tuple(o.name for o in p.outputs)
    return Operator(p.name, p.inputs, (), p.params, outputs, (variant,)), variant


__all__ = ["Slopes", "as_operator", "called", "calls", "is_formula", "reached", "slopes", "torch_function_name"]
