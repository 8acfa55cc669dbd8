"""Entries of a spec: how lists, mappings and short spellings become the fields of a model.

Keys with a `$` are ours and cannot be written in a spec.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Literal

from opgen.diagnostics.model import Hint
from opgen.diagnostics.suggest import closest
from opgen.schema.annotations import is_list, of_list
from opgen.schema.cases import one_case
from opgen.schema.dtypes import WITHOUT_GRADIENT
from opgen.schema.elsewhere import Callee, callee
from opgen.schema.flow import listed_in, within
from opgen.schema.formula import Formula, Word
from opgen.schema.leaves import CAMEL, LEFT_AWAY, SNAKE, expected, formula, listed_alone, name, refused, respelt
from opgen.schema.nodes import Mapping, Node, Scalar, Sequence
from opgen.schema.param_types import PARAM_TYPES
from opgen.schema.reductions import REDUCTIONS

_EQUATION = re.compile(r"(\w+(?:\([\w\s,]*\))?)\s*(?::=|:|=(?!=))\s*(.+)")
PRECISIONS = ("float64", "float32", "float16", "bfloat16")
NAME, SPAN, VALUE, HEAD, LENGTH, NULL = "$name", "$span", "$value", "$head", "$length", "$null"


class Fields(dict[str, Any]):
    """The entries of a mapping on their way into a model, with the place of the mapping."""

    def __init__(self, node: Node, entries: dict[str, Any]) -> None:
        super().__init__(entries)
        self.node = node


def written(node: Mapping) -> dict[str, Any]:
    """The entries of a mapping by name."""
    for key, _ in node.entries:
        if key.text.startswith("$"):
            raise refused("OPG110", "a field begins with a letter", key, label="not a field")
    return {key.text: value for key, value in node.entries}


def listing(what: str) -> Callable[[object], list[Node] | None]:
    def items(node: object) -> list[Node] | None:
        if isinstance(node, Mapping) and all(isinstance(v, Scalar) and not v.text for _, v in node.entries):
            keys = tuple(key for key, _ in node.entries)
            right = f"[{', '.join(key.text for key in keys)}]"
            hint = Hint(f"a list has square brackets: write `{right}`", node.span.text, right)
            raise expected(f"a list of {what}", node, hint, meant=Sequence(keys, node.span, node.key))
        if what == "cases" and isinstance(node, Mapping) and node.entries:
            raise one_case(node)
        if not isinstance(node, Sequence):
            raise listed_alone(node, f"a list of {what}")
        return [*node.items]

    return items


def pairs(
    what: str, example: str = "…", otherwise: Callable[[object], tuple[str, ...]] = lambda _: ()
) -> Callable[[object], list[tuple[Scalar, Node]]]:
    """The entries of a mapping; `example`: a value for names that are listed without any; `otherwise`: what is said
    where nothing tells what is meant."""

    def items(node: object) -> list[tuple[Scalar, Node]]:
        if not isinstance(node, Mapping):
            named = [f"{within(name)}: {within(value or example)}" for name, value in _listed_pairs(node)]
            hints = (f"write `{{{', '.join(named)}}}`",) if named else _equations(node) or otherwise(node)
            hints = (LEFT_AWAY,) if isinstance(node, Scalar) and node.value is None and node.text else hints
            raise expected(f"a mapping of {what}", node, *hints)
        return list(node.entries)

    return items


def _listed_pairs(node: object) -> Iterator[tuple[str, str]]:
    """What stands in a list, or alone, as the entries of a mapping; those without a value have none."""
    for item in node.items if isinstance(node, Sequence) else (node,):
        match item:
            case Scalar() if item.text.isidentifier():
                yield item.text, ""
            case Mapping(entries=entries):
                yield from ((key.text, value.span.text) for key, value in entries)


def _equations(node: object) -> tuple[str, ...]:
    """What to write for `f(x) = x**2`, which stands alone, in a block of such lines, or in a list."""
    items = node.items if isinstance(node, Sequence) else (node,)
    texts = [item.text for item in items if isinstance(item, Scalar) and item.style != ">"]
    lines = [line.partition("#")[0].strip() for text in texts for line in text.split("\n")]
    found = [_EQUATION.fullmatch(line) for line in lines if line]
    entries = [f"`{m[1]}: {_quoted(m[2])}`" for m in found if m is not None]
    if not entries or len(entries) < len(found) or len(texts) < len(items):
        return ()
    block = ", without the `|`" if any(isinstance(item, Scalar) and item.style == "|" for item in items) else ""
    return (f"an entry is a line of its own below, with a colon{block}: {', '.join(entries)}",)


def _quoted(text: str) -> str:
    """A formula as a value of YAML, in quotes where it would be read as something else."""
    plain = re.fullmatch(r"[\w(.+-][^:#]*", text) is not None and not text.startswith("- ")
    return text if plain else f'"{text}"'


def mapping(
    what: str, otherwise: Callable[[object], tuple[str, ...]] = lambda _: ()
) -> Callable[[object], dict[Scalar, Node]]:
    return lambda node: dict(pairs(what, otherwise=otherwise)(node))


def sizes(node: object) -> dict[Scalar, Node]:
    """Dim to constructor argument; a mapping of argument to dim is turned round as a whole."""
    found = pairs("size to constructor argument")(node)
    turned = [(value, key) for key, value in found if isinstance(value, Scalar)]
    opposite = all(CAMEL.fullmatch(dim.text) and SNAKE.fullmatch(argument.text) for dim, argument in turned)
    if isinstance(node, Mapping) and turned and len(turned) == len(found) and opposite:
        right = f"{{{', '.join(f'{dim.text}: {argument.text}' for dim, argument in turned)}}}"
        hint = Hint(f"write `{right}`", node.span.text, right)
        message, label = "the dims of a module are a mapping of dim to argument", "argument to dim"
        once = len({dim.text for dim, _ in turned}) == len(turned)
        meant = replace(node, entries=tuple(turned)) if once else None
        raise refused("OPG112", message, label=label, hints=(hint,) if once else (), meant=meant)
    return dict(found)


def tolerances(node: object) -> dict[Scalar, Node]:
    """By dtype; what is given without one holds for all."""
    match node:
        case Mapping(entries=((key, _), *_)) if all(k.text in ("rtol", "atol") for k, _ in node.entries):
            return {respelt(key, dtype): node for dtype in PRECISIONS}
        case Scalar():
            return {respelt(node, dtype): node for dtype in PRECISIONS}
        case _:
            return mapping("dtype to tolerance")(node)


def named(short: str | None = None) -> Callable[[object], list[Fields | Node]]:
    """A list of names or a mapping of name to fields; `short` is the field that a value written alone stands for.

    What is no entry is passed on for the entry's own model to refuse, so that the other entries are still looked at.
    """

    def entries(node: object) -> list[Fields | Node]:
        match node:
            case Mapping():
                return [entry(key, value) for key, value in node.entries]
            case Sequence():
                return [item(element) for element in node.items]
            case _:
                raise listed_alone(node, "a list of names or a mapping of names to their fields")

    def item(node: Node) -> Fields | Node:
        match node:
            case Mapping(entries=((key, value),)):
                return entry(key, value)
            case Scalar():
                return Fields(node, {NAME: node, SPAN: node.span})
            case _:
                return node

    def entry(key: Scalar, value: Node) -> Fields | Node:
        own = {NAME: key, SPAN: key.span}
        match value:
            case Mapping():
                return Fields(value, {**written(value), **own})
            case Scalar(value=None):
                return Fields(value, dict(own))
            case _ if short is not None:
                return Fields(value, {short: value, **own})
            case _:
                return value

    return entries


def dims(node: object) -> list[Fields]:
    """Sizes that are computed; a list of those that shapes tell is none."""
    if isinstance(node, Sequence) and all(isinstance(i, Scalar) and i.text.isidentifier() for i in node.items):
        hint = "the dims of shapes are declared by them: leave `dims` away; it holds what is computed: `{H: D//2}`"
        raise expected("a mapping of dim to formula", node, hint, meant=Mapping((), node.span, node.key))
    return [Fields(value, {NAME: key, SPAN: key.span, VALUE: value}) for key, value in pairs("dim to formula")(node)]


def functions(node: object) -> list[Fields]:
    found = []
    for key, value in pairs("`name(arg)` to formula")(node):
        fields: dict[str, Any] = {"value": value}
        if isinstance(value, Mapping):
            fields = written(value)
        found.append(Fields(value, {**fields, HEAD: key, SPAN: key.span}))
    return found


def initialiser(node: object) -> Formula:
    """A call of a function of torch.nn.init; a mapping of its name to an argument is none, nor a list of one number."""
    match node:
        case Mapping(entries=((key, Scalar(value=int() | float() | str()) as argument),)):
            right = f"{key.text}({argument.text})"
        case Mapping(entries=((key, Mapping(entries=given)),)) if all(isinstance(v, Scalar) for _, v in given):
            right = f"{key.text}({', '.join(f'{k.text}={v.span.text}' for k, v in given)})"
        case Sequence(items=(Scalar(value=int() | float()) as number,)):
            right = f"constant({number.text})"
        case _:
            return formula(node)
    right = f'"{right}"' if "," in right else right
    raise expected("an initialiser", node, Hint(f"write `{right}`", node.span.text, right))


def placed(node: object) -> Fields:
    if not isinstance(node, Mapping):
        tight = re.fullmatch(r"(\w+):(\S+)", node.text) if isinstance(node, Scalar) else None
        given = "write `{}`, which has the default of each" if tight is None else f"write `{tight[1]}: {tight[2]}`"
        if isinstance(node, Scalar) and str(node.key) == "module" and CAMEL.fullmatch(node.text):
            given = f"write `module: {{name: {node.text}}}`"
        raise expected("a mapping of fields", node, given)
    span = node.key.span if node.key is not None else node.span
    return Fields(node, {**written(node), SPAN: span})


def save(node: object) -> Literal["auto"] | tuple[Word, ...]:
    match node:
        case Scalar(text="auto"):
            return "auto"
        case Sequence():
            for item in node.items:
                if not isinstance(item, Scalar):
                    raise expected("a name", item, node=item)
            return tuple(name(item) for item in node.items)
        case Scalar(text="none" | "false"):
            raise expected("`auto` or a list of names", node, "to keep nothing, write `save: []`")
        case Scalar(text="all" | "true"):
            raise expected("`auto` or a list of names", node, "leave it away: what is kept is chosen by cost")
        case Scalar() if closest(node.text, ("auto",)):
            alone = f"or, if it is a name, `[{node.text}]`"
            raise expected("`auto` or a list of names", node, "did you mean `auto`?", alone)
        case _:
            raise listed_alone(node, "`auto` or a list of names")


def block(node: object) -> Formula | Callee:
    return callee(node) if isinstance(node, Mapping) else formula(node)


def spread_param(data: object) -> object:
    """Infer the type where it is plain to see, and take `default: null` and list lengths apart."""
    if not isinstance(data, Fields):
        return data
    declared, default = data.get("type"), data.get("default")
    _refuse_choices(data.get("choices"), default, data)
    if declared is None and "choices" in data:
        data["type"] = "str"
    elif declared is None and isinstance(default, Scalar) and isinstance(default.value, bool | float):
        data["type"] = "bool" if isinstance(default.value, bool) else "float"
    elif declared is None and _is_reduction(default):
        data["type"] = "str"
    elif default is None and "choices" not in data and _is_reduction(declared):  # which is the default
        data["type"], data["default"] = "str", declared
    if isinstance(declared, Scalar) and isinstance(default, Sequence):
        kind = _kind_of(default) if is_list(declared.text) else ""
        if kind or of_list(declared.text):
            data["type"] = (declared, len(default.items), kind)
    if isinstance(declared, Sequence):
        data[LENGTH] = len(declared.items)
        if isinstance(default, Scalar) and default.value is not None and not listed_in(default):
            data["default"] = (default,) * len(declared.items)
    if isinstance(default, Scalar) and default.value is None and default.text:
        del data["default"]
        data[NULL] = True
    return data


def _kind_of(default: Sequence) -> str:
    """The type of numbers in a list: `int` where all are written without a point; empty for anything else."""
    kinds = [type(item.value).__name__ for item in default.items if isinstance(item, Scalar)]
    if not kinds or len(kinds) < len(default.items) or any(kind not in PARAM_TYPES for kind in kinds):
        return ""
    return kinds[0] if len(set(kinds)) == 1 else "" if "bool" in kinds else "float"


def _is_reduction(node: object) -> bool:
    """Whether a word is one that a param may stand for, so that it is a param of words."""
    return isinstance(node, Scalar) and node.text in REDUCTIONS


def _refuse_choices(choices: object, default: object, data: Fields) -> None:
    """Choices are words; numbers and truth values have a type or stand for words."""
    if not isinstance(choices, Sequence) or not choices.items:
        return
    values = [item.value if isinstance(item, Scalar) else None for item in choices.items]
    own = data.get(NAME)
    name = own.text if isinstance(own, Scalar) else "p"
    given = f", default: {default.text}" if isinstance(default, Scalar) and default.text else ""
    if all(isinstance(v, bool) for v in values):
        hint = f"write `{name}: {{type: bool{given}}}`"
        raise refused("OPG117", "truth values are no choices", choices, hints=(hint,))
    if all(isinstance(v, int) for v in values):
        words = [f"{name}{v}" for v in values]
        hint = f'choices are words: `choices: [{", ".join(words)}]`, and `if {name} == "{words[0]}"`; a number that'
        hint += f" formulas read is `{{type: int{given}}}`"
        raise refused("OPG117", "numbers are no choices", choices, hints=(hint,))


def default(node: object) -> Formula | tuple[Formula, ...]:
    match node:
        case Sequence(items=items) | (tuple() as items):
            return tuple(formula(item) for item in items)
        case Scalar() if listed_in(node):
            raise listed_alone(node, "one value or a list")
        case _:
            return formula(node)


def integers_have_no_gradient(data: object) -> object:
    if isinstance(data, Fields):
        dtype = data.get("dtype")
        if isinstance(dtype, Scalar) and dtype.text in WITHOUT_GRADIENT:
            data.setdefault("differentiable", False)
    return data
