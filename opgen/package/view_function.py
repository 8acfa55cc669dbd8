"""The view of `function.py`: the formulas and the `torch.autograd.Function` around them, as an expert writes it.

In goes a `Surface`; out comes a `FunctionView`. Only what backward reads is saved; intermediates that are saved come
out of `forward` as extra, non-differentiable results, and are computed anew where backward itself is differentiated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from opgen.code.layout import bracketed, camel, listed_lines, quoted, runtime_imports, tupled, unpacked
from opgen.code.signature import annotation
from opgen.diff.laziness import GIVEN
from opgen.package.view import FormulaView, Surface, formula_text, formula_view, summary_lines, through_sums
from opgen.package.view_elsewhere import ElsewhereView, elsewhere_view

_INSIDE = 8
# What the methods ask of their context.
_CONTEXT = re.compile(
    r"(?<![\w.])ctx"
    r"(?=: Any|\.(?:saved_tensors|save_for_\w+|shapes|params|needs_input_grad|set_materialize_grads|mark_\w+)\b)"
)


@dataclass(frozen=True, slots=True)
class FunctionView:
    """`function.py` in finished pieces; every line is without the indentation of its place."""

    op: str
    class_name: str
    summary: str
    formula: tuple[str, ...]
    imports: tuple[str, ...]
    slopes: tuple[FormulaView, ...]  # derivatives of functions from elsewhere
    elsewhere: tuple[str, ...]  # the objects that stand for those functions
    formulas: tuple[FormulaView, ...]
    forward: str
    forward_lines: tuple[str, ...]
    setup: str
    setup_lines: tuple[str, ...]
    backward: str
    backward_lines: tuple[str, ...]
    once: str  # the decorator of `backward` that refuses to differentiate it, if it does
    jvp: str
    jvp_lines: tuple[str, ...]
    has_jvp: bool
    has_backward: bool
    inplace: bool
    inplace_name: str
    inplace_doc: str
    inplace_forward: str
    inplace_lines: tuple[str, ...]


def function_view(s: Surface) -> FunctionView:
    """Everything that `function.py` says; the context of the methods gives way to a tensor or param called the same."""
    view = _function_view(s)
    if "ctx" not in (*s.inputs, *s.params, *s.output_names, *s.residuals):
        return view
    return replace(
        view,
        setup=_aside(view.setup),
        setup_lines=tuple(map(_aside, view.setup_lines)),
        backward=_aside(view.backward),
        backward_lines=tuple(map(_aside, view.backward_lines)),
        jvp=_aside(view.jvp),
        jvp_lines=tuple(map(_aside, view.jvp_lines)),
        inplace_forward=_aside(view.inplace_forward),
        inplace_lines=tuple(map(_aside, view.inplace_lines)),
    )


def _aside(text: str) -> str:
    """A line of a method with its context under another name."""
    return _CONTEXT.sub("_ctx_", text)


def _function_view(s: Surface) -> FunctionView:
    forward = formula_view(s, "forward", "The value" + (", and what backward needs of it." if s.residuals else "."))
    assert forward is not None
    backward = formula_view(s, "backward", "The gradient of each input that needs one.") if s.active else None
    tangent = formula_view(s, "tangent", "The directional derivative.") if s.active else None
    through = through_sums(s)
    found = tuple(f for f in (forward, backward, through, tangent) if f is not None)
    elsewhere = elsewhere_view(s)
    setup = _Setup(s, forward, backward, tangent, through)
    args = [*s.inputs, *s.params]
    typed = [
        f"{t.name}: Tensor | None" if t.name in s.operator.optional else f"{t.name}: Tensor" for t in s.operator.inputs
    ]
    typed += [f"{a.name}: {annotation(a)}" for a in s.operator.params]
    results = len(s.outputs) + len(s.residuals)
    returns = "Tensor" if results == 1 else "tuple[Tensor, ...]"
    call = bracketed(f"return {forward.name}(", forward.arguments, ")", _INSIDE)
    jvp_args = ["ctx: Any", *(f"tangent_{n}: Any" if n in s.wrt else f"_{n}: Any" for n in args)]
    return FunctionView(
        op=s.name,
        class_name=s.function_class,
        summary="\n".join(summary_lines(s.operator)),
        formula=formula_text(s.operator),
        imports=_imports(s, elsewhere, found, setup),
        slopes=elsewhere.formulas,
        elsewhere=elsewhere.lines,
        formulas=found,
        forward=bracketed("def forward(", typed, f") -> {returns}:", 4),
        forward_lines=tuple(_indented(call)),
        setup="def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:",
        setup_lines=tuple(setup.lines()),
        backward=bracketed("def backward(", ["ctx: Any", *setup.grad_arguments()], ") -> Any:", 4),
        backward_lines=tuple(setup.backward_lines()) if backward else (),
        once=_once(s),
        jvp=bracketed("def jvp(", jvp_args, ") -> Any:", 4),
        jvp_lines=tuple(setup.jvp_lines()) if tangent or _is_constant(s) else (),
        has_jvp=tangent is not None or _is_constant(s),
        has_backward=backward is not None,
        inplace=_has_inplace(s),
        inplace_name=f"{camel(s.name)}InplaceFunction",
        inplace_doc=f"`{s.name}` that overwrites `{s.operator.shown(s.operator.inplace)}`; differentiable once.",
        inplace_forward=bracketed("def forward(", ["ctx: Any", *typed], ") -> Tensor:", 4),
        inplace_lines=tuple(setup.inplace_lines(s.operator.inplace)) if _has_inplace(s) else (),
    )


def _once(s: Surface) -> str:
    """What refuses double backward: wanted, or because torch would differentiate values in place of what is stated."""
    if s.operator.flags.once_differentiable:
        return f"@once_differentiable({quoted(s.name)})"
    if not _states_again(s):
        return ""
    why = f"its gradient calls functions with stated derivatives, by which {s.name} itself goes"
    return bracketed("@once_differentiable(", [quoted(s.function_class), quoted(why)], ")", 4)


def _states_again(s: Surface) -> bool:
    return any(d.stated for d in s.derived)


def _is_constant(s: Surface) -> bool:
    """Are the results integers and conditions, or constants by decree? Their tangents are zero then."""
    return not s.active and s.operator.elsewhere is None


def _has_inplace(s: Surface) -> bool:
    """Is there a function that overwrites its input? Of a complex one it would see the parts only."""
    return bool(s.active) and s.operator.inplace in s.inputs


def _imports(s: Surface, elsewhere: ElsewhereView, found: tuple[FormulaView, ...], setup: _Setup) -> tuple[str, ...]:
    found = (*elsewhere.formulas, *found)
    masked = any("Sequence[" in f.define for f in found) or any(a.length is not None for a in s.operator.params)
    out = ["import math"] if any(f.uses_math for f in found) else []
    out += ["from collections.abc import Sequence"] if masked else []
    out += ["from typing import Any", "", "import torch", "from torch import Tensor"]
    helpers = [h for f in found for h in f.helpers]
    runtime = [*elsewhere.imported, *setup.helpers()]
    out += [""] if helpers or runtime else []
    out += runtime_imports(runtime, helpers)
    return tuple("\n".join(out).split("\n"))


@dataclass(frozen=True, slots=True)
class _Setup:
    """What is saved where, and the bodies of the methods."""

    s: Surface
    forward: FormulaView
    backward: FormulaView | None
    tangent: FormulaView | None
    through: FormulaView | None

    def results(self) -> tuple[str, ...]:
        return (*self.s.output_names, *self.s.residuals)

    def recomputed(self) -> tuple[str, ...]:
        """Saved intermediates that backward computes anew where it is differentiated itself."""
        if self.backward is None or _once(self.s):
            return ()
        again = (n for n in self.results() if n in self.backward.arguments and n not in self.s.active)
        return tuple(n for n in again if n not in self.s.leaves)

    def saved(self) -> tuple[str, ...]:
        """The tensors kept for backward: inputs first, then results."""
        if self.backward is None:
            return ()
        read = set(self.backward.arguments) | (set(self.forward.arguments) if self.recomputed() else set())
        read |= set() if self.through is None else set(self.through.arguments)
        return tuple(n for n in (*self.s.inputs, *self.results()) if n in read)

    def saved_forward(self) -> tuple[str, ...]:
        """The inputs kept for jvp."""
        if self.tangent is None:
            return ()
        wanted = set(self.tangent.arguments) | set(self.zeroed())
        return tuple(n for n in self.s.inputs if n in wanted)

    def zeroed(self) -> tuple[str, ...]:
        """Inputs whose tangent may be missing while another one is there."""
        if self.tangent is None:
            return ()
        asked = [n for n in self.s.wrt if f"tangent_{n}" in self.tangent.arguments]
        if len(self.s.wrt) == 1:
            return ()
        return tuple(n for n in asked if n in self.tangent.arguments or f"tangent_{n}" not in self.tangent.optional)

    def params(self) -> tuple[str, ...]:
        read = [f.arguments for f in (self.backward, self.tangent) if f is not None]
        read += [self.forward.arguments] if self.recomputed() else []
        return tuple(p for p in self.s.params if any(p in r for r in read))

    def helpers(self) -> list[str]:
        many = self.backward is not None and len(self.s.active) > 1
        once = self.backward is not None and bool(_once(self.s) or _has_inplace(self.s))
        zeroed = bool(self.zeroed()) or len(self.s.sums) > 1
        through = self.through is not None
        found = (("added", through), ("filled", many), ("once_differentiable", once), ("or_zero", zeroed))
        return [name for name, used in found if used]

    def lines(self) -> list[str]:
        s = self.s
        both = {*self.saved(), *self.saved_forward()}
        shapes = s.active if len(s.active) > 1 and self.backward is not None else ()
        plain = tuple(n for n in self.results() if n not in (*s.active, *s.sums)) if s.active or _is_constant(s) else ()
        read_results = [n for n in self.results() if n in both or n in shapes or n in plain]
        out = unpacked([*s.inputs, *s.params], [*both, *self.params()], "inputs", _INSIDE)
        if len(self.results()) == 1:
            name = self.results()[0]
            out += [f"{name} = output"] if name in read_results and name != "output" else []
        else:
            out += unpacked(self.results(), read_results, "output", _INSIDE)
        out.append("ctx.set_materialize_grads(False)")
        if plain:
            out.append(self._non_differentiable(plain))
        if self.saved():
            out += _indented(bracketed("ctx.save_for_backward(", self.saved(), ")", _INSIDE))
        if self.saved_forward():
            out += _indented(bracketed("ctx.save_for_forward(", self.saved_forward(), ")", _INSIDE))
        if shapes:
            out.append(f"ctx.shapes = {', '.join(f'{n}.shape' for n in shapes)}")
        if self.params():
            names = self.params()
            out.append(f"ctx.params = {names[0]}," if len(names) == 1 else f"ctx.params = {', '.join(names)}")
            out[-1] = f"ctx.params = ({names[0]},)" if len(names) == 1 else out[-1]
        return [line for line in out if line]

    def _non_differentiable(self, names: tuple[str, ...]) -> str:
        if not self._sometimes() & set(names):
            return f"ctx.mark_non_differentiable({', '.join(names)})"
        return f"ctx.mark_non_differentiable(*[t for t in {tupled(names)} if t is not None])"

    def _sometimes(self) -> set[str]:
        """The results that some variants do not have."""
        every = set(self.results())
        return every - every.intersection(*({o.name for o in p.outputs} for _, p in self.s.programs("forward")))

    def grad_arguments(self) -> list[str]:
        smooth = (*self.s.active, *self.s.sums)
        names = [f"grad_{n}" if n in smooth else f"_grad_{n}" for n in self.results()]
        one = len(self.s.output_names) if _has_inplace(self.s) else len(names)  # what overwrites returns nothing else
        return [f"{n}: Tensor | None" if k < one else f"{n}: Tensor | None = None" for k, n in enumerate(names)]

    def backward_lines(self) -> list[str]:
        s, f = self.s, self.backward
        assert f is not None
        order = [*s.inputs, *s.params]
        names = [f"grad_{n}" for n in s.wrt]
        missing = _all_missing((*s.active, *s.sums))
        if any(d.backward is None for d in s.derived):  # then an input without gradient may be what requires one
            needed = [f"ctx.needs_input_grad[{s.inputs.index(n)}]" for n in s.wrt]
            missing = f"({missing})" if " and " in missing else missing
            missing += f" or not ({' or '.join(needed)})" if len(needed) > 1 else f" or not {needed[0]}"
        out = [f"if {missing}:", f"    return {', '.join(['None'] * len(order))}"]
        taken = {*f.arguments, *(self.forward.arguments if self.recomputed() else ())}
        out += unpacked(self.saved(), self.saved(), "ctx.saved_tensors", _INSIDE)
        out += unpacked(self.params(), taken, "ctx.params", _INSIDE)
        if not s.sums and s.wrt == tuple(order) and len(order) > 1:
            return [line for line in (*out, *self.gradient_lines("return ", _INSIDE)) if line]
        left = f"{', '.join(names)} = "
        if s.sums:
            out += [f"{' = '.join(names)} = None", f"if not ({_all_missing(s.active)}):" if len(s.active) > 1 else ""]
            out[-1] = out[-1] or f"if grad_{s.active[0]} is not None:"
            out += [f"    {line}" for line in self.gradient_lines(left, _INSIDE + 4)]
            out += self.sum_lines()
        else:
            out += self.gradient_lines(left, _INSIDE)
        out += listed_lines("return ", [f"grad_{n}" if n in s.wrt else "None" for n in order], "", _INSIDE)
        return [line for line in out if line]

    def gradient_lines(self, left: str, indent: int) -> list[str]:
        """The call of the gradient with what it takes."""
        s, f = self.s, self.backward
        assert f is not None
        grads = ", ".join(f"grad_{n}" for n in s.active)
        out = [f"{GIVEN} = {', '.join(f'grad_{n} is not None' for n in s.active)}"] if GIVEN in f.arguments else []
        out += [f"{grads} = filled(({grads}), ctx.shapes)"] if len(s.active) > 1 else []
        again = self.recomputed()
        if again:
            targets = ", ".join(n if n in again else "_" for n in self.results())
            out.append("if torch.is_grad_enabled():  # differentiated again: intermediates as functions of the inputs")
            call = bracketed(f"{targets} = {self.forward.name}(", self.forward.arguments, ")", indent + 4)
            out += [f"    {line}" for line in _indented(call, indent + 4)]
        arguments = ["ctx.needs_input_grad" if a == "needs_input_grad" else a for a in f.arguments]
        return [*out, *_indented(bracketed(f"{left}{f.name}(", arguments, ")", indent), indent)]

    def sum_lines(self) -> list[str]:
        """What comes through sums that were kept of inputs, where backward itself was differentiated."""
        s, f = self.s, self.through
        assert f is not None
        many = [f"    grad_{n} = or_zero(grad_{n}, {n})" for n in s.sums] if len(s.sums) > 1 else []
        given = " or ".join(f"grad_{n} is not None" for n in s.sums)
        reached = ", ".join(f.results) + "," * (len(f.results) == 1)
        call = bracketed(f"more = {f.name}(", f.arguments, ")", _INSIDE + 4)
        more = "more" if len(f.results) > 1 else "(more,)"
        out = [f"if {given}:  # backward was differentiated itself", *many]
        out += [f"    {line}" for line in _indented(call, _INSIDE + 4)]
        return [*out, f"    {reached} = added(({reached}), {more})"]

    def inplace_lines(self, target: str) -> list[str]:
        """`forward` of the variant that overwrites its input: what backward reads of it is kept as it was."""
        kept = ", ".join(f"{n}.clone()" if n == target else n for n in self.saved())
        results = self.results()
        left = ", ".join(n if n in self.saved() or i == 0 else "_" for i, n in enumerate(results))
        out = [f"ctx.mark_dirty({target})", "ctx.set_materialize_grads(False)"]
        out += _indented(bracketed(f"{left} = {self.forward.name}(", self.forward.arguments, ")", _INSIDE))
        out += [f"ctx.save_for_backward({kept})"] if kept else []
        out += [f"ctx.params = {tupled(self.params())}"] if self.params() else []
        return [*out, f"return {target}.copy_({results[0]})"]

    def jvp_lines(self) -> list[str]:
        s, f = self.s, self.tangent
        if f is None:
            return [f"return {', '.join(['None'] * len(self.results()))}"]
        out = unpacked(self.saved_forward(), self.saved_forward(), "ctx.saved_tensors", _INSIDE)
        out += unpacked(self.params(), f.arguments, "ctx.params", _INSIDE)
        for n in self.zeroed():
            out.append(f"tangent_{n} = or_zero(tangent_{n}, {n})")
        call = f"{f.name}("
        results = self.results()
        if len(results) == 1:
            out += _indented(bracketed(f"return {call}", f.arguments, ")", _INSIDE))
            return [line for line in out if line]
        names = [f"tangent_{n}" for n in (*s.active, *s.sums)]
        out += _indented(bracketed(f"{', '.join(names)} = {call}", f.arguments, ")", _INSIDE))
        out.append(f"return {', '.join(f'tangent_{n}' if f'tangent_{n}' in names else 'None' for n in results)}")
        return [line for line in out if line]


def _all_missing(names: Sequence[str]) -> str:
    return " and ".join(f"grad_{n} is None" for n in names)


def _indented(text: str, indent: int = _INSIDE) -> list[str]:
    """Lines whose later ones carry the indentation of a method body already: without it."""
    first, *rest = text.split("\n")
    return [first, *(line[indent:] for line in rest)]
