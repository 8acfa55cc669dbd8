"""The view of `module.py`: a `torch.nn.Module` with the operator's parameters, buffers and params.

In goes a `Surface`; out comes a `ModuleView`. A spec without `module` gets a module that holds its params.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from opgen.code.layout import bracketed, camel, imported, in_docstring, quoted, wrapped
from opgen.code.python_text import Spelling, python_text
from opgen.code.signature import annotation, default_text
from opgen.ir.declared import Initialiser
from opgen.ir.program import Argument, Kind, Tensor
from opgen.ir.scalar import Dim, Lit
from opgen.ir.storage import STORED
from opgen.package.view import Surface, item_lines
from opgen.package.view_module_call import (
    State,
    attribute,
    call_lines,
    helper_name,
    me_of,
    own_name,
    returned,
    unindented,
)
from opgen.package.view_params import CHECK, checked_params

# Initialisers that give a complex tensor real values, or the variance that they state.
_WHOLE = ("zeros", "ones", "constant", "eye", "dirac", "normal", "kaiming_normal", "xavier_normal")


@dataclass(frozen=True, slots=True)
class AnnotationView:
    """An attribute of the class; `first` stands before the first one."""

    text: str
    first: bool


@dataclass(frozen=True, slots=True)
class ModuleView:
    """`module.py` in finished pieces."""

    op: str
    name: str
    imports: tuple[str, ...]
    doc_first: str
    doc: tuple[str, ...]
    annotations: tuple[AnnotationView, ...]
    named: tuple[str, ...]  # takes the constructor anything? Then it says what, to a call with another name
    init: str
    begin: str
    init_lines: tuple[str, ...]
    reset_lines: tuple[str, ...]
    forward: str
    forward_lines: tuple[str, ...]
    repr_lines: tuple[str, ...]
    example: str  # a call that makes a small module


def module_name(s: Surface) -> str:
    """The class name: the spec's, or that of the operator in CamelCase."""
    return s.operator.module.name or camel(s.name)


def module_view(s: Surface) -> ModuleView:
    """Everything that `module.py` says."""
    dims = dict(s.operator.module.sizes)
    states = _states(s)
    stated = [a for a in s.operator.stated if a.name != s.operator.module.training]
    params = [replace(a, name=s.operator.shown(a.name)) for a in _ordered(stated)]
    inputs = [t for t in s.operator.operands if all(st.tensor.name != t.name for st in states)]
    hiding = (*dims.values(), *(st.flag for st in states if st.optional), *(a.name for a in params))
    reset = [line for st in states for line in _reset(s, st, dims)]
    own = f"{me_of(hiding)}."
    checked = _checked(s, hiding)
    init = [*checked, *(line.replace("self.", own) for line in _init(dims, states, params, hiding, bool(reset)))]
    begin = (
        "super().__init__()" if "super" not in hiding else f"{own_name('torch', hiding)}.nn.Module.__init__({own[:-1]})"
    )
    takes = _arguments(dims, states, params, hiding)
    summary = s.operator.module.doc or s.operator.docs.summary or f"Module of `{s.name}`."
    me = me_of(map(s.operator.shown, (*(t.name for t in inputs), *(o.name for o in s.results))))
    first, *rest = wrapped(in_docstring(summary), 112)
    call = call_lines(s, states, me)
    attributes = [f"{attribute(d)}: int" for d in dims.values()]
    attributes += [f"{attribute(st.flag)}: Tensor{' | None' if st.optional else ''}" for st in states]
    attributes += [f"{attribute(a.name)}: {annotation(a)}" for a in params]
    return ModuleView(
        op=s.name,
        name=module_name(s),
        imports=_imports(
            [*reset, *init, *call], params, s, hiding, ["takes_missing", *(["takes_named"] if takes else [])]
        ),
        doc_first=first,
        doc=(*rest, *_doc(dims, states, params, s)),
        annotations=tuple(AnnotationView(text, i == 0) for i, text in enumerate(attributes)),
        named=_named(s, states, dims) if takes else (),
        init=bracketed("def __init__(", [own[:-1], *takes], ") -> None:", 4),
        begin=begin,
        init_lines=tuple(init),
        reset_lines=tuple(reset),
        forward=bracketed("def forward(", [me, *_inputs(s, inputs)], f") -> {_result(s)}:", 4),
        forward_lines=tuple(call),
        repr_lines=_repr(dims, states, params),
        example=_example(s, dims, params),
    )


def _result(s: Surface) -> str:
    return "Tensor" if len(returned(s)) == 1 else "tuple[Tensor, ...]"


def _states(s: Surface) -> list[State]:
    owned, optional = {st.input: st for st in s.operator.module.states}, s.operator.maybe_none
    return [
        State(
            t,
            owned[t.name].initialiser,
            t.name in optional,
            owned[t.name].buffer,
            s.operator.shown(t.name),
            dict(s.operator.stored).get(t.name, ""),
        )
        for t in s.operator.operands
        if t.name in owned
    ]


