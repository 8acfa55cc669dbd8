"""What holds between the fields of a spec, beyond the type of each: names that exist, defaults that fit."""

from __future__ import annotations

import re
from itertools import chain

from opgen.diagnostics.model import Bag, Diagnostic, Hint, Severity, Span
from opgen.diagnostics.suggest import counted, did_you_mean, listed
from opgen.schema.case_checks import check_case, other_size
from opgen.schema.dtypes import WHOLE, WITHOUT_GRADIENT
from opgen.schema.elsewhere import ALIASES, HEADER, LIBRARIES, NATIVE, Callee
from opgen.schema.formula import Formula, Word
from opgen.schema.leaves import WISHES, truth
from opgen.schema.model import FunctionSpec, InputSpec, OpSpec, OutputSpec, ParamSpec
from opgen.schema.module_checks import check_module
from opgen.schema.paths import not_in_torch
from opgen.schema.reductions import REDUCTIONS
from opgen.schema.references import is_updated, no_repeats, refers, refers_to_dim, sizes_of
from opgen.schema.spelling import is_respelt


def check(spec: OpSpec, bag: Bag) -> None:
    _distinct(spec, bag)
    for tensor in spec.inputs:
        _input(tensor, bag)
    for param in spec.params:
        _param(param, bag, _reduces(spec, param))
    for function in spec.functions:
        _function(function, bag)
    _callables(spec, bag)
    _aliases(spec, bag)
    names = tuple(tensor.name for tensor in spec.inputs)
    for output in spec.outputs or ():
        if output.dtype in WITHOUT_GRADIENT and output.differentiable and "differentiable" in output.model_fields_set:
            _constant(output, bag)
    if spec.inplace is not None:
        _inplace(spec, spec.inplace, bag)
    if spec.module is not None:
        check_module(spec, spec.module, bag)
    sizes = sizes_of(spec)
    for dim, size in spec.tests.sizes.items():
        refers_to_dim(spec, dim, bag, other_size(spec, dim, size))
    for case in spec.tests.cases:
        known = (*names, *(param.name for param in spec.params), *sizes)
        check_case(spec, case, known, bag)


def _distinct(spec: OpSpec, bag: Bag) -> None:
    given: list[tuple[str, Span]] = [*((t.name, t.span) for t in spec.inputs), *((p.name, p.span) for p in spec.params)]
    given += [(f.name, f.span) for f in spec.functions]
    results: list[tuple[str, Span]] = [(o.name, o.span) for o in spec.outputs or () if not is_updated(spec, o.name)]
    no_repeats(chain(given, results), bag)
    if isinstance(spec.save, tuple):
        no_repeats(((name, name.span) for name in spec.save), bag)


def _input(tensor: InputSpec, bag: Bag) -> None:
    if tensor.absent is not None and not tensor.optional:
        bag.error(
            "OPG117",
            f"`absent` has no effect, because `{tensor.name}` is not optional",
            tensor.absent.whole,
            hints=("add `optional: true`",),
        )
    if not tensor.broadcast and tensor.shape is not None and all(item.text.strip() != "..." for item in tensor.shape):
        message = f"`broadcast` has no effect, because the shape of `{tensor.name}` has no batch dims, `...`"
        bag.error("OPG117", message, tensor.span, hints=("remove `broadcast: false`: named dims never broadcast",))
    if tensor.dtype == "complex" and tensor.domain is not None:
        message = f"`{tensor.name}` is complex, and complex numbers have no order"
        bag.error("OPG117", message, tensor.domain.whole, hints=("remove `domain`",))
    if tensor.dtype == "seed":
        _seed(tensor, bag)
    if tensor.dtype in WITHOUT_GRADIENT and tensor.differentiable:
        _constant(tensor, bag)


def _constant(tensor: InputSpec | OutputSpec, bag: Bag) -> None:
    message = f"`{tensor.name}` is of dtype {tensor.dtype} and cannot have a gradient"
    bag.error("OPG117", message, tensor.span, hints=("remove `differentiable: true`",))


