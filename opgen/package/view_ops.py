"""The view of `ops.py`: the checks and fake kernels, the definition of the dispatcher ops, and the functional.

In goes a `Surface`; out comes an `OpsView` of finished strings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from opgen.code.layout import NUMBERS, WIDTH, bracketed, imported, quoted, runtime_imports, strings, tupled
from opgen.code.signature import (
    annotation,
    forward_schema,
    kind_letters,
    params_of,
    schema_param,
    schema_results,
    takes_out,
)
from opgen.diff.laziness import Laziness
from opgen.ir.program import Argument, Compute, Kind, Program, Scatter
from opgen.ir.scalar import BATCH, PLACE, walk
from opgen.opt.autocast import Autocast, autocast
from opgen.package.view import FormulaView, Surface, docstring, formula_view, result_names
from opgen.package.view_checks import check_body, value_checks
from opgen.package.view_choice import excess_views
from opgen.package.view_elsewhere import names_in
from opgen.package.view_fakes import backward_fake_body, fake_body
from opgen.package.view_flops import CountView, flops_views
from opgen.package.view_fold import fold_fields
from opgen.package.view_functional import (
    NEVER,
    REFUSE,
    WRITE,
    aside,
    call_lines,
    functional_parameters,
    given_lines,
    handle,
    imported_as,
    inplace_lines,
    into_out,
    own_parameters,
    prelude,
    results_type,
)
from opgen.package.view_params import CHECK, checked_params, param_checks
from opgen.package.view_positions import position_fields
from opgen.package.view_saved import read_lines
from opgen.package.view_sharding import sharding_fields
from opgen.package.view_sizes import size_fields, sizes_view
from opgen.plan.speed import Choice
from opgen.torch.functions import MASK


@dataclass(frozen=True, slots=True)
class OpsView:
    """`ops.py` in finished pieces."""

    op: str
    imports: tuple[str, ...]
    formulas: tuple[FormulaView, ...]
    check_params: str
    param_checks: tuple[str, ...]
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
    read: str
    read_lines: tuple[str, ...]
    counts: tuple[CountView, ...]
    fields: tuple[str, ...]
    function: str
    define: str
    doc_first: str
    doc: tuple[str, ...]
    op_literal: str
    operands: tuple[str, ...]
    into_out: tuple[str, ...]
    overridden: str
    handle: str
    prelude: tuple[str, ...]
    call: tuple[str, ...]
    inplace: bool
    inplace_define: str
    inplace_doc: str
    inplace_lines: tuple[str, ...]


def ops_view(s: Surface, saved: Sequence[str], choice: Choice) -> OpsView:
    """Everything that `ops.py` says. `saved`: what the backward op takes beside cotangents; `choice`: what `auto`
    leaves to torch.
    """
    second, tangent = second_order(s)
    extra = tuple(_beside(s.name, f) for f in (second, tangent) if f is not None)
    typed = _typed(s)
    check = check_body(s)
    fake = fake_body(s)
    back = backward_fake_body(s, saved) if s.active else ()
    back_args = [f"grad_{n}: Tensor" for n in s.active] + [_saved_type(s, n) for n in saved]
    back_args += [f"{a.name}: {annotation(a)}" for a in backward_params(s)] + [f"{MASK}: Sequence[bool]"]
    told = sizes_view(s, typed)
    counts = (*flops_views(s, typed, back_args), *excess_views(s, choice, typed, back_args), *((told,) if told else ()))
    fields = _fields(s, saved, second, tangent, choice)
    fields = (*fields, *(f"{f.name}={f.name}" for f in counts), *sharding_fields(s))
    body = [*param_checks(s), *check, *fake, *back, *fields, *(line for f in counts for line in f.lines)]
    inplace = s.operator.inplace
    return OpsView(
        op=s.name,
        imports=_imports(s, extra, body, bool(s.active)),
        formulas=extra,
        check_params=bracketed(f"def {CHECK}(", [_typed_param(a) for a in checked_params(s)], ") -> None:"),
        param_checks=param_checks(s),
        check=bracketed("def check(", typed, ") -> None:"),
        check_doc="Raise unless the arguments fit together.",
        check_lines=check,
        check_values=bracketed("def check_values(", typed, ") -> None:"),
        value_checks=value_checks(s),
        arguments=", ".join((*s.inputs, *s.params)),
        fake=bracketed("def fake(", typed, f") -> {results_type(len(s.outputs) + len(s.residuals))}:"),
        fake_lines=fake,
        backward_fake=bracketed("def backward_fake(", back_args, f") -> {results_type(len(s.wrt))}:") * bool(s.active),
        backward_fake_lines=back,
        read=bracketed("def read(", typed, ") -> tuple[bool, ...]:"),
        read_lines=read_lines(s),
        counts=counts,
        fields=fields,
        function=s.function,
        define=bracketed(f"def {s.function}(", functional_parameters(s), f") -> {results_type(len(s.results))}:"),
        doc_first=docstring(s)[0],
        doc=docstring(s)[1:],
        op_literal=quoted(s.name),
        operands=given_lines(s, s.function),
        into_out=into_out(s),
        overridden=f"{aside(s, 'has_torch_function')}({aside(s, 'given')})",
        handle=handle(s, s.function),
        prelude=prelude(s),
        call=call_lines(s),
        inplace=bool(inplace),
        inplace_define=bracketed(f"def {s.name}_(", own_parameters(s), ") -> Tensor:"),
        inplace_doc=f"`{s.name}` that overwrites `{s.operator.shown(inplace)}`, and returns it.",
        inplace_lines=inplace_lines(s, inplace) if inplace else (),
    )


def second_order(s: Surface) -> tuple[FormulaView | None, FormulaView | None]:
    """The formulas that differentiate the backward op, in reverse and in forward mode."""
    if not s.active:
        return None, None
    second = formula_view(s, "second", "The gradient of the gradient.")
    return second, formula_view(s, "backward_tangent", "The directional derivative of the gradient.")


def _beside(name: str, f: FormulaView) -> FormulaView:
    """A formula next to the function of this name: a helper that is called the same goes by another name."""
    if name not in f.helpers:
        return f
    own = f"{name}_helper"
    lines = tuple(re.sub(rf"(?<![\w.]){name}\(", f"{own}(", line) for line in f.lines)
    return replace(f, lines=lines, helpers=tuple(f"{h} as {own}" if h == name else h for h in f.helpers))


def _typed(s: Surface) -> list[str]:
    out = [f"{n}: Tensor | None" if n in s.operator.optional else f"{n}: Tensor" for n in s.inputs]
    return out + [_typed_param(a) for a in s.operator.params]


def _typed_param(a: Argument) -> str:
    return f"{a.name}: {annotation(a)}"


def _saved_type(s: Surface, name: str) -> str:
    return f"{name}: Tensor | None" if may_be_absent(s, name) else f"{name}: Tensor"


def may_be_absent(s: Surface, name: str) -> bool:
    """An optional input, or an intermediate that some variants do not have."""
    if name in s.operator.optional:
        return True
    programs = s.programs("forward")
    return name not in s.inputs and not all(any(o.name == name for o in p.outputs) for _, p in programs)


# --- the definition --------------------------------------------------------------------------------------------------


def _fields(
    s: Surface,
    saved: Sequence[str],
    second: FormulaView | None,
    tangent: FormulaView | None,
    choice: Choice,
) -> tuple[str, ...]:
    results = len(s.outputs) + len(s.residuals)
    schema, defaults = forward_schema(s.operator, results)
    out = [f"name={quoted(s.name)}", _schema("schema", schema), _names("inputs", s.inputs)]
    out += [f"kinds={quoted(kind_letters(s.operator))}"]
    shown = tuple(map(s.operator.shown, s.operands))
    out += [_names("operands", shown)] if shown != s.inputs else []
    out += [f"params={strings(s.params)}"] if s.params else []
    out += [f"defaults={tupled(defaults)}"] if defaults else []
    out += fold_fields(s)
    out += [_names("outputs", s.output_names)]
    out += [_names("residuals", s.residuals)] if s.residuals else []
    out += [_names("differentiable", (*s.wrt, *s.active, *s.sums))] if s.active else []
    out += [f"forward=function.{s.name}_forward", "fake=fake"]
    out += ["check=check"] if check_body(s) else []
    out += ["check_values=check_values"] if value_checks(s) else []
    if s.active:
        out += [_schema("backward_schema", backward_schema(s, saved)), _names("saved", saved) if saved else "saved=()"]
        out += ["read=read"] if read_lines(s) else []
        out += [f"backward=function.{s.name}_backward", "backward_fake=backward_fake"]
        out += [f"tangent=function.{s.name}_tangent"] if s.complete("tangent") else []
    out += ["asks_given=True"] if s.active and len(backward_params(s)) > len(s.operator.params) else []
    if second is not None:
        out += [f"second={second.name}", _names("second_returns", second_returns(s))]
        out += [_names("second_mask", second.mask)] if second.mask else []
        asked = _asked(s)
        out += [f"second_given={{{', '.join(f'{quoted(n)}: {k}' for n, k in asked.items())}}}"] if asked else []
    out += [f"backward_tangent={tangent.name}"] if tangent is not None else []
    out += ["by_torch=True"] if s.by_torch else []
    if s.sums:
        reached = tuple(result_names(s.programs("through_sums")).values())
        out += [f"through_sums=function.{s.name}_through_sums", _names("summed", reached)]
    views = [v for f in ("forward", "backward", "tangent", "backward_tangent") for v in shared_memory(s, f)]
    out += [_names("views", views)] if views else []
    out += ["once_differentiable=True"] if s.operator.flags.once_differentiable and s.active else []
    out += ["elsewhere=True"] if s.operator.elsewhere is not None else []
    out += [f"autocast={quoted(autocast_list(s))}"] if autocast_list(s) else []
    out += [*position_fields(s), *size_fields(s)]
    unordered = [quoted(w) for w in ("forward", "backward") if adds_in_any_order(s, w)]
    out += [f"unordered={tupled(unordered)}"] if unordered else []
    slow = [f"{quoted(which)}: {quoted(why)}" for which, why in choice.in_torch.items()]
    told = f"faster_in_torch={{{', '.join(slow)}}}"
    if len(told) > WIDTH - len("        ,"):
        told = "\n".join(["faster_in_torch={", *(f"            {item}," for item in slow), "        }"])
    out += [told] if slow else []
    out += [_names("faster_in_torch_on_gpu", choice.on_gpu)] if choice.on_gpu else []
    out += ["tags=(torch.Tag.pointwise,)"] if is_pointwise(s) else []
    return tuple(out)


def _names(field: str, names: Sequence[str]) -> str:
    one = f"{field}={strings(names)}"
    if len(one) <= WIDTH - 9:
        return one
    return f"{field}=(\n" + "".join(f"            {quoted(n)},\n" for n in names) + "        )"


def shared_memory(s: Surface, which: str) -> tuple[str, ...]:
    """Results of a formula that may share memory with an argument, or are what an earlier one is."""
    view = formula_view(s, which, "") if which == "forward" or s.active else None
    if view is None:
        return ()
    again = [o.name for _, p in s.programs(which) for k, o in enumerate(p.outputs) if o.value in _before(p, k)]
    return tuple(dict.fromkeys((*view.views, *again)))


def _before(p: Program, k: int) -> tuple[str, ...]:
    return tuple(o.value for o in p.outputs[:k])


def _asked(s: Surface) -> dict[str, tuple[int, ...]]:
    """The outputs that the gradient reads only where nothing but certain cotangents is given: else none flows back."""
    found: dict[str, set[int]] = {}
    for _, p in s.programs("second"):
        known = Laziness.of(p)
        for o in (o for o in p.outputs if o.of in s.active):
            found.setdefault(o.of, set()).update(known.asks(o.value) or range(len(s.active)))
    return {n: tuple(sorted(k)) for n, k in found.items() if len(k) < len(s.active)}


def second_returns(s: Surface) -> tuple[str, ...]:
    if s.operator.elsewhere is not None:
        return (*(f"grad_{n}" for n in s.active), *s.wrt)
    programs = s.programs("second")
    longest = max((p.outputs for _, p in programs), key=len)
    return tuple(dict.fromkeys(o.of for o in (*longest, *(o for _, p in programs for o in p.outputs))))


def backward_params(s: Surface) -> tuple[Argument, ...]:
    """The params of the backward op."""
    return params_of(
        s.operator, (p for which in ("backward", "second", "backward_tangent") for _, p in s.programs(which))
    )


def backward_schema(s: Surface, saved: Sequence[str]) -> str:
    """The schema of the backward op."""
    texts = [f"Tensor grad_{n}" for n in s.active]
    texts += [f"Tensor{'?' if may_be_absent(s, n) else ''} {n}" for n in saved]
    texts += [schema_param(a) for a in backward_params(s)]
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
        if len(grown) > 96:
            pieces.append(f"{line}, ")
            line = part
        else:
            line = grown
    pieces.append(line)
    pieces[-1:] = [f"{line} -> {result}"] if len(line) + len(result) < 90 else [line, f" -> {result}"]
    return f"{field}=(\n" + "".join(f"            {quoted(p)}\n" for p in pieces) + "        )"


def autocast_list(s: Surface) -> Autocast:
    """What torch's autocast does with the operator; it leaves complex numbers alone."""
    return Autocast.AS_GIVEN if s.operator.pairs else autocast(p for _, p in s.programs("forward"))