def _ordered(params: Sequence[Argument]) -> list[Argument]:
    return sorted(params, key=lambda a: bool(default_text(a)))


def _arguments(
    dims: dict[str, str], states: Sequence[State], params: Sequence[Argument], hiding: Sequence[str]
) -> list[str]:
    out = [f"{d}: int" for d in dims.values()]
    out += [f"{a.name}: {annotation(a)}" for a in params if not default_text(a)]
    out += [f"{st.flag}: bool = True" for st in states if st.optional]
    out += [f"{a.name}: {annotation(a)} = {default_text(a)}" for a in params if default_text(a)]
    if states:
        device, dtype = own_name("device", hiding), own_name("dtype", hiding)
        out += [f"{device}: torch.device | str | None = None", f"{dtype}: torch.dtype | None = None"]
    return out


def _init(
    dims: dict[str, str], states: Sequence[State], params: Sequence[Argument], hiding: Sequence[str], reset: bool
) -> list[str]:
    torch, device = own_name("torch", hiding), own_name("device", hiding)
    out = [f"self.{attribute(n)} = {n}" for n in (*dims.values(), *(a.name for a in params))]
    for st in states:
        name = attribute(st.flag)
        made = f"{torch}.empty({_shape(st.tensor, dims)}, device={device}, dtype={_dtype(st, states, hiding)})"
        head, none = f"self.{name} = {torch}.nn.Parameter(", f"self.register_parameter({quoted(name)}, None)"
        items = [made]
        if st.buffer:
            head, none = "self.register_buffer(", f"self.register_buffer({quoted(name)}, None)"
            items = [quoted(name), made]
        if st.optional:
            lines = unindented(bracketed(head, items, ")", 12), 12)
            out += [f"if {st.flag}:", *(f"    {x}" for x in lines), "else:", f"    {none}"]
        else:
            out += unindented(bracketed(head, items, ")", 8), 8)
    return [*out, "self.reset_parameters()"] if reset else out


def _checked(s: Surface, hiding: Sequence[str]) -> list[str]:
    """The check of the params, which a call makes too."""
    given = [s.operator.shown(a.name) for a in checked_params(s)]
    return unindented(bracketed(f"{own_name(CHECK, hiding)}(", given, ")", 8), 8) if given else []


def _dtype(st: State, states: Sequence[State], hiding: Sequence[str]) -> str:
    """The dtype of a parameter or buffer; one `dtype` says the precision of real and complex ones."""
    if st.stored:
        return f"{own_name('torch', hiding)}.{STORED[st.stored].torch}"
    if st.tensor.kind in (Kind.INT, Kind.BOOL):
        return f"{own_name('torch', hiding)}.{'int64' if st.tensor.kind is Kind.INT else 'bool'}"
    if st.tensor.kind is Kind.COMPLEX:
        return f"{own_name('complex_dtype', hiding)}({own_name('dtype', hiding)})"
    mixed = st.tensor.kind is Kind.FLOAT and any(other.tensor.kind is Kind.COMPLEX for other in states)
    return f"{own_name('real_dtype', hiding)}({own_name('dtype', hiding)})" if mixed else own_name("dtype", hiding)


def _shape(t: Tensor, dims: dict[str, str]) -> str:
    parts = []
    for x in t.shape:
        match x:
            case Dim(name) if name in dims:
                parts.append(dims[name])
            case Lit(value):
                parts.append(str(value))
            case _:
                raise AssertionError(f"{t.name}: a parameter has sizes that the constructor gives")
    return ", ".join(parts) if len(parts) > 1 else f"({parts[0]},)" if parts else "()"


def _named(s: Surface, states: Sequence[State], dims: dict[str, str]) -> tuple[str, ...]:
    """The decorator of a constructor, which is told what tensors that makes, where they stand in the spec and how."""
    names = dict(s.operator.spelled) | dims
    made = []
    for st in states:
        arguments = _arguments_of(st.initialiser, lambda n: names.get(n.name, n.name))
        given = f"({', '.join(arguments).replace('math.', '')})" if arguments else ""
        start = f"{'buffers' if st.buffer else 'parameters'}: {st.initialiser.name}{given}"
        made.append(f"{attribute(st.flag)}={quoted(start)}")
    return tuple(unindented(bracketed("@takes_named(", made, ")", 4), 4))


def _reset(s: Surface, st: State, dims: dict[str, str]) -> list[str]:
    name, by_parts = f"self.{attribute(st.flag)}", _by_parts(st)
    call = initialiser(st.initialiser, "part" if by_parts else name, dict(s.operator.spelled) | dims)
    if by_parts:
        target = f"{name}.detach()" if not st.buffer else name
        lines = [f"for part in parts({target}):", f"    {call}"]
        return [f"if {name} is not None:", *(f"    {line}" for line in lines)] if st.optional else lines
    return [f"if {name} is not None:", f"    {call}"] if st.optional else [call]


