"""Fields of a spec that stand below another one, as a slip of the indentation puts them there."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping as Table
from dataclasses import replace

from opgen.diagnostics.model import Bag
from opgen.schema.nodes import Mapping, Node, Scalar, Sequence

_NAMED = ("inputs", "params", "outputs", "dims", "functions")  # hold names, each with fields of its own
_PLAIN = ("module", "tests")  # hold fields themselves
_LISTS = ("inputs", "outputs", "save")
_STATEMENTS = ("forward", "backward")


def hoisted(root: Mapping, fields: Table[str, Collection[str]], bag: Bag) -> Mapping:
    """The document with every field of a spec where it belongs; each that was elsewhere is told.

    `fields`: those of a spec, and those of what stands in one.
    """
    entries = []
    moved = []
    for key, value in root.entries:
        inner = value
        if isinstance(value, Mapping) and key.text in (*_NAMED, *_PLAIN):
            found = [
                (k, v) for k, v in value.entries
                if root.get(k.text) is None and k.text in fields["spec"] and _belongs_there(key.text, k.text, v, fields)
            ]  # fmt: skip
            for k, _ in found:
                hint = f"write it as far to the left as `{root.entries[0][0].text}`"
                if value.flow:
                    hint = f"close the `{{` of `{key.text}` before it"
                message = f"`{k.text}` is a field of a spec, and stands below `{key.text}`"
                bag.error("OPG110", message, k.span, label="not a field", hints=(hint,))
            moved += found
            inner = replace(value, entries=tuple(e for e in value.entries if e not in found))
        entries.append((key, inner))
    return hoisted(replace(root, entries=(*entries, *moved)), fields, bag) if moved else root


def _belongs_there(outer: str, name: str, value: Node, fields: Table[str, Collection[str]]) -> bool:
    """Whether what stands under this name is the field of a spec, and no entry of the field that it stands in."""
    own = fields.get(outer, ())
    if outer in _PLAIN:
        return name not in own
    if isinstance(value, Mapping):
        return bool(value.entries) and not any(k.text in own for k, _ in value.entries)
    if isinstance(value, Sequence):  # of names: the dims of a shape are spelt otherwise
        return name in _LISTS and all(isinstance(i, Scalar) and i.text[:1].islower() for i in value.items)
    return name in _STATEMENTS and isinstance(value, Scalar) and "=" in value.text
