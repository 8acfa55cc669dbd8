"""`load`: spec text in, `OpSpec` out; every mistake in the YAML and its fields goes to the bag.

A spec with mistakes that leave its meaning intact (an unknown field, a bad `doc`) is still returned, so that the
stages behind this one report theirs in the same run; callers look at `bag.has_errors` before they write anything.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ValidationError

from opgen.diagnostics.model import Bag, Source, Span
from opgen.diagnostics.suggest import closest, exact, listed
from opgen.schema.annotations import is_tensor
from opgen.schema.bounds import both, of_fields
from opgen.schema.by_dims import cases_by_shape, stated_by_shape
from opgen.schema.checks import check
from opgen.schema.doubted import independent, without_entry
from opgen.schema.elsewhere import Callee
from opgen.schema.entries import NAME, Fields
from opgen.schema.mended import mended
from opgen.schema.model import OpSpec
from opgen.schema.module_checks import mode_among
from opgen.schema.nested import hoisted
from opgen.schema.nodes import Mapping, Node, Scalar, Sequence
from opgen.schema.of_tests import gathered
from opgen.schema.read_shapes import as_input, has_shape
from opgen.schema.unknown import WITHIN, by_absence, by_choice, by_value, text_cut
from opgen.schema.yaml_hints import LACKING
from opgen.schema.yaml_nodes import parse, without_blank

# What people write for a field of another name, where spelling alone would not lead to it.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "type": ("dtype",),
    "dtype": ("type",),
    "default": ("absent",),
    "name": ("op",),
    **dict.fromkeys(("class", "class_name", "cls"), ("name",)),
    "doc": ("summary",),
    **dict.fromkeys(("docs", "help", "desc", "description", "comment", "note", "info"), ("doc", "summary")),
    "formula": ("forward", "value"),
    "expression": ("value",),
    "gradient": ("derivative", "backward"),
    "grad": ("backward", "derivative"),
    "forward": ("value",),
    "backward": ("derivative",),
    "constraint": ("domain",),
    "size": ("shape",),
    "shapes": ("shape", "sizes"),
    **dict.fromkeys(("tol", "tolerance"), ("tolerances",)),
    **dict.fromkeys(("value", "val", "init", "initial"), ("default",)),
    "nullable": ("optional",),
    "requires_grad": ("differentiable",),
    "in_place": ("inplace",),
    "enum": ("choices",),
    **dict.fromkeys(("params", "param", "weights"), ("parameters",)),
}

_NOTHING = ("none", "null", "~", "")
_READ_AS_0 = "what is not passed reads as 0; for a factor write `absent: 1` in its place"

# Fields that are not needed beside another one.
INSTEAD = {"type": "choices"}

# Fields that have no one counterpart, by what they are written in.
ELSEWHERE = {
    ("default", "an input"): "an input that may be left out has `optional: true`, and a value that is read then: "
    "`absent: 1` for a factor, 0 for what is added",
    **{
        (field, "a spec"): "a spec calls no other spec: write its formula in a statement here, and a function of one "
        "number that several statements share under `functions`"
        for field in (
            "uses",
            "use",
            "using",
            "import",
            "imports",
            "include",
            "includes",
            "requires",
            "depends",
            "depends_on",
            "dependencies",
            "operators",
            "extends",
            "defaults",
            "inherits",
        )
    },
    **{
        (field, "a spec"): "what generated tests call it with stands under `tests`: sizes as "
        "`tests: {{sizes: {{N: 3}}}}`, values as `tests: {{cases: [{{p: 2}}]}}`"
        for field in ("samples", "sample", "cases", "sizes", "examples", "example", "test_inputs")
    },
    **{
        (field, "an input"): "how what a module owns starts stands there: `module: {{parameters: {{{own}: {shape}}}}}`"
        for field in ("init", "initializer", "initialiser")
    },
    **{
        (field, "a param"): "a number with a gradient, and what has a shape, is an input: move it to `inputs`, "
        "`{own}: {{shape: {shape}}}`"
        for field in ("differentiable", "requires_grad", "trainable", "learnable", "shape")
    },
}

# Mistakes below these fields do not change what the formulas mean.
HARMLESS = frozenset(
    {"summary", "description", "reference", "module", "tests", "exact", "doc", "domain"}
    | {"save", "inplace", "once_differentiable", "compute_dtype", "differentiable"}
)


def load(source: Source, bag: Bag) -> OpSpec | None:
    """Read a spec; None where it has no meaning that later stages could look at."""
    found = Bag()
    spec = _load(source, found)
    for diagnostic in sorted(found.items, key=lambda d: d.span.start if d.span is not None else 0):
        bag.add(diagnostic)
    bag.doubt(found.doubted)
    return spec


def _load(source: Source, bag: Bag) -> OpSpec | None:
    root = parse(source, bag)
    if root is None:
        if not bag.has_errors:
            bag.error("OPG111", "the spec is empty", Span(source, 0, 0), hints=("begin with `op: name`",))
        return None
    if not isinstance(root, Mapping):
        if isinstance(root, Scalar) and without_blank(source, root.span.end, bag):
            return None
        message = f"a spec is a mapping of fields, found {root.kind}"
        hint = "begin with `op: name`"
        if isinstance(root, Sequence):
            hint = "a spec has a file of its own: begin with `op: name`, without the dash"
        bag.error("OPG112", message, _first_line(root.span), hints=(hint,))
        return None
    root = hoisted(root, {"spec": known_fields(OpSpec), **{k: known_fields(m) for k, m in _models().items()}}, bag)
    try:
        spec = OpSpec.model_validate(root)
    except ValidationError as error:
        readable = _Report(root, bag).of(error)
        _replaced(bag)
        if readable is None:
            return None
        try:
            spec = OpSpec.model_validate(readable)
        except ValidationError:  # consequences of what is reported already
            return None
    told, doubted = frozenset(bag.items), bag.doubted
    check(spec, bag)
    _replaced(bag)
    if doubted:
        sure = independent((d for d in bag.items if d not in told), doubted, spec)
        bag.keep([d for d in bag.items if d in told or d in sure])
    if isinstance(spec.backward, Callee) and spec.backward.library == "numpy":  # nothing could differentiate it
        spec = spec.model_copy(update={"once_differentiable": True})
    return spec


def _replaced(bag: Bag) -> None:
    """Drop how a list or a text is written where something else has to stand, which is told in its place."""
    others = [d.span for d in bag.items if d.code != "OPG106"]
    bag.keep([d for d in bag.items if d.code != "OPG106" or d.span not in others])


def _first_line(span: Span) -> Span:
    line = span.text.split("\n", 1)[0]
    return replace(span, end=span.start + len(line))


def known_fields(model: type[BaseModel]) -> tuple[str, ...]:
    """The names of a model's fields as a spec writes them."""
    return tuple(name for name in map(_written, model.model_fields.items()) if not name.startswith("$"))


