"""The shape of a tensor by how the formulas read it, for entries that say that they are tensors and no more.

In go the document and the name; out comes what to declare under `inputs`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping as Table
from collections.abc import Sequence as Items

from opgen.schema.annotations import is_tensor, may_be_missing
from opgen.schema.by_dims import shapes_of
from opgen.schema.nodes import Mapping, Scalar

_NO_TYPE = "leave it away: every input is a tensor"


def read_shape(text: str, shapes: Table[str, Items[str]], name: str) -> str:
    """The shape that a tensor has by how formulas read it, `[C]`, or `[]` where it is read bare; empty where unclear.

    `shapes`: those that other inputs declare, by which an index is told to run along a dim.
    """
    along: dict[str, str] = {}
    for other, items in shapes.items():
        for read in reads(text, other) if other != name else ():
            if len(read) == len(items):
                along |= {i: size for i, size in zip(read, items, strict=True) if i not in along}
    found = {tuple(_size(i, along) for i in read) for read in reads(text, name)}
    if len(found) != 1 or "" in (shape := next(iter(found))):
        return ""
    return f"[{', '.join(shape)}]"


def reads(text: str, name: str) -> list[tuple[str, ...]]:
    """The positions at which a formula reads a name, none where it stands alone."""
    code = re.sub(r"#.*", "", text)
    found = re.finditer(rf"(?<![\w.]){re.escape(name)}(?!\w)(?:[ ]*\[(?P<at>[^\[\]]*)\])?(?![ ]*[(\[])", code)
    return [tuple(i.strip() for i in m["at"].split(",")) if m["at"] is not None else () for m in found]


def _size(index: str, along: Table[str, str]) -> str:
    if not re.fullmatch(r"[a-z]\w*|\.\.\.", index):
        return ""
    return along.get(index, index if index == "..." else index.upper())


def as_input(root: Mapping, loc: Items[object], given: object) -> tuple[str, ...]:
    """What is said of the type of a param or the dtype of an input that is `tensor`; nothing of any other."""
    name, section = _entry(root, loc), loc[0] if loc else None
    if not name or not isinstance(given, Scalar) or not is_tensor(given.text) or section not in ("inputs", "params"):
        return ()
    if section == "inputs":
        return of_type(root, name, given.text)
    shape = _shape(root, name)
    if not shape:
        return ()
    fields = f"shape: {shape}, optional: true" if may_be_missing(given.text) else f"shape: {shape}"
    return (f"tensors are declared under `inputs`: move it there, as `{name}: {{{fields}}}`",)


def has_shape(root: Mapping, loc: Items[object], given: object) -> bool:
    """Whether the type of a param is `tensor` and a shape stands beside it."""
    params, name = root.get("params"), _entry(root, loc)
    fields = params.get(name) if loc[:1] == ("params",) and isinstance(params, Mapping) else None
    stated = isinstance(fields, Mapping) and fields.get("shape") is not None
    return stated and isinstance(given, Scalar) and is_tensor(given.text)


def _entry(root: Mapping, loc: Items[object]) -> str:
    """The name of the entry of a section that something stands in."""
    section, place = (root.get(str(loc[0])), loc[1]) if len(loc) > 1 else (None, None)
    return section.entries[place][0].text if isinstance(section, Mapping) and isinstance(place, int) else ""


def of_type(root: Mapping, name: str, given: str) -> tuple[str, ...]:
    """What is said of the type of an input, which is a tensor anyway, perhaps one that may be missing."""
    inputs = root.get("inputs")
    fields = inputs.get(name) if isinstance(inputs, Mapping) else None
    stated = isinstance(fields, Mapping) and fields.get("shape") is not None
    shape = "" if stated else _shape(root, name)
    forward = root.get("forward")
    if shape == "[]" and isinstance(forward, Scalar) and "[" not in forward.text:
        shape = ""  # all stand bare, whatever their shapes are
    if may_be_missing(given):
        missing = "optional: true" if isinstance(fields, Mapping) else "{optional: true}"
        return (f"write `{name}: {{shape: {shape}, optional: true}}`" if shape else f"write `{missing}`",)
    return (f"{_NO_TYPE}; its shape is `{name}: {{shape: {shape}}}`" if shape else _NO_TYPE,)


def _shape(root: Mapping, name: str) -> str:
    forward = root.get("forward")
    return read_shape(forward.text, shapes_of(root), name) if isinstance(forward, Scalar) else ""
