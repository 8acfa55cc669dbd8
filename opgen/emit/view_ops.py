"""The view of `ops.py`: the checks and fake kernels, the definition of the dispatcher ops, and the functional.

In goes a `Surface`; out comes an `OpsView` of finished strings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from opgen.diagnostics.model import Bag
from opgen.emit.layout import WIDTH, bracketed, imported, quoted, strings, tupled
from opgen.emit.python_text import python_text
from opgen.emit.shapes import Sizes, carriers, check_lines, empty_line
from opgen.emit.signature import (
    annotation,
    forward_schema,
    is_computed,
    keyword_names,
    kind_letters,
    parameter_texts,
    parameters,
    schema_param,
    schema_results,
)
from opgen.emit.torch_code import MASK
from opgen.emit.torch_conditions import Switches, chain
from opgen.emit.torch_prepare import prepare
from opgen.emit.torch_program import needs_upcast
from opgen.emit.view import FormulaView, Surface, docstring, formula_view
from opgen.ir.program import Compute, Kind, Output, Program, Tensor, statement_reads
from opgen.ir.scalar import BATCH, Apply, Scalar
from opgen.lang.nodes import Access, Expr, Name
from opgen.lang.parser import parse_expression
from opgen.lang.walk import nodes as every_node
from opgen.spec.formula import Formula


@dataclass(frozen=True, slots=True)
class OpsView:
    """`ops.py` in finished pieces."""

    op: str
    imports: tuple[str, ...]
    formulas: tuple[FormulaView, ...]
    check: str
    check_doc: str
    check_lines: tuple[str, ...]
    check_values: str
    value_checks: tuple[str, ...]
    arguments: str
    fake: str
    fake_lines: tuple[str, ...]
    backward_fake: str
    backward_fake_lines: tuple[str, ...]
    fields: tuple[str, ...]
    define: str
    doc_first: str
    doc: tuple[str, ...]
    op_literal: str
    operands: str
    handle: str
    prelude: tuple[str, ...]
    call: tuple[str, ...]
    inplace: bool
    inplace_define: str
    inplace_doc: str
    inplace_lines: tuple[str, ...]
    saved: tuple[str, ...]  # what the backward op takes beside cotangents


def ops_view(s: Surface) -> OpsView:
    """Everything that `ops.py` says."""
    second, tangent = second_order(s)
    extra = tuple(f for f in (second, tangent) if f is not None)
    saved = saved_names(s)
    typed = _typed(s)
    check = _check(s)
    fake = _fake(s)
    back = _backward_fake(s, saved) if s.active else ()
    back_args = [f"grad_{n}: Tensor" for n in s.active] + [_saved_type(s, n) for n in saved]
    back_args += [f"{a.name}: {annotation(a)}" for a in s.operator.params] + [f"{MASK}: Sequence[bool]"]
    body = [*check, *fake, *back]
    inplace = str(s.spec.inplace) if s.spec.inplace else ""
    return OpsView(
        op=s.name,
        imports=_imports(s, extra, body, bool(s.active)),
        formulas=extra,
        check=bracketed("def check(", typed, ") -> None:"),
        check_doc="Raise unless the arguments fit together.",
        check_lines=check,
        check_values=bracketed("def check_values(", typed, ") -> None:"),
        value_checks=value_checks(s),
        arguments=", ".join((*s.inputs, *s.params)),
        fake=bracketed("def fake(", typed, f") -> {_tensors(len(s.outputs) + len(s.residuals))}:"),
        fake_lines=fake,
        backward_fake=bracketed("def backward_fake(", back_args, f") -> {_tensors(len(s.wrt))}:") if s.active else "",
        backward_fake_lines=back,
        fields=_fields(s, saved, second, tangent),
        define=bracketed(
            f"def {s.name}(", parameter_texts(parameters(s.operator)), f") -> {_tensors(len(s.outputs))}:"
        ),
        doc_first=docstring(s)[0],
        doc=docstring(s)[1:],
        op_literal=quoted(s.name),
        operands=f"given = {tupled(s.inputs)}",
        handle=_handle(s, s.name),
        prelude=_prelude(s),
        call=_call(s),
        inplace=bool(inplace),
        inplace_define=bracketed(f"def {s.name}_(", parameter_texts(parameters(s.operator)), ") -> Tensor:"),
        inplace_doc=f"`{s.name}` that overwrites `{inplace}`, and returns it.",
        inplace_lines=_inplace(s, inplace) if inplace else (),
        saved=saved,
    )


def second_order(s: Surface) -> tuple[FormulaView | None, FormulaView | None]:
    """The formulas that differentiate the backward op, in reverse and in forward mode."""
    if not s.active:
        return None, None
    second = formula_view(s, "second", "The gradient of the gradient.")
    return second, formula_view(s, "backward_tangent", "The directional derivative of the gradient.")


def saved_names(s: Surface) -> tuple[str, ...]:
    """What the backward op takes beside cotangents: all that first and second order read, in order."""
    if not s.active:
        return ()
    read = {t.name for _, p in s.programs("backward") for t in p.inputs}
    for f in second_order(s):
        read |= set(f.arguments) if f is not None else set()
    return tuple(n for n in (*s.inputs, *s.output_names, *s.residuals) if n in read)


def _typed(s: Surface) -> list[str]:
    out = [f"{n}: Tensor | None" if n in s.operator.optional else f"{n}: Tensor" for n in s.inputs]
    return out + [f"{a.name}: {annotation(a)}" for a in s.operator.params]


def _saved_type(s: Surface, name: str) -> str:
    return f"{name}: Tensor | None" if may_be_absent(s, name) else f"{name}: Tensor"


def may_be_absent(s: Surface, name: str) -> bool:
    """An optional input, or an intermediate that some variants do not have."""
    if name in s.operator.optional:
        return True
    programs = s.programs("forward")
    return name not in s.inputs and not all(any(o.name == name for o in p.outputs) for _, p in programs)


def _tensors(count: int) -> str:
    return "Tensor" if count == 1 else "tuple[Tensor, ...]"


# --- checks ----------------------------------------------------------------------------------------------------------


def _expression(text: object) -> Expr | None:
    return parse_expression(Formula.plain(str(text)), Bag())


def _mentions(e: Expr) -> tuple[str, ...]:
    return tuple(n.name for n in every_node(e) if isinstance(n, Name | Access))


def _check(s: Surface) -> tuple[str, ...]:
    limits = [(str(p.name), _expression(p.domain)) for p in s.spec.params if p.domain]
    needed = [n for _, e in limits if e is not None for n in _mentions(e)]
    lines = check_lines(s.name, s.operator.inputs, s.operator.optional, needed)
    for a in s.operator.params:
        if a.choices:
            error = f"choice_error({quoted(s.name)}, {quoted(a.name)}, {a.name}, {strings(a.choices)})"
            lines += [f"if {a.name} not in {strings(a.choices)}:", f"    raise {error}"]
    for name, e in limits:
        text = python_text(e, lambda n: n) if e is not None else None
        if text is not None and e is not None:
            a = next(a for a in s.operator.params if a.name == name)
            maybe = f"{name} is not None and " if a.null or is_computed(a) else ""
            domain = next(str(p.domain) for p in s.spec.params if p.name == name)
            error = f"domain_error({quoted(s.name)}, {quoted(name)}, {name}, {quoted(domain)})"
            lines += [f"if {maybe}not {text}:" if _binds(text) else f"if {maybe}not ({text}):", f"    raise {error}"]
    return tuple(lines)


def _binds(text: str) -> bool:
    """A comparison needs no parentheses after `not`."""
    return " and " not in text and " or " not in text


def value_checks(s: Surface) -> tuple[str, ...]:
    """Lines that raise where an integer input is out of its domain; they read values, so only real kernels run them."""
    lines: list[str] = []
    for i in s.spec.inputs:
        e = _expression(i.domain) if i.domain and i.dtype == "int" else None
        text = python_text(e, lambda n: n, elementwise=True) if e is not None else None
        if text is None:
            continue
        dims = [n for n in dict.fromkeys(_mentions(e)) if n[:1].isupper()] if e is not None else []
        sizes = Sizes(s.operator.variants[0].program)
        for d in dims:
            sizes.size(d)
        error = f"range_error({quoted(s.name)}, {quoted(str(i.name))}, {i.name}, {quoted(str(i.domain))})"
        lines += [*sizes.lines, f"if {i.name}.is_cpu and not ({text}).all():", f"    raise {error}"]
    return tuple(lines)


# --- fake kernels ----------------------------------------------------------------------------------------------------


def _float_input(inputs: Sequence[Tensor], optional: Sequence[str]) -> str:
    always = [t.name for t in inputs if t.kind is Kind.FLOAT and t.name not in optional]
    return always[0] if always else ""


def _fake(s: Surface) -> tuple[str, ...]:
    """`return` of empty results, one branch for each shape that variants give them."""
    upcast = any(needs_upcast(prepare(p)) for _, p in s.programs("forward"))
    branches = [_fake_branch(s, p, upcast=upcast) for _, p in s.programs("forward")]
    return tuple(_branched(s, branches))


def _branched(s: Surface, branches: Sequence[tuple[str, ...]]) -> list[str]:
    kinds = list(dict.fromkeys(branches))
    if len(kinds) == 1:
        return list(kinds[0])
    every = frozenset(range(len(branches)))
    groups = [frozenset(i for i in every if branches[i] == k) for k in kinds]
    switches = Switches.of([d.variant.conditions for d in s.derived], {})
    out: list[str] = []
    for head, body in zip(chain(groups, every, switches), kinds, strict=True):
        if head == "else:":
            out += body
        else:
            out += ["if" + head.removeprefix("el").removeprefix("if"), *(f"    {line}" for line in body)]
    return out


def _fake_branch(s: Surface, p: Program, *, upcast: bool) -> tuple[str, ...]:
    sizes = Sizes(p)
    carried = carriers(p)
    like = _float_input(p.inputs, s.operator.optional) or p.inputs[0].name
    found = {o.name: o for o in p.outputs}
    texts = []
    for name in (*s.output_names, *s.residuals):
        o = found.get(name)
        if o is None:
            texts.append("None")
            continue
        residual = name in s.residuals
        batch = carried[o.value] if residual else sizes.whole()
        texts.append(empty_line(sizes, o, like, _dtype(o, p, like, upcast=upcast and residual), batch))
    return (*sizes.lines, *_return(texts))


def _dtype(o: Output, p: Program, like: str, *, upcast: bool) -> str:
    match o.kind:
        case Kind.INT:
            return "torch.int64"
        case Kind.BOOL:
            return "torch.bool"
        case Kind.FLOAT:
            kind = next(t.kind for t in p.inputs if t.name == like)
            if kind is not Kind.FLOAT:
                return "torch.get_default_dtype()"
            return f"compute_dtype({like})" if upcast else ""


def _return(texts: Sequence[str]) -> list[str]:
    one = f"return {', '.join(texts)}"
    if len(one) <= 100 or len(texts) == 1:  # noqa: PLR2004
        return [one]
    return ["return (", *(f"    {t}," for t in texts), ")"]


def _backward_fake(s: Surface, saved: Sequence[str]) -> tuple[str, ...]:
    """An empty gradient for each input that needs one."""
    first = f"grad_{s.active[0]}"
    texts = []
    lines: dict[str, None] = {}
    for name in s.wrt:
        guard = f"{MASK}[{s.inputs.index(name)}]"
        if name in saved:
            texts.append(f"{name}.new_empty({name}.shape) if {guard} else None")
            continue
        _, p = next((v, p) for v, p in s.programs("backward") if any(o.of == name for o in p.outputs))
        o = next(o for o in p.outputs if o.of == name)
        sizes = Sizes(p)
        batch = tuple(t.name for t in p.inputs if t.name == first) if BATCH in o.shape else ()
        text = empty_line(sizes, replace(o, like=None), first, "", batch)
        lines |= dict.fromkeys(sizes.lines)
        texts.append(f"{text} if {guard} else None")
    if len(texts) == 1:
        texts = [texts[0].split(" if ")[0]]
    return (*lines, *_return(texts))


# --- the definition --------------------------------------------------------------------------------------------------


def _fields(s: Surface, saved: Sequence[str], second: FormulaView | None, tangent: FormulaView | None) -> tuple[str, ...]:
    results = len(s.outputs) + len(s.residuals)
    schema, defaults = forward_schema(s.operator, results)
    out = [f"name={quoted(s.name)}", _schema("schema", schema), f"inputs={strings(s.inputs)}"]
    out += [f"kinds={quoted(kind_letters(s.operator))}"]
    out += [f"params={strings(s.params)}"] if s.params else []
    out += [f"defaults={tupled(defaults)}"] if defaults else []
    out += [f"outputs={strings(s.output_names)}"]
    out += [f"residuals={strings(s.residuals)}"] if s.residuals else []
    out += [f"differentiable={strings((*s.wrt, *s.active))}"] if s.active else []
    out += [f"forward=function.{s.name}_forward", "fake=fake", "check=check"]
    out += ["check_values=check_values"] if value_checks(s) else []
    if s.active:
        out += [_schema("backward_schema", backward_schema(s, saved)), f"saved={strings(saved) if saved else '()'}"]
        out += [f"backward=function.{s.name}_backward", "backward_fake=backward_fake"]
        out += [f"tangent=function.{s.name}_tangent"] if s.complete("tangent") else []
    if second is not None:
        out += [f"second={second.name}", f"second_returns={strings(_second_returns(s))}"]
        out += [f"second_mask={strings(second.mask)}"] if second.mask else []
    out += [f"backward_tangent={tangent.name}"] if tangent is not None else []
    out += ["once_differentiable=True"] if s.spec.once_differentiable and s.active else []
    out += ["contraction=True"] if is_contraction(s) else []
    out += ["tags=(torch.Tag.pointwise,)"] if is_pointwise(s) else []
    return tuple(out)


def _second_returns(s: Surface) -> tuple[str, ...]:
    programs = s.programs("second")
    longest = max((p.outputs for _, p in programs), key=len)
    return tuple(dict.fromkeys(o.of for o in (*longest, *(o for _, p in programs for o in p.outputs))))


def backward_schema(s: Surface, saved: Sequence[str]) -> str:
    """The schema of the backward op."""
    texts = [f"Tensor grad_{n}" for n in s.active]
    texts += [f"Tensor{'?' if may_be_absent(s, n) else ''} {n}" for n in saved]
    texts += [schema_param(a) for a in s.operator.params]
    return f"({', '.join((*texts, f'bool[] {MASK}'))}) -> {schema_results(len(s.wrt))}"


def _schema(field: str, schema: str) -> str:
    one = f"{field}={quoted(schema)}"
    if len(one) <= WIDTH - 9:
        return one
    if len(quoted(schema)) <= WIDTH - 12:
        return f"{field}=(\n            {quoted(schema)}\n        )"
    arguments, result = schema.split(" -> ")
    pieces: list[str] = []
    line = ""
    for part in arguments.split(", "):
        grown = f"{line}, {part}" if line else part
        if len(grown) > 96:  # noqa: PLR2004
            pieces.append(f"{line}, ")
            line = part
        else:
            line = grown
    pieces.append(line)
    pieces[-1:] = [f"{line} -> {result}"] if len(line) + len(result) < 90 else [line, f" -> {result}"]  # noqa: PLR2004
    return f"{field}=(\n" + "".join(f"            {quoted(p)}\n" for p in pieces) + "        )"


def is_contraction(s: Surface) -> bool:
    """Does the forward program sum products of inputs? Then autocast computes in the lower precision."""
    return any(_contracts(st) for _, p in s.programs("forward") for st in p.statements)


def _contracts(st: object) -> bool:
    if not isinstance(st, Compute) or st.op != "sum" or st.kind is not Kind.FLOAT:
        return False
    product: Scalar = st.body
    if not isinstance(product, Apply) or product.fn != "mul":
        return False
    return len(statement_reads(st)) > 1 and len(st.loops) > 2  # noqa: PLR2004


def is_pointwise(s: Surface) -> bool:
    """Only maps over the batch shape."""
    return all(
        isinstance(st, Compute) and st.op is None and st.axes == (BATCH,)
        for _, p in s.programs("forward")
        for st in p.statements
    )


# --- the functional --------------------------------------------------------------------------------------------------


def _handle(s: Surface, name: str) -> str:
    keywords = [f"{p}={p}" for p in keyword_names(s.operator)]
    return bracketed("return handle_torch_function(", [name, "given", *s.inputs, *keywords], ")", 8)


def _prelude(s: Surface) -> tuple[str, ...]:
    """Defaults that are computed from sizes and other params."""
    lines: list[str] = []
    for a in s.operator.params:
        if is_computed(a) and not a.null:
            sizes = Sizes(s.operator.variants[0].program)
            text = sizes.number(a.default)  # type: ignore[arg-type]
            lines += [f"if {a.name} is None:", *(f"    {x}" for x in sizes.lines), f"    {a.name} = {text}"]
    return tuple(lines)


def _call(s: Surface) -> tuple[str, ...]:
    tensors = f"*operands({quoted(s.name)}, {strings(s.inputs)}, {quoted(kind_letters(s.operator))}, given)"
    text = bracketed("return OP(", [tensors, *s.params], ")", 4)
    extra = len(s.residuals)
    if extra:
        keep = "[0]" if len(s.outputs) == 1 else f"[:{len(s.outputs)}]"
        text += keep
    first, *rest = text.split("\n")
    return (first, *(line.removeprefix("    ") for line in rest))


def _inplace(s: Surface, target: str) -> tuple[str, ...]:
    handle = bracketed(
        "return handle_torch_function(",
        [f"{s.name}_", "given", *s.inputs, *(f"{p}={p}" for p in s.params)],
        ")",
        8,
    )
    call = [f"{n}=source" if n == target else f"{n}={n}" for n in (*s.inputs, *s.params)]
    return (
        f"given = {tupled(s.inputs)}",
        "if has_torch_function(given):",
        f"    {handle}",
        f"source = {target}.clone() if torch.is_grad_enabled() and {target}.requires_grad else {target}",
        bracketed(f"return {target}.copy_({s.name}(", call, "))", 4),
    )


def _imports(s: Surface, extra: Sequence[FormulaView], body: Sequence[str], differentiable: bool) -> tuple[str, ...]:
    text = "\n".join((*body, *value_checks(s), *_prelude(s)))
    sequences = differentiable or any(a.length is not None for a in s.operator.params)
    out = ["import math"] if "math." in text or any(f.uses_math for f in extra) else []
    out += ["from collections.abc import Sequence"] if sequences else []
    out += [""] if out else []
    uses_torch = "torch." in text or is_pointwise(s) or s.spec.inplace or any("torch." in x for f in extra for x in f.lines)
    out += ["import torch"] if uses_torch else []
    out += ["from torch import Tensor", "from torch.overrides import handle_torch_function, has_torch_function", ""]
    errors = ("batch_shape", "choice_error", "compute_dtype", "domain_error", "range_error", "rank_error", "size_error")
    used = [n for n in errors if f"{n}(" in text]
    out.append(imported(".._runtime", ["Definition", "add_function", "operands", "register", *used]))
    helpers = [h for f in extra for h in f.helpers]
    out += [imported(".._runtime.functions", helpers)] if helpers else []
    out.append("from . import function")
    return tuple("\n".join(out).split("\n"))
