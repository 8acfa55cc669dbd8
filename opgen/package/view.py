"""What the templates of an operator's Python files may see: finished strings, in frozen view models.

In go an operator and its derived programs; out come views for `function.py.j2` and `ops.py.j2`. All
decisions are made here, so that a template only lays out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from opgen.code.layout import (
    WIDTH,
    bracketed,
    camel,
    in_docstring,
    line_of_docstring,
    listed_lines,
    quoted,
    tupled,
    wrapped,
    wrapped_code,
)
from opgen.code.names import function_name
from opgen.code.signature import OUT, annotation, params_of, takes_out
from opgen.ir.operator import Operator, Variant, surface
from opgen.ir.program import Argument, Kind, Output, Program, Role, Tensor, definitions
from opgen.ir.scalar import BATCH
from opgen.opt.affine import kept_sums
from opgen.opt.derive import Derived
from opgen.package.shapes import layout_text
from opgen.torch.conditions import Switches, condition
from opgen.torch.functions import MASK, TorchFunction, torch_function


@dataclass(frozen=True, slots=True)
class FormulaView:
    """A plain function: its `def` line(s), docstring, body and `return`."""

    name: str
    define: str
    doc: str
    lines: tuple[str, ...]
    result: tuple[str, ...]  # the lines of `return`
    arguments: tuple[str, ...]
    optional: tuple[str, ...]
    results: tuple[str, ...]  # what the results stand for, in order
    mask: tuple[str, ...]
    views: tuple[str, ...]
    helpers: tuple[str, ...]
    uses_math: bool


@dataclass(frozen=True, slots=True)
class Surface:
    """An operator with everything derived from it: what all views are made of."""

    operator: Operator
    derived: tuple[Derived, ...]
    namespace: str = "opgen"
    printed: dict[str, FormulaView | None] = field(default_factory=dict, compare=False, repr=False)

    @property
    def name(self) -> str:
        return self.operator.name

    @property
    def function_class(self) -> str:
        return f"{camel(self.name)}Function"

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(t.name for t in self.operator.inputs)

    @property
    def operands(self) -> tuple[str, ...]:
        """The tensors that a call of the operator names: its inputs, with a complex one as one."""
        return tuple(t.name for t in self.operator.operands)

    @property
    def results(self) -> tuple[Output, ...]:
        """The outputs as a call of the operator returns them."""
        return tuple(surface(self.operator.pairs, self.outputs))

    @property
    def params(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.operator.params)

    @property
    def stated(self) -> tuple[str, ...]:
        """The params that a call of the operator names."""
        return tuple(a.name for a in self.operator.stated)

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The outputs as the first variant has them; names, kinds and order are the same in all."""
        return self.operator.variants[0].program.outputs

    @property
    def output_names(self) -> tuple[str, ...]:
        return tuple(o.name for o in self.outputs)

    @property
    def active(self) -> tuple[str, ...]:
        """Outputs that gradients flow through."""
        flows = any(d.backward is not None for d in self.derived)
        return tuple(o.name for o in self.outputs if flows and o.differentiable and o.kind is Kind.FLOAT)

    @property
    def wrt(self) -> tuple[str, ...]:
        """Inputs that have a gradient, in order."""
        found = {o.of for d in self.derived if d.backward is not None for o in d.backward.outputs}
        return tuple(n for n in self.inputs if n in found)

    @property
    def residuals(self) -> tuple[str, ...]:
        """Intermediates that the forward function returns after its outputs, those of any variant."""
        names = result_names(self.programs("forward"))
        own = set(self.output_names)
        return tuple(n for n in names if n not in own)

    @property
    def sums(self) -> tuple[str, ...]:
        """Residuals that gradients flow through: sums of inputs."""
        return tuple(dict.fromkeys(o.name for _, p in self.programs("forward") for o in kept_sums(p)))

    @property
    def leaves(self) -> tuple[str, ...]:
        """Outputs and residuals that second order is taken with respect to, in place of inputs."""
        inputs = (t for _, p in self.programs("source") for t in p.inputs)
        return tuple(dict.fromkeys(t.name for t in inputs if t.role is Role.SAVED))

    def programs(self, which: str) -> list[tuple[Variant, Program]]:
        """The derived programs of one sort, with their variants; variants without one are left out."""
        found = [(d.variant, getattr(d, which)) for d in self.derived]
        return [(v, p) for v, p in found if p is not None]

    @property
    def by_torch(self) -> bool:
        """Is second order left to torch?"""
        stated = self.operator.flags.once_differentiable or self.operator.elsewhere is not None
        return bool(self.active) and not stated and not self.complete("second")

    @property
    def function(self) -> str:
        """What the modules of the operator call its function."""
        return function_name(self.operator)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Operands and params as a call names them."""
        return tuple(map(self.operator.shown, (*self.operands, *self.stated)))

    def complete(self, which: str) -> bool:
        """Does every variant that has a gradient have this program?"""
        smooth = [d for d in self.derived if d.backward is not None]
        return bool(smooth) and all(getattr(d, which) is not None for d in smooth)


def result_names(programs: Sequence[tuple[Variant, Program]]) -> dict[str, str]:
    """Every result of any variant, in order, and what it is the gradient of."""
    longest = max((p.outputs for _, p in programs), key=len)
    every = (*longest, *(o for _, p in programs for o in p.outputs))
    return {o.name: o.of for o in every}


def formula_view(s: Surface, which: str, doc: str) -> FormulaView | None:
    """One of the derived functions, printed once; None where the operator has none."""
    if which not in s.printed:
        s.printed[which] = _formula_view(s, which)
    made = s.printed[which]
    return None if made is None else replace(made, doc=doc)


def through_sums(s: Surface) -> FormulaView | None:
    """The formula that leads gradients of residuals on to the inputs that they are sums of."""
    return formula_view(s, "through_sums", "The gradients of inputs from those of their sums.")


def _formula_view(s: Surface, which: str) -> FormulaView | None:
    if s.operator.elsewhere is not None:
        return _call_elsewhere(s, which)
    programs = s.programs(which)
    if which not in ("forward", "through_sums") and not s.complete(which):
        return None
    if not programs:
        return None
    masked = which in ("backward", "second")
    forward = s.programs("forward") if which in ("tangent", "through_sums") and s.sums else ()
    f = torch_function(f"{s.name}_{which}", programs, s.operator, masked=masked, forward=forward)
    if which == "backward_tangent":
        f = _without_absence_tests(s, f)
    if which == "forward":
        f = _without_extras(s, f)
    results = result_names(programs)
    maybe = masked or any(len(p.outputs) < len(results) for _, p in programs)
    define = bracketed(
        f"def {f.name}(",
        _typed_arguments(s, f, (p for _, p in programs)),
        f") -> {_returned(len(results), maybe=maybe)}:",
    )
    result = tuple(listed_lines("return ", f.returns, "", 4))
    return FormulaView(
        f.name,
        define,
        "",
        f.lines,
        result,
        f.arguments,
        f.optional,
        tuple(results),
        f.mask,
        f.views,
        tuple(h for h in f.helpers if _called(h, f.lines)),
        f.uses_math,
    )


def _call_elsewhere(s: Surface, which: str) -> FormulaView | None:
    """A formula of an operator that callables compute: a call."""
    cotangents = tuple(f"grad_{n}" for n in s.active)
    params = [f"{p}={p}" for p in s.params]
    match which:
        case "forward":
            names, targets, results = s.inputs, s.output_names, s.output_names
            items = ["FORWARD(", *names, *params]
        case "backward" if s.active:
            names, results = (*cotangents, *s.inputs, *s.output_names), s.wrt
            targets = tuple(f"grad_{n}" for n in s.wrt)
            items = ["BACKWARD(", *names, *params]
        case "second" if s.active and not s.operator.flags.once_differentiable:
            grads = tuple(f"grad_grad_{n}" for n in s.wrt)
            names, results = (*grads, *cotangents, *s.inputs), (*cotangents, *s.wrt)
            targets = (*(f"grad_{n}" for n in cotangents), *(f"grad_{n}" for n in s.wrt))
            wrt = tupled([str(s.inputs.index(n)) for n in s.wrt])
            given = [tupled(grads), tupled(cotangents), tupled(s.inputs), wrt]
            items = ["second_order(", "OP", "BACKWARD", *given, *params]
        case _:
            return None
    name = f"{s.name}_{which}"
    optional = tuple(n for n in names if n.removeprefix("grad_grad_") in s.operator.optional)
    typed = [*(f"{n}: Tensor | None" if n in optional else f"{n}: Tensor" for n in names)]
    typed += [f"{a.name}: {annotation(a)}" for a in s.operator.params]
    define = bracketed(f"def {name}(", typed, f") -> {_returned(len(targets), maybe=which != 'forward')}:")
    left = ", ".join(targets)
    first, *rest = bracketed(f"{left} = {items[0]}", items[1:], ")", 4).split("\n")
    lines = (first, *(line.removeprefix("    ") for line in rest))
    if which == "backward":
        lines += tuple(f"grad_{n} = like_input(grad_{n}, {n})" for n in s.wrt if _broadcasts(s, n))
    returned = tuple(listed_lines("return ", targets, "", 4))
    return FormulaView(
        name, define, "", lines, returned, (*names, *s.params), optional, tuple(results), (), (), (), uses_math=False
    )


def _broadcasts(s: Surface, name: str) -> bool:
    """May a gradient have more batch dims than its input? Where several inputs have batch dims."""
    batched = [t.name for t in s.operator.inputs if BATCH in t.shape]
    return name in batched and len(batched) > 1


def _without_absence_tests(s: Surface, f: TorchFunction) -> TorchFunction:
    """The function without inputs that it only asks for whether they are there: an absent one needs no gradient."""
    lines, tensors, masked = "\n".join(f.lines), list(f.tensors), bool(f.mask_name)
    for i, name in enumerate(s.inputs):
        tests = re.findall(rf"\b{name} is (?:not )?None", lines)
        if name in tensors and tests and len(tests) == len(re.findall(rf"(?<!\.)\b{name}\b", lines)):
            lines = lines.replace(f"{name} is not None", f"{MASK}[{i}]").replace(f"{name} is None", f"not {MASK}[{i}]")
            tensors.remove(name)
            masked = True
    return replace(f, lines=tuple(lines.split("\n")), tensors=tuple(tensors), mask_name=MASK if masked else "")


def _without_extras(s: Surface, f: TorchFunction) -> TorchFunction:
    """The forward function with None for what a variant computes but does not keep."""
    lines = list(f.lines)
    every = frozenset(range(len(s.derived)))
    switches = Switches.of([d.variant.conditions for d in s.derived], {})
    for name in s.residuals:
        kept = [any(o.name == name for o in d.forward.outputs) for d in s.derived]
        extra = [any(t.target == name for t in definitions(d.forward)) for d in s.derived]
        members = frozenset(i for i in every if extra[i] and not kept[i])
        if members:
            # variants that do not compute it have None already, and may be counted in
            wide = frozenset(i for i in every if not kept[i])
            text = min((condition(m, every, switches) for m in (members, wide)), key=len)
            lines += [f"if {text}:", f"    {name} = None"]
    return replace(f, lines=tuple(lines))


def _called(helper: str, lines: Sequence[str]) -> bool:
    return any(f"{helper}(" in line or f"{helper}." in line for line in lines)


def _typed_arguments(s: Surface, f: TorchFunction, programs: Iterable[Program]) -> list[str]:
    declared = {a.name: a for a in params_of(s.operator, programs)}
    out = []
    for name in f.arguments:
        if name == MASK and name not in declared:
            out.append(f"{name}: Sequence[bool]")
        elif name in declared:
            out.append(f"{name}: {annotation(declared[name])}")
        else:
            out.append(f"{name}: Tensor | None" if name in f.optional else f"{name}: Tensor")
    return out


def _returned(count: int, *, maybe: bool) -> str:
    one = "Tensor | None" if maybe and count > 1 else "Tensor"
    each = f"tuple[{', '.join([one] * count)}]"
    return one if count == 1 else each if len(f") -> {each}:") <= WIDTH else f"tuple[{one}, ...]"


# --- documentation ---------------------------------------------------------------------------------------------------


def formula_text(operator: Operator) -> tuple[str, ...]:
    """The forward block of a spec for a docstring."""
    lines = map(line_of_docstring, operator.docs.formula)
    return tuple(part for line in lines for part in wrapped_code(line, WIDTH - 8))


def summary_lines(operator: Operator) -> tuple[str, ...]:
    """What an operator is, for the beginning of a docstring."""
    return wrapped(in_docstring(operator.docs.summary or f"The operator {operator.name}."), 112)


def docstring(s: Surface) -> tuple[str, ...]:
    """The docstring of the functional: summary, formula, arguments, result, errors, reference."""
    operator, docs = s.operator, s.operator.docs
    out = [*summary_lines(operator), ""]
    if docs.description:
        out += [*wrapped(in_docstring(docs.description), 112), ""]
    out += ["Formula::", "", *(f"    {line}" if line else "" for line in formula_text(operator)), "", "Args:"]
    for t in operator.operands:
        kind = {Kind.FLOAT: "", Kind.INT: "integer ", Kind.BOOL: "bool ", Kind.COMPLEX: "complex "}[t.kind]
        text = f"{kind}`{layout_text(t.shape)}`{', optional' if t.name in operator.maybe_none else ''}"
        out += _argument_lines(operator, t, text + ", not broadcast" * (t.name in operator.unbroadcast))
    for a in operator.stated:
        choices = f"; one of {', '.join(a.choices)}" if a.choices else ""
        out += _argument_lines(operator, a, annotation(a) + choices)
    if takes_out(operator):
        into = "a tensor that the result is" if len(s.results) == 1 else "tensors that the results are"
        out += item_lines(f"{OUT}: {into} written into")
    out += ["", "Returns:", *item_lines("; ".join(_result_text(o, s.operator.shown(o.name)) for o in s.results))]
    if docs.reference:
        out += ["", f"Computes what `{docs.reference}` computes."]
    if out[out.index("Args:") + 1] == "":
        out.remove("Args:")
    return tuple(out)


def _argument_lines(operator: Operator, a: Tensor | Argument, text: str) -> list[str]:
    """What an argument is, what the spec says of it, and what it keeps to."""
    domain = operator.domain(a.name)
    said = (f"{operator.shown(a.name)}: {text}", a.doc, "" if domain is None else domain.text)
    return item_lines("; ".join(filter(None, said)))


def _result_text(o: Output, name: str) -> str:
    kind = {Kind.FLOAT: o.dtype, Kind.INT: "int64", Kind.BOOL: "bool", Kind.COMPLEX: "complex"}[o.kind]
    return f"{name}: {f'{kind} ' if kind else ''}`{layout_text(o.shape)}`" + (
        f", {in_docstring(o.doc)}" if o.doc else ""
    )


def item_lines(text: str) -> list[str]:
    """An entry of a list of arguments or results."""
    first, *rest = wrapped(in_docstring(text), 108)
    return [f"    {first}", *(f"        {line}" for line in rest)]


def text_of(parts: Sequence[str]) -> str:
    """A tuple of string literals laid out as an argument value."""
    items = [quoted(p) for p in parts]
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