def _seed(tensor: InputSpec, bag: Bag) -> None:
    """A seed is one number that is drawn where a call leaves it out, and nothing else is to be said of it."""
    if tensor.shape is not None and tensor.shape != ():
        whole = tensor.shape[0].whole.to(tensor.shape[-1].whole)
        message = f"`{tensor.name}` is a seed, which is one number and has no shape"
        bag.error("OPG117", message, whole, label="has dims", hints=(f"write `{tensor.name}: {{dtype: seed}}`",))
    if tensor.optional:
        message = f"`{tensor.name}` is a seed, which a call may leave out anyway"
        bag.error("OPG117", message, tensor.span, hints=("remove `optional: true`",))
    if tensor.domain is not None:
        message = f"`{tensor.name}` is a seed, and every integer is one"
        bag.error("OPG117", message, tensor.domain.whole, hints=("remove `domain`",))


def _reduces(spec: OpSpec, param: ParamSpec) -> bool:
    """Whether a param stands for a reduction somewhere: `reduction[n](each[n])`."""
    formula = spec.forward.text if isinstance(spec.forward, Formula) else ""
    return bool(param.choices) and re.search(rf"(?<![\w.]){param.name}\s*\[", formula) is not None


def _param(param: ParamSpec, bag: Bag, reduces: bool) -> None:
    if param.choices:
        if param.type != "str":
            message = f"a param with choices is a string, not a {param.type}"
            bag.error("OPG117", message, param.span, hints=("remove `type`",))
        if param.domain is not None:
            bag.error("OPG117", "a param with choices has no `domain`", param.domain.whole, hints=("remove it",))
        no_repeats(((choice, choice.span) for choice in param.choices), bag)
    if param.default is not None:
        _default(param, param.default, bag, reduces)


def _default(param: ParamSpec, default: Formula | tuple[Formula, ...], bag: Bag, reduces: bool) -> None:
    if isinstance(default, tuple):
        if len(default) != param.length:
            wanted = f"a list of {param.length}" if param.length is not None else "one value"
            message = f"the default of `{param.name}` has {counted(len(default), 'element')}, and its type is {wanted}"
            span = default[0].whole.to(default[-1].whole) if default else param.span
            row = "a row of any length, at an index, is an input"
            of_each = f"a list has a type for each element: `type: [{', '.join([param.type] * len(default))}]`; {row}"
            bag.error("OPG119", message, span, hints=(of_each,) if len(default) > 1 else ())
        for element in default:
            _default_value(param, element, bag, reduces)
    else:
        _default_value(param, default, bag, reduces)


def _default_value(param: ParamSpec, default: Formula, bag: Bag, reduces: bool) -> None:
    text = default.text.strip()
    if is_respelt(text, param.choices):
        return
    if param.choices and text not in param.choices:
        add, one = f"add it: `choices: [{', '.join((*param.choices, text))}]`", f"`default: {param.choices[0]}`"
        lost = reduces and text not in (*REDUCTIONS, "none")  # what reduces could not stand for it
        ways = (f"choose one: {one}",) if lost else (add, f"or choose one: {one}")
        hints = did_you_mean(text, param.choices) or ways
        message = f"the default of `{param.name}` is not among its choices {listed(param.choices, 'and')}"
        bag.error("OPG119", message, default.whole, label="not a choice", hints=hints)
    elif param.type in ("int", "float") and text in ("true", "false"):
        _unfit(param, default, "a truth value", bag, "a param that is true or false has `type: bool`")
    elif param.type == "bool" and text not in ("true", "false"):
        meant = truth(text)
        hint = Hint(f"write `{meant}`", text, meant) if meant else "write `true` or `false`"
        _unfit(param, default, "not a truth value", bag, hint)
    elif param.type == "int" and _is_fraction(text):
        whole = [Hint(f"write `{text[:-2]}`", text, text[:-2])] if re.fullmatch(r"-?\d+\.0", text) else []
        hint = (
            "or `type: float`, if it may have a fraction" if whole else "a number with a fraction is of `type: float`"
        )
        _unfit(param, default, "not an integer", bag, *whole, hint)


def _is_fraction(text: str) -> bool:
    try:
        return not float(text).is_integer() or "." in text or "e" in text.lower()
    except (ValueError, OverflowError):
        return False


def _unfit(param: ParamSpec, default: Formula, label: str, bag: Bag, *hints: str) -> None:
    message = f"the default of `{param.name}` is not of type {param.type}"
    bag.error("OPG119", message, default.whole, label=label, hints=hints)


