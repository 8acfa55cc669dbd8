"""What holds between the fields of `module` and the rest of a spec, as far as no formula says it."""

from __future__ import annotations

import re

from opgen.diagnostics.model import Bag, Diagnostic, Label, Severity, Span
from opgen.diagnostics.suggest import did_you_mean, listed
from opgen.schema.dtypes import WITHOUT_GRADIENT
from opgen.schema.formula import Formula, Word
from opgen.schema.grids import of_grid
from opgen.schema.model import ModuleSpec, OpSpec
from opgen.schema.nodes import Mapping, Node
from opgen.schema.read_shapes import read_shape
from opgen.schema.references import no_repeats, refers, refers_to_dim

_MODES = ("training", "train", "is_training", "is_train", "in_training", "train_mode", "training_mode")
OWNED = "what a module owns is declared under `inputs`"


def check_module(spec: OpSpec, module: ModuleSpec, bag: Bag) -> None:
    inputs = tuple(tensor.name for tensor in spec.inputs)
    owned: dict[str, Span] = {}
    for name, _ in (*module.parameters, *module.buffers):
        if _is_a_param(spec, name, bag):
            continue
        otherwise = f"{OWNED}, with its shape: `{name}: {{shape: [K]}}`"
        if refers(name, inputs, "input", bag, otherwise) and name in owned:
            related, hints = (
                (Label(owned[name], "a parameter here"),),
                ("what is trained is a parameter: name it once",),
            )
            bag.error("OPG117", f"`{name}` is a parameter and a buffer", name.span, related=related, hints=hints)
        owned.setdefault(name, name.span)
        shape, dtype = next(((t.shape, t.dtype) for t in spec.inputs if t.name == name), ((), ""))
        if dtype == "seed":
            message, hints = f"`{name}` is a seed, which every call draws anew", ("leave it away here",)
            bag.error("OPG117", message, name.span, label="no tensor of the module", hints=hints)
        elif shape is None or any(item.text == "..." for item in shape):
            message = f"`{name}` has batch dims, and a module gives its own tensors a fixed shape"
            bag.error("OPG117", message, name.span, hints=(f"declare it as `{name}: {{shape: {_read(spec, name)}}}`",))
            bag.doubt(frozenset((str(name),)))
    for k, (name, made) in enumerate((*module.parameters, *module.buffers)):
        if said := of_grid(spec, str(name), made, trained=k < len(module.parameters)):
            message = f"`{made.text.strip()}` is not an initialiser"
            bag.error("OPG121", message, made.whole, label="not a function of torch.nn.init", hints=said)
    arguments = [(param.name, param.span) for param in spec.params]
    for dim, argument in module.dims.items():
        is_param = any(param.name == dim for param in spec.params)
        otherwise = "a param is an argument by itself: leave it away" if is_param else ""
        if refers_to_dim(spec, dim, bag, otherwise) or not is_param:
            arguments.append((argument, argument.span))
    no_repeats(arguments, bag)
    _kinds(spec, module, bag)
    _updates(spec, module, bag)
    if module.training is not None:
        _training(spec, module.training, bag)
    else:
        _without_mode(spec, bag)


def _read(spec: OpSpec, name: str) -> str:
    """The fixed shape that a tensor of a module has by how the formula reads it, or an example of one."""
    shapes = {str(t.name): tuple(i.text for i in t.shape) for t in spec.inputs if t.shape is not None}
    shape = read_shape(spec.forward.text, shapes, name) if isinstance(spec.forward, Formula) else ""
    fixed = shape.replace("..., ", "").replace("...", "")
    return fixed or "[K]"


def _is_a_param(spec: OpSpec, name: Word, bag: Bag) -> bool:
    """Report a param that a module is to own, as if it were a tensor; whether it is one."""
    param = next((p for p in spec.params if p.name == name), None)
    if param is None:
        return False
    if any(d.code == "OPG110" and f"`{name}: {{" in hint for d in bag.items for hint in d.hints):
        return True  # it is declared with a shape, and that it is an input is said there
    bag.error(
        "OPG116", f"`{name}` is a param, and what a module owns are inputs", name.span, label="not an input",
        related=(Label(param.span, "declared here"),),
        hints=(
            f"declare it under `inputs` in place of `params`: `{name}: {{shape: []}}`, which is one number",
            "or leave it away here: a param is an argument of the module by itself, and is not trained",
        ),
    )  # fmt: skip
    return True