def _by_parts(st: State) -> bool:
    """Is a complex tensor filled part by part? What torch.nn.init does with complex tensors itself is left to it."""
    return st.tensor.kind is Kind.COMPLEX and st.initialiser.name not in _WHOLE


def initialiser(i: Initialiser, target: str, names: dict[str, str]) -> str:
    """A call of `torch.nn.init`: arguments are expressions of sizes and params, and `names` what they are called."""
    arguments = [target, *_arguments_of(i, lambda n: f"self.{attribute(names.get(n.name, n.name))}")]
    return f"torch.nn.init.{i.name}_({', '.join(arguments)})"


def _arguments_of(i: Initialiser, spelling: Spelling) -> list[str]:
    """The arguments behind the tensor."""
    out = []
    for keyword, e in i.arguments:
        text = python_text(e, spelling)
        assert text is not None, f"{i.name}: no number"
        out.append(text if keyword is None else f"{keyword}={text}")
    return out


def _inputs(s: Surface, inputs: Sequence[Tensor]) -> list[str]:
    out = []
    for i, t in enumerate(inputs):
        optional = t.name in s.operator.maybe_none
        trailing = all(u.name in s.operator.maybe_none for u in inputs[i:])
        out.append(
            f"{s.operator.shown(t.name)}: Tensor" + (" | None" if optional else "") + (" = None" if trailing else "")
        )
    return out


def _repr(dims: dict[str, str], states: Sequence[State], params: Sequence[Argument]) -> tuple[str, ...]:
    parts = [f"{d}={{self.{attribute(d)}}}" for d in dims.values()]
    parts += [f"{a.name}={{self.{attribute(a.name)}!r}}" for a in params]
    parts += [f"{st.flag}={{self.{attribute(st.flag)} is not None}}" for st in states if st.optional]
    if not parts:
        return ()
    one = f'return f"{", ".join(parts)}"'
    if len(one) <= 110:
        return (one,)
    return ("parts = (", *(f'    f"{p}",' for p in parts), ")", 'return ", ".join(parts)')


def _doc(dims: dict[str, str], states: Sequence[State], params: Sequence[Argument], s: Surface) -> tuple[str, ...]:
    out = []
    arguments = [f"{v}: size of {k}" for k, v in dims.items()]
    arguments += [f"{st.flag}: whether there is a {st.flag}" for st in states if st.optional]
    arguments += [f"{a.name}: {a.doc}" if a.doc else f"{a.name}: see `{s.name}`" for a in params]
    written = [f"`{s.operator.shown(b)}` with `{s.operator.shown(o)}`" for b, o in s.operator.module.updates]
    if written:
        out += ["", *wrapped(f"In training, buffers are overwritten: {', '.join(written)}.", 112)]
    if arguments:
        out += ["", "Args:", *(line for a in arguments for line in item_lines(a))]
    return tuple(out)


def _imports(
    lines: Sequence[str], params: Sequence[Argument], s: Surface, hiding: Sequence[str], also: Sequence[str]
) -> tuple[str, ...]:
    out = ["import math"] if any("math." in line for line in lines) else []
    out += ["from collections.abc import Sequence"] if any(a.length is not None for a in params) else []
    out += [""] if out else []
    helpers = [h for h in ("complex_dtype", "parts", "real_dtype") if any(f"{h}(" in line for line in lines)]
    named = [h if own_name(h, hiding) == h else f"{h} as _{h}" for h in helpers]
    for helper in ("overwrite", "snapshot"):
        own = helper_name(helper, s)
        if any(f"{own}(" in line for line in lines):
            named.append(helper if own == helper else f"{helper} as {own}")
    named += also
    shared = imported(".._runtime", named).split("\n") if named else []
    check = own_name(CHECK, hiding)
    checked = [CHECK if check == CHECK else f"{CHECK} as {check}"] if checked_params(s) else []
    again = ["import torch as _torch"] if "torch" in hiding and any("_torch." in line for line in lines) else []
    return (
        *out,
        "import torch",
        *again,
        "from torch import Tensor",
        "",
        *shared,
        *imported(".ops", [s.function, *checked]).split("\n"),
    )


def _example(s: Surface, dims: dict[str, str], params: Sequence[Argument]) -> str:
    """A call of the constructor with small sizes."""
    given = dict(s.operator.tests.sizes)
    arguments = [f"{arg}={given.get(dim, 3 + i)}" for i, (dim, arg) in enumerate(dims.items())]
    samples = {"float": "1.5", "int": "2", "bool": "True"}
    for a in params:
        if not default_text(a):
            value = quoted(a.choices[0]) if a.choices else samples[a.type]
            arguments.append(f"{a.name}={value if a.length is None else [value] * a.length}".replace("'", ""))
    return f"{module_name(s)}({', '.join(arguments)})"