def _function(function: FunctionSpec, bag: Bag) -> None:
    if function.value is None and not function.extern:
        bag.error("OPG111", f"`{function.head.text}` needs the field `value`", function.span, hints=("add `value`",))
    spelled = dict(function.extern)
    if HEADER in spelled and not any(key in spelled for key in NATIVE):
        header = spelled[HEADER]
        bag.error("OPG117", "`include` is of use for a name of C++ only", header.span, hints=("add `cpp: …`",))


def _aliases(spec: OpSpec, bag: Bag) -> None:
    """Names that packages have in a file that imports them: nobody imports them under these for a spec."""
    blocks = [b.path for b in (spec.forward, spec.backward) if isinstance(b, Callee)]
    externs = [name for f in spec.functions for library, name in f.extern if library in LIBRARIES]
    for path in (*([spec.reference] if spec.reference is not None else []), *blocks, *externs):
        not_in_torch(path, bag)
        root, dot, rest = path.partition(".")
        if dot and root in ALIASES:
            hints = (f"write the whole path: `{ALIASES[root]}.{rest}`",)
            message = f"`{root}` is no package, but what some files call `{ALIASES[root]}`"
            bag.add(Diagnostic("OPG122", message, path.span, "not found", hints=hints, severity=Severity.WARNING))


def _callables(spec: OpSpec, bag: Bag) -> None:
    """What goes with an operator that is computed elsewhere as a whole."""
    if not isinstance(spec.forward, Callee):
        if isinstance(spec.backward, Callee):
            hints = ("state the gradients as formulas, `grad_x = …`, or name a callable under `forward` too",)
            message = "`backward` is a callable, and `forward` is not"
            bag.error("OPG117", message, spec.backward.whole, label="a callable", hints=hints)
        return
    if isinstance(spec.backward, Formula):
        hints = ("name a callable: `backward: {torch: package.function}`",)
        message = "`forward` is a callable, and `backward` is not"
        bag.error("OPG117", message, spec.backward.whole, label="a formula", hints=hints)
    if not spec.outputs:
        hints = ("declare them: `outputs: {y: {shape: [...]}}`",)
        message = "nothing says what the callable of `forward` returns"
        bag.error("OPG111", message, spec.forward.whole, label="needs `outputs`", hints=hints)
    for output in spec.outputs or ():
        if output.shape is None:
            hints = (f"write `{output.name}: {{shape: [...]}}`",)
            bag.error("OPG111", f"the output `{output.name}` needs a `shape`", output.span, hints=hints)
        if output.stored:
            kind = "int" if output.stored in WHOLE else "float"
            hints = (f"write `dtype: {kind}`; it comes in the precision of the inputs",)
            message = f"what a callable returns is not stored in {output.stored}"
            bag.error("OPG117", message, output.span, label="has a `dtype` of one size", hints=hints)
    for function in spec.functions:
        message = f"no formula calls `{function.name}`, because `forward` is a callable"
        bag.error("OPG117", message, function.span, hints=("remove it",))
    if spec.inplace is not None:
        message = "an operator computed by a callable has no variant that overwrites an input"
        bag.error("OPG117", message, spec.inplace.span, hints=("remove `inplace`",))


def _inplace(spec: OpSpec, name: Word, bag: Bag) -> None:
    inputs = tuple(tensor.name for tensor in spec.inputs)
    if name not in inputs and name in WISHES:
        found = [t.name for t in spec.inputs if not t.optional and t.kind != "int"]
        meant = f"write `inplace: {found[0]}`" if len(found) == 1 else "name the input that the result overwrites"
        hints = (meant if truth(name) == "true" else "leave it away: nothing is overwritten then",)
        known = (f"known here: {listed(inputs, 'and')}",)
        bag.error("OPG116", f"`{name}` is not an input", name.span, label="not an input", notes=known, hints=hints)
        return
    if not refers(name, inputs, "input", bag):
        return
    tensor = next(tensor for tensor in spec.inputs if tensor.name == name)
    if tensor.optional:
        bag.error("OPG117", f"`{name}` is optional and cannot be overwritten", name.span)