def _written(item: tuple[str, Any]) -> str:
    name, info = item
    return info.validation_alias if isinstance(info.validation_alias, str) else name


def _models() -> dict[str, type[BaseModel]]:
    """Field of a spec → model of its entries."""
    found: dict[str, type[BaseModel]] = {}
    for name, info in OpSpec.model_fields.items():
        for part in _parts(info.annotation):
            if isinstance(part, type) and issubclass(part, BaseModel):
                found[name] = part
    return found


def _parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    for argument in typing.get_args(annotation):
        yield from _parts(argument)


class _Report:
    """Turns pydantic's errors into diagnostics and notes how the document can be mended."""

    def __init__(self, root: Mapping, bag: Bag) -> None:
        self.root, self.bag = root, bag
        self.models = _models()
        self.renamed: dict[int, str | None] = {}  # node → its right key, or None to drop it
        self.replaced: dict[int, Node] = {}

    def of(self, error: ValidationError) -> Node | None:
        """Report everything; the mended document, or None where it cannot be mended."""
        usable = True
        for item in _unknown_first(error.errors(include_url=False)):
            usable &= self.one(item)
        return mended(self.root, self.renamed, self.replaced) if usable else None

    def one(self, item: dict[str, Any]) -> bool:
        match item["type"]:
            case "extra_forbidden":
                self.unknown_field(item)
                return True
            case "missing":
                if not self.supplied(item):
                    self.missing(item)
            case "opgen":
                context = item["ctx"]
                offender = context["node"] or item["input"]
                place = self.place(offender, item["loc"])
                if has_shape(self.root, item["loc"], offender):
                    return self.harmless(item)  # a tensor among params, which is told at its shape
                by_shape = cases_by_shape(self.root, item["loc"], offender)
                hints = by_shape or as_input(self.root, item["loc"], offender) or context["hints"]
                hints = hints or stated_by_shape(self.root, item["loc"], offender)
                self.bag.error(context["code"], context["message"], place, label=context["label"], hints=hints)
                if context["meant"] is not None and not by_shape:
                    self.replaced[id(offender)] = context["meant"]
                    return True
            case _:
                place = self.place(item["input"], item["loc"])
                self.bag.error("OPG112", f"wrong value: {item['msg']}", place)
        return self.harmless(item)

    def harmless(self, item: dict[str, Any]) -> bool:
        if item["type"] == "missing" and self.supplied(item):
            return True
        if item["loc"] == ("module", "training") and isinstance(item["input"], Scalar):  # all else there is as good
            mode = mode_among(self.root.get("params"))
            self.replaced |= {} if mode is None else {id(item["input"]): replace(item["input"], text=mode, value=mode)}
            self.renamed |= {id(item["input"]): None} if mode is None else {}
            return True
        top = self.root.get(str(item["loc"][0])) if item["loc"] else None
        if top is not None and item["loc"][0] in HARMLESS:
            part = top.get(str(item["loc"][1])) if item["loc"][0] == "tests" and isinstance(top, Mapping) else None
            self.renamed[id(part or top)] = None
            return True
        if item["loc"] and item["loc"][-1] in HARMLESS and isinstance(item["input"], Scalar | Sequence | Mapping):
            self.renamed[id(item["input"])] = None
            return True
        if (left := without_entry(self.root, item["loc"])) is None:
            return False
        self.renamed[id(left[0])] = None
        self.bag.doubt(left[1])
        return True

    def supplied(self, item: dict[str, Any]) -> bool:
        """Whether a field that is missing is there under another name, or one that it is not needed beside."""
        name = str(item["loc"][-1])
        nested = any(isinstance(v, Mapping) and v.get(name) is not None for _, v in self.root.entries)
        if nested and "op" in self.renamed.values():
            return True
        return not {name, INSTEAD.get(name, name)}.isdisjoint(self.renamed.values())

    def model(self, loc: tuple[Any, ...]) -> type[BaseModel]:
        return OpSpec if len(loc) == 1 else self.models.get(str(loc[0]), OpSpec)

    def unknown_field(self, item: dict[str, Any]) -> None:
        name, node = str(item["loc"][-1]), item["input"]
        known = known_fields(self.model(item["loc"]))
        owner, fields = self.owner(item["loc"]), self.nearest(item["loc"][:-1])
        cut = text_cut(name, fields, known)
        if cut is not None and cut.told:
            self.renamed[id(node)] = None
            return
        guess = closest(name, known) or next((other for other in SYNONYMS.get(name, ()) if other in known), None)
        hints: tuple[str, ...] = (exact(f"did you mean `{guess}`?", name, guess, known),) if guess else ()
        if not guess and owner == "a spec" and (name, owner) not in ELSEWHERE:
            guess, hints = by_absence(node, self.root)
        if (told := by_value(name, node, fields, owner, self.root) or by_choice(name, node, guess, owner)) is not None:
            guess, hints = told
        tight = LACKING.fullmatch(name)
        if tight is not None and tight[1] in known and isinstance(node, Scalar) and not node.text:
            guess, hints = None, (f"a `:` is missing: write `{tight[1]}: {tight[2]}`",)
        if (name, owner) in ELSEWHERE:
            shape = node.span.text if name == "shape" or name.startswith("init") else "[]"
            guess, hints = None, (ELSEWHERE[name, owner].format(own=fields.key or "x", shape=shape),)
            if isinstance(node, Scalar) and isinstance(fields, Mapping) and fields.get("optional") is not None:
                guess, hints = (
                    ("absent", (f"write `absent: {node.text}`",))
                    if node.text.lower() not in _NOTHING
                    else (None, (_READ_AS_0,))
                )
        fields = self.nearest(item["loc"][:-1])
        if owner == "`tests`" and (beside := gathered(name, fields, self.root)) is not None:
            guess, hints = None, beside
            if not beside:
                self.renamed[id(node)] = None
                return  # told with the first
        if (
            owner == "an input"
            and isinstance(fields, Mapping)
            and {"type", "default"} <= {k.text for k, _ in fields.entries}
        ):
            guess, hints = (
                None,
                (f"a number with a default is a param: `params: {{{fields.key}: {fields.span.text}}}`",),
            )
        if "domain" in known and name not in known:
            own = str(fields.key or "x")
            bounds = of_fields(fields, own)
            whole = both(*bounds.values())
            if name in bounds:
                meant_by = f"bounds are a domain: write `domain: {whole}`" if whole else ""
                guess, hints = None, (meant_by or f"a bound is a domain: write `domain: {bounds[name]}`",)
            if whole and name in bounds and name != next(field for field in bounds if field != "domain"):
                self.renamed[id(node)] = None
                return  # told with the first
        if owner in WITHIN and isinstance(node, Mapping):  # it may be an entry of its own
            self.bag.doubt(frozenset((name,)))
        if owner == "an input" and isinstance(node, Scalar) and is_tensor(node.text):  # of a shape that is not said
            self.bag.doubt(frozenset((str(fields.key),)))
        hints = hints or ((cut.hint,) if cut is not None else ())
        notes = () if hints else (f"{owner} has the fields {listed(known, 'and')}",)
        place = node.key.span if isinstance(node, Scalar | Sequence | Mapping) and node.key else self.root.span
        label = "not a field"
        self.bag.error("OPG110", f"{owner} has no field `{name}`", place, label=label, notes=notes, hints=hints)
        certain = guess in ("absent", "value", "derivative")
        certain = certain or (len(item["loc"]) == 1 and self.root.get(str(guess)) is None)
        meant = guess and (closest(name, known) or certain)
        self.renamed[id(node)] = guess if meant else None

    def owner(self, loc: tuple[Any, ...]) -> str:
        if len(loc) == 1:
            return "a spec"
        kind = {"inputs": "an input", "outputs": "an output", "params": "a param", "functions": "a function"}
        return kind.get(str(loc[0]), f"`{loc[0]}`")

    def missing(self, item: dict[str, Any]) -> None:
        name, fields = str(item["loc"][-1]), item["input"]
        if name == "type" and isinstance(fields, Fields) and "shape" in fields:
            return  # it is an input, which is told at its shape
        info = next(f for n, f in self.model(item["loc"]).model_fields.items() if _written((n, f)) == name)
        key = fields.get(NAME) if isinstance(fields, Fields) else None
        owner = f"`{key.text}`" if key is not None else self.owner(item["loc"])
        node = key if key is not None else (fields.node if isinstance(fields, Fields) else self.root)
        place = self.root.entries[0][0].span if node is self.root and self.root.entries else self.place(node, ())
        hint = f"add `{name}`: {info.description}" if info.description else f"add `{name}`"
        if name == "type" and isinstance(fields, Fields) and isinstance(fields.node, Scalar) and key is fields.node:
            own = fields.node.text  # an item of a list
            hint = f"write `{own}: float`, say, as an entry of a mapping" if own.isidentifier() else hint
        self.bag.error("OPG111", f"{owner} needs the field `{name}`", place, hints=(hint,))

    def place(self, found: object, loc: tuple[Any, ...]) -> Span:
        """Where to point: at the value, or at its key where the value is not written out or is long."""
        if isinstance(found, Fields):
            found = found.node
        if not isinstance(found, Scalar | Sequence | Mapping):
            found = self.nearest(loc)
        empty = found.span.end <= found.span.start or "\n" in found.span.text
        if empty and found.key is not None:
            return found.key.span
        return _first_line(found.span)

    def nearest(self, loc: tuple[Any, ...]) -> Node:
        """The innermost node on the way of a location."""
        node: Node = self.root
        for step in loc:
            inner: Node | None = None
            if isinstance(node, Mapping):
                inner = node.entries[step][1] if isinstance(step, int) and step < len(node.entries) else None
                inner = node.get(str(step)) or inner
            elif isinstance(node, Sequence) and isinstance(step, int) and step < len(node.items):
                inner = node.items[step]
            node = inner or node
        return node


def _unknown_first(errors: Any) -> list[dict[str, Any]]:
    """A misspelt field explains a missing one, so it is looked at first."""
    return sorted(errors, key=lambda item: item["type"] != "extra_forbidden")
