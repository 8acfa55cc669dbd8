"""What generated Python says about the functions and callables of other libraries.

In goes a `Surface`. Out come, for every function that a formula calls, a plain function with its derivatives and the
definition of the object that formulas call; and for an operator that is computed elsewhere as a whole, formulas that
are calls of its callables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opgen.code.layout import bracketed, listed_lines, quoted
from opgen.code.signature import annotation, schema_param
from opgen.ir.operator import Callable
from opgen.ir.program import Function
from opgen.package.view import FormulaView, Surface, formula_view, text_of
from opgen.torch.elsewhere import BACK_ENDS, Slopes, slopes, slopes_operator, torch_function_name
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
    found = slopes(s.operator)
    formulas = tuple(_slopes_formula(x) for x in found if _has_derivatives(s, x.function))
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
    return tuple(n for f in slopes(s.operator) if f"{(n := torch_function_name(f.function.name))}(" in text)


def _has_derivatives(s: Surface, f: Function) -> bool:
    programs = (v.program for v in s.operator.variants)
    return any(g.name == f.name and (g.partials or g.value is not None) for p in programs for g in p.functions)


def _slopes_name(f: Function) -> str:
    return f"{f.name}_derivatives"


def _slopes_formula(x: Slopes) -> FormulaView:
    """The derivatives of a function of another library, as an expression of its arguments."""
    operator, variant = slopes_operator(x)
    f = torch_function(_slopes_name(x.function), [(variant, x.program)], operator)
    arguments = [f"{n}: Tensor" for n in x.function.params] + [f"{a.name}: {annotation(a)}" for a in x.others]
    count = len(x.function.params)
    returned = "Tensor" if count == 1 else f"tuple[{', '.join(['Tensor'] * count)}]"
    return FormulaView(
        name=f.name,
        define=bracketed(f"def {f.name}(", arguments, f") -> {returned}:"),
        doc="Its derivative." if count == 1 else "Its derivatives.",
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
    if x.others:
        arguments.append(f"others={text_of([a.name for a in x.others])}")
    return bracketed(f"{torch_function_name(f.name)} = FromElsewhere(", arguments, ")")


def _callee(s: Surface, c: Callable, results: int = 1) -> str:
    options = (", numpy=True" if c.numpy else "") + (f", results={results}" if results != 1 else "")
    return f"Callee({quoted(s.name)}, {quoted(c.path)}{options})"