def _kinds(spec: OpSpec, module: ModuleSpec, bag: Bag) -> None:
    """What is trained has a gradient, and integers start as integers."""
    kinds = {tensor.name: tensor.dtype for tensor in spec.inputs}
    for name, _ in module.parameters:
        if kinds.get(name) in WITHOUT_GRADIENT:
            message = f"`{name}` is of dtype {kinds[name]} and cannot be trained"
            hints = ("what a module keeps beside its parameters stands under `buffers`",)
            bag.error("OPG117", message, name.span, hints=hints)
    for name, made in module.buffers:
        if kinds.get(name) in WITHOUT_GRADIENT and not re.match(r"\s*(zeros|ones|constant|eye)\b", made.text):
            message = f"`{name}` is of dtype {kinds[name]} and starts as `zeros`, `ones`, `eye` or `constant(…)`"
            bag.error("OPG121", message, made.whole, label=f"no {kinds[name]} values")


def _updates(spec: OpSpec, module: ModuleSpec, bag: Bag) -> None:
    """Only buffers are overwritten; with which outputs is known when the formulas are."""
    inputs = tuple(tensor.name for tensor in spec.inputs)
    parameters, buffers = ({str(n): n.span for n, _ in found} for found in (module.parameters, module.buffers))
    for name, output in module.updates:
        if name in buffers:
            continue
        label, notes = "not a buffer", (f"buffers here: {listed(buffers, 'and')}",) if buffers else ()
        if output in buffers:
            message, turned = "`updates` is a mapping of buffer to output", f"write `updates: {{{output}: {name}}}`"
            bag.error("OPG117", message, name.span, label="output to buffer", hints=(turned,))
        elif name in parameters:
            message = f"`{name}` is a parameter, and only buffers are overwritten"
            related = (Label(parameters[name], "a parameter here"),)
            bag.error("OPG117", message, name.span, label=label, related=related, hints=("list it under `buffers`",))
        else:
            hints = did_you_mean(name, tuple(buffers))
            if name in inputs:
                hints = (f"the module owns what is listed: `buffers: {{{name}: zeros}}`",)
            bag.error("OPG116", f"`{name}` is not a buffer", name.span, label=label, notes=notes, hints=hints)


def _training(spec: OpSpec, name: Word, bag: Bag) -> None:
    """The param that says whether a module is in training is a bool."""
    param = next((p for p in spec.params if p.name == name), None)
    declared = f"`{name}: {{type: bool, default: true}}`"
    if param is None:
        known = tuple(str(p.name) for p in spec.params if p.type == "bool" and p.length is None)
        notes = (f"bool params here: {listed(known, 'and')}",) if known else ()
        hints = did_you_mean(name, known) or (f"declare it under `params`: {declared}",)
        bag.error("OPG116", f"`{name}` is not a param", name.span, label="not a param", notes=notes, hints=hints)
    elif param.type != "bool" or param.length is not None:
        what = f"of type {param.type}" if param.length is None else "a list"
        if param.choices:
            what = "one of a few words"
        bag.error(
            "OPG117", f"`{name}` is {what}, and `self.training` is a bool", name.span, label="not a bool param",
            related=(Label(param.span, "declared here"),), hints=(f"declare it as {declared}",),
        )  # fmt: skip


def mode_among(params: Node | None) -> str | None:
    """The declared param that is called like the mode of a module, by the document."""
    names = (key.text for key, _ in params.entries) if isinstance(params, Mapping) else ()
    return next((name for name in names if name.lower() in _MODES), None)


def _without_mode(spec: OpSpec, bag: Bag) -> None:
    """A bool param that is called like the mode of a module, and is a fixed argument of it."""
    for param in spec.params:
        if param.name.lower() not in _MODES or param.type != "bool" or param.length is not None:
            continue
        message = f"`{param.name}` does not follow `self.training`: `train()` and `eval()` leave it as it is"
        hints = (f"add `training: {param.name}` under `module`, so that it does",)
        label = "an argument of the module"
        bag.add(Diagnostic("OPG256", message, param.span, label, hints=hints, severity=Severity.WARNING))