def adds_in_any_order(s: Surface, which: str) -> bool:
    """Does a CUDA kernel round by the order in which atomic operations come? Extremes and integers do not."""
    return any(
        isinstance(st, Scatter) and st.kind is Kind.FLOAT and st.op in ("sum", "prod")
        for _, p in s.programs(which)
        for st in p.statements
    )


def is_pointwise(s: Surface) -> bool:
    """Only maps over the batch shape, of which the place in it says nothing."""
    return s.operator.elsewhere is None and all(
        isinstance(st, Compute) and st.op is None and st.axes == (BATCH,) and PLACE not in walk(st.body)
        for _, p in s.programs("forward")
        for st in p.statements
    )


_SHARED = (
    *("Fill", "Seed"),
    *("batch_shape", "choice_error", "compute_dtype", "divisor_error", "domain_error", "extent_error", "joined"),
    *("length_error", "multiple_error", "check_range", "checks_values", "rank_error", "size_error", "Sharding"),
)


def _imports(s: Surface, extra: Sequence[FormulaView], body: Sequence[str], differentiable: bool) -> tuple[str, ...]:
    text = "\n".join((*body, *value_checks(s), *prelude(s), *call_lines(s)))
    sequences = differentiable or any(a.length is not None for a in s.operator.params)
    out = ["import math"] if "math." in text or any(f.uses_math for f in extra) else []
    out += ["from collections.abc import Sequence"] if sequences else []
    out += [f"from typing import {imported_as(s, NEVER)}", ""]
    beside = [imported_as(s, WRITE)] if takes_out(s.operator) else []
    beside += [imported_as(s, REFUSE)]
    beside += ["takes_missing"] if s.operator.inplace else []
    lines = [x for f in extra for x in f.lines]
    uses_torch = "torch." in text or s.operator.inplace or any("torch." in x for x in lines)
    out += ["import torch"] if uses_torch else []
    out += ["import torch as _torch"] if s.operator.inplace and "torch" in s.arguments else []
    overrides = imported(
        "torch.overrides", [imported_as(s, "handle_torch_function"), imported_as(s, "has_torch_function")]
    )
    out += ["from torch import Tensor", overrides, ""]
    second = any("second_order(" in x for x in lines)
    used = [imported_as(s, n) if n == "joined" else n for n in _SHARED if f"{n}(" in text] + (
        ["second_order"] if second else []
    )
    helpers = [h for f in extra for h in f.helpers] + ([NUMBERS] if "numbers." in text else [])
    out += runtime_imports(["Definition", "add_function", "register", *used, *beside], helpers)
    out.append("from . import function")
    called = [*names_in(lines, s), *(["BACKWARD"] if second else [])]
    out += [imported(".function", called)] if called else []
    return tuple("\n".join(out).split("\n"))
