"""Fields that nothing is called like: what they stand for, by their values and by what stands beside them."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from opgen.diagnostics.suggest import closest, edits
from opgen.schema.annotations import is_tensor
from opgen.schema.cases import in_flow
from opgen.schema.nodes import Mapping, Node, Scalar, Sequence
from opgen.schema.read_shapes import of_type
from opgen.schema.starts import of_start

_STATEMENT = re.compile(r"\s*[A-Za-z_]\w*\s*(?:\[[^\]\n]*\])?\s*(?:[+*]|max|min)?=(?!=)")
_SETTINGS = (
    "constants", "consts", "hyperparameters", "hyperparams", "hparams", "config", "settings", "args", "arguments",
    "vars", "variables", "attributes", "attrs", "env",
)  # fmt: skip
_MAYBE = ("optional", "nullable", "allow_none", "allow_null", "none_ok", "maybe", "may_be_none", "missing")
_MISSING = {"an input": "optional: true", "a param": "default: null"}

WITHIN = ("an input", "a param", "an output")
_FIELDS = {"shape", "dtype", "type", "default", "choices", "domain"}  # that tell an entry
_OF_ENTRIES = ("inputs", "params", "dims", "functions", "outputs", "module", "tests")
_REDUCED = ("mean", "sum", "none")  # the choices that may stand for a reduction in most losses

_TEXTS = ("doc", "summary", "description")


@dataclass(frozen=True, slots=True)
class Cut:
    """A text that YAML's flow style cut at its commas, and whether that was told with an earlier piece of it."""

    hint: str
    told: bool


Meant = tuple[str | None, tuple[str, ...]]  # the field that is meant, if it is one, and hints


def by_value(name: str, node: object, beside: Node, owner: str, root: Mapping | None = None) -> Meant | None:
    """What a field means whose name alone would lead astray."""
    if name == "<<":
        own = {key.text for key, _ in beside.entries} if isinstance(beside, Mapping) else set()
        merged = node.entries if isinstance(node, Mapping) else ()
        given = ", ".join(f"{key.text}: {value.span.text}" for key, value in merged if key.text not in own)
        return None, (f"`<<` merges nothing in a spec: write the fields out{f', `{given}`' if given else ''}",)
    if name == "required" and owner in _MISSING and isinstance(node, Scalar):
        if node.text.lower() in ("false", "no", "off"):
            return None, (f"write `{_MISSING[owner]}`",)
        return None, (f"leave it away: only what may be missing says so, by `{_MISSING[owner]}`",)
    if name in _MAYBE and owner in _MISSING and (owner == "a param" or name not in ("optional", "nullable")):
        return None, (f"write `{_MISSING[owner]}`",)
    if owner == "an input" and root is not None and isinstance(node, Scalar) and is_tensor(node.text):
        return None, of_type(root, str(beside.key), node.text)
    if owner == "a spec" and root is not None and (said := of_start(name, node, root)):
        return None, said
    if owner in WITHIN and isinstance(beside, Mapping) and beside.key is not None:
        entries = [(k.text, v) for k, v in beside.entries]
        within = [(k, v) for k, v in entries if isinstance(v, Mapping) and _FIELDS & {key.text for key, _ in v.entries}]
        if name in (n for n, _ in within):
            kept = ", ".join(f"{k}: {in_flow(v)}" for k, v in entries if (k, v) not in within)
            others = ", ".join(f"{k}: {in_flow(v)}" for k, v in within)
            told = f"an entry stands beside `{beside.key}`, not in it"
            return None, (f"{told}: write `{beside.key}: {{{kept}}}, {others}`",)
    if name == "absent" and owner == "a param":
        return None, ("a param that may be missing has `default: null`, and a formula says what holds without it",)
    if owner == "a spec" and name.lower() in _SETTINGS and isinstance(node, Mapping) and node.entries:
        numbers = [
            f"{k.text}: {{type: {type(v.value).__name__}, default: {v.text}}}"
            for k, v in node.entries if isinstance(v, Scalar) and isinstance(v.value, int | float)
        ]  # fmt: skip
        return "params", (f"numbers that formulas read are params: `params: {{{', '.join(numbers) or '…'}}}`",)
    if owner == "a spec" and isinstance(node, Mapping) and any(key.text == "forward" for key, _ in node.entries):
        hint = f"the name stands under `op`: begin with `op: {name}`, and write its fields as far to the left"
        return "op", (hint,)
    return None


def by_choice(name: str, node: object, guess: str | None, owner: str) -> Meant | None:
    """The param that a value or words are, in place of a field of entries that is only a little like the name."""
    far = owner == "a spec" and guess in _OF_ENTRIES and edits(name, guess) > len(name) // 3
    if not far or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        return None
    values = [node] if isinstance(node, Scalar) else list(node.items) if isinstance(node, Sequence) else []
    words = [v.text for v in values if isinstance(v, Scalar) and re.fullmatch(r"[a-z][a-z0-9_]*", v.text)]
    if len(values) == 1 and isinstance(values[0], Scalar) and isinstance(values[0].value, bool | int | float):
        fields = f"type: {type(values[0].value).__name__}, default: {values[0].text}"
    elif not words or len(words) < len(values):
        return None
    elif len(words) > 1:
        fields = f"choices: [{', '.join(words)}], default: {words[0]}"
    elif (near := words[0] if words[0] in _REDUCED else closest(words[0], _REDUCED)) is not None:
        fields = f"choices: [{', '.join(_REDUCED)}], default: {near}"
    else:
        fields = f"choices: [{words[0]}, …], default: {words[0]}"
    return None, (f"what a call chooses is a param: `params: {{{name}: {{{fields}}}}}`",)


def by_absence(node: object, root: Mapping) -> Meant:
    """The field of a spec that is missing and that a value would do for."""
    if isinstance(node, Scalar) and _STATEMENT.match(node.text) and root.get("forward") is None:
        return "forward", ("did you mean `forward`?",)
    if isinstance(node, Scalar) and re.fullmatch(r"[a-z][a-z0-9_]*", node.text) and root.get("op") is None:
        return "op", ("did you mean `op`?",)
    return None, ()


def text_cut(name: str, fields: Node, known: Collection[str]) -> Cut | None:
    """The text that goes on in what looks like a field: `one row` of `{doc: features, one row: each sample}`."""
    if not isinstance(fields, Mapping) or not fields.flow:
        return None
    entries = fields.entries
    at = first = next(k for k, (key, _) in enumerate(entries) if key.text == name)
    while first and entries[first - 1][0].text not in known:
        first -= 1
    while at + 1 < len(entries) and entries[at + 1][0].text not in known:
        at += 1
    pieces = entries[first : at + 1]
    if not first or entries[first - 1][0].text not in _TEXTS:
        return None
    (field, text), (key, last) = entries[first - 1], pieces[-1]
    bare = all(isinstance(v, Scalar) and not v.style for v in (text, *(value for _, value in pieces)))
    if not bare:
        return None
    whole = text.span.to(last.span if isinstance(last, Scalar) and last.text else key.span).text
    quoted = f"'{whole}'" if '"' in whole or "\\" in whole else f'"{whole}"'
    hint = f"a text with a comma in it needs quotes: `{field.text}: {quoted}`"
    return Cut(hint, pieces[0][0].text != name)
