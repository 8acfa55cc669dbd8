"""What generated Python says about functions that stay calls, and about the callables of other libraries.

In goes a `Surface`. Out come, for every function that a formula calls, a plain function with its derivatives and the
definition of the object that formulas call; and for an operator that is computed elsewhere as a whole, formulas that
are calls of its callables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from opgen.code.layout import bracketed, listed_lines, quoted
from opgen.code.signature import annotation, schema_param
from opgen.ir.operator import Callable
from opgen.ir.program import Function, Program, statement_scalars
from opgen.ir.scalar import Apply, walk
from opgen.package.view import FormulaView, Surface, formula_view, text_of
from opgen.torch.elsewhere import BACK_ENDS, Slopes, as_operator, is_formula, reached, slopes, torch_function_name
from opgen.torch.functions import torch_function
from opgen.torch.liveness import used_names


@dataclass(frozen=True, slots=True)
class ElsewhereView:
    """Definitions at the top of `function.py`: formulas first, then the objects that need them."""

    formulas: tuple[FormulaView, ...] = ()
    lines: tuple[str, ...] = ()
    imported: tuple[str, ...] = ()


def elsewhere_view(s: Surface) -> ElsewhereView:
    """What is needed before the formulas of an operator."""
    found = _needed(s)
    formulas = tuple(f for x in found for f in _formulas(s, x))
    lines = [_definition(s, x) for x in found]
    whole = s.operator.elsewhere
    if whole is not None:
        lines.append(f"FORWARD = {_callee(s, whole.forward, len(s.outputs))}")
        lines += [f"BACKWARD = {_callee(s, whole.backward, len(s.wrt))}"] if whole.backward is not None else []
    back = formula_view(s, "backward", "") if whole is not None else None
    named = ["like_input"] if back is not None and any("like_input(" in line for line in back.lines) else []
    named += ["Callee"] if any("Callee(" in line for line in lines) else []
    return ElsewhereView(formulas, tuple(lines), tuple(named + (["FromElsewhere"] if found else [])))


def names_in(lines: Sequence[str], s: Surface) -> tuple[str, ...]:
    """The objects of `function.py` that some lines call."""
    text = "\n".join(lines)
    return tuple(n for f in _needed(s) if f"{(n := torch_function_name(f.function.name))}(" in text)


def _needed(s: Surface) -> tuple[Slopes, ...]:
    """The functions that are called: of those that are formulas, the ones in what torch differentiates."""
    found = slopes(s.operator)
    functions = [x.function for x in found]
    kept = reached([f.name for f in functions if not is_formula(f)], functions)
    names = dict.fromkeys(f.name for f in kept)
    if len(names) < len(found):
        programs = [p for which in _WRITTEN for _, p in s.programs(which)]
        scalars = (e for p in programs for t in p.statements for e in statement_scalars(t))
        names |= dict.fromkeys(n.fn for e in scalars for n in walk(e) if isinstance(n, Apply))
        names = dict.fromkeys(f.name for f in reached(tuple(names), functions))
    return tuple(x for x in found if x.function.name in names)


_WRITTEN = ("forward", "backward", "tangent", "second", "backward_tangent")


def _formulas(s: Surface, x: Slopes) -> Iterator[FormulaView]:
    if x.value is not None:
        yield _formula(x, f"{x.function.name}_value", x.value, "Its value.", "Tensor")
    if _has_derivatives(s, x.function):
        count = len(x.function.params)
        returned = "Tensor" if count == 1 else f"tuple[{', '.join(['Tensor'] * count)}]"
        doc = "Its derivative." if count == 1 else "Its derivatives."
        yield _formula(x, _slopes_name(x.function), x.program, doc, returned)


def _has_derivatives(s: Surface, f: Function) -> bool:
    programs = (v.program for v in s.operator.variants)
    return any(g.name == f.name and (g.partials or g.value is not None) for p in programs for g in p.functions)


def _slopes_name(f: Function) -> str:
    return f"{f.name}_derivatives"


def _formula(x: Slopes, name: str, p: Program, doc: str, returned: str) -> FormulaView:
    """The value or the derivatives of a function, as an expression of its arguments."""
    operator, variant = as_operator(p)
    f = torch_function(name, [(variant, p)], operator)
    arguments = [f"{n}: Tensor" for n in x.function.params] + [f"{a.name}: {annotation(a)}" for a in x.others]
    return FormulaView(
        name=f.name,
        define=bracketed(f"def {f.name}(", arguments, f") -> {returned}:"),
        doc=doc,
        lines=f.lines,
        result=tuple(listed_lines("return ", f.returns, "", 4)),
        arguments=f.arguments,
        optional=(),
        results=tuple(f.returns),
        mask=(),
        views=(),
        helpers=tuple(h for h in f.helpers if h in used_names("\n".join(f.lines))),
        uses_math=f.uses_math,
    )


def _definition(s: Surface, x: Slopes) -> str:
    f = x.function
    schema = ", ".join([*(f"Tensor {n}" for n in f.params), *(schema_param(a) for a in x.others)])
    path, numpy = f.spelling(*BACK_ENDS), f.spelling("torch") is None
    callee = "None" if path is None else _callee(s, Callable(path, numpy))
    arguments = [quoted(s.name), quoted(f.name), quoted(schema), text_of(f.params), callee]
    arguments += [_slopes_name(f)] if _has_derivatives(s, f) else []
    arguments += [f"value={f.name}_value"] if x.value is not None else []
    if x.others:
        arguments.append(f"others={text_of([a.name for a in x.others])}")
    return bracketed(f"{torch_function_name(f.name)} = FromElsewhere(", arguments, ")")


def _callee(s: Surface, c: Callable, results: int = 1) -> str:
    options = (", numpy=True" if c.numpy else "") + (f", results={results}" if results != 1 else "")
    return f"Callee({quoted(s.name)}, {quoted(c.path)}{options})"
