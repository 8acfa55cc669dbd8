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
# What tells an entry of a section from a field of a spec.
_MARKS = {"inputs": ("shape", "dtype"), "outputs": ("shape", "dtype"), "params": ("type", "choices", "default")}
_TYPES = ("float", "int", "bool")


def hoisted(root: Mapping, fields: Table[str, Collection[str]], bag: Bag) -> Mapping:
    """The document with every field of a spec where it belongs; each that was elsewhere is told.

    `fields`: those of a spec, and those of what stands in one.
    """
    root = _gathered(root, fields, bag)
    entries = []
    moved = []
    for key, given in root.entries:
        value = inner = _indented(given, key.text, fields.get(key.text, ()), bag)
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
    made = replace(root, entries=(*entries, *moved))
    return hoisted(made, fields, bag) if moved else made


def _gathered(root: Mapping, fields: Table[str, Collection[str]], bag: Bag) -> Mapping:
    """The document with the inputs, outputs and params that stand beside their section within it; each is told."""
    entries: list[tuple[Scalar, Node]] = []
    for key, value in root.entries:
        above = [n for n, (k, v) in enumerate(entries) if _is_entry(k.text, v, value, fields)]
        if key.text in fields["spec"] or not above:
            entries.append((key, value))
            continue
        name, section = entries[above[-1]]
        if not isinstance(section, Mapping):
            section = Mapping((), section.span, section.key)
        hint = f"indent it: what belongs to `{name.text}` stands below it, further to the right"
        if section.entries:
            hint = f"write it below `{section.entries[-1][0].text}`, as far to the right"
        if section.flow:
            hint = f"write it before the `}}` of `{name.text}`"
        bag.error("OPG110", f"`{key.text}` belongs to `{name.text}`, and stands beside it", key.span, hints=(hint,))
        entries[above[-1]] = name, replace(section, entries=(*section.entries, (key, value)))
    return root if len(entries) == len(root.entries) else replace(root, entries=tuple(entries))


def _is_entry(outer: str, section: Node, value: Node, fields: Table[str, Collection[str]]) -> bool:
    """Whether a value is that of an entry of this section."""
    empty = isinstance(section, Scalar) and section.value is None
    if outer not in _MARKS or not (empty or (isinstance(section, Mapping) and section.entries)):
        return False
    if isinstance(value, Scalar):
        return outer == "params" and value.text in _TYPES
    names = [k.text for k, _ in value.entries] if isinstance(value, Mapping) else []
    return any(n in _MARKS[outer] for n in names) and all(n in fields.get(outer, ()) for n in names)


def _indented(section: Node, name: str, fields: Collection[str], bag: Bag) -> Node:
    """Inputs or outputs, with the fields that stand beside one of them where they belong: below it."""
    if name not in ("inputs", "outputs") or not isinstance(section, Mapping) or section.flow:
        return section
    entries: list[tuple[Scalar, Node]] = []
    for key, value in section.entries:
        last = entries[-1] if entries else None
        stray = key.text in fields and (isinstance(value, Sequence) or (isinstance(value, Scalar) and value.text))
        within = None if last is None else last[1]
        if isinstance(within, Scalar) and within.value is None:  # all of its fields stand beside it
            within = Mapping((), within.span, within.key)
        if stray and last is not None and isinstance(within, Mapping) and within.get(key.text) is None:
            message = f"`{key.text}` is a field of `{last[0].text}`, and stands beside it"
            hint = f"write `{last[0].text}: {{{key.text}: {value.span.text}}}`"
            if within.entries:
                hint = f"write it as far to the right as `{within.entries[0][0].text}`"
            bag.error("OPG110", message, key.span, hints=(hint,))
            entries[-1] = last[0], replace(within, entries=(*within.entries, (key, value)))
        else:
            entries.append((key, value))
    return section if len(entries) == len(section.entries) else replace(section, entries=tuple(entries))


def _are_params(value: Node) -> bool:
    """Whether these are params of an operator, and not how parameters of a module start."""
    entries = [v for _, v in value.entries] if isinstance(value, Mapping) else []
    return any(isinstance(v, Mapping) or v.text in _TYPES for v in entries if isinstance(v, Mapping | Scalar))


def _belongs_there(outer: str, name: str, value: Node, fields: Table[str, Collection[str]]) -> bool:
    """Whether what stands under this name is the field of a spec, and no entry of the field that it stands in."""
    own = fields.get(outer, ())
    if outer in _PLAIN:
        return name not in own and not (name == "params" and "parameters" in own and not _are_params(value))
    if isinstance(value, Mapping):
        return bool(value.entries) and not any(k.text in own for k, _ in value.entries)
    if isinstance(value, Sequence):  # of names: the dims of a shape are spelt otherwise
        return name in _LISTS and all(isinstance(i, Scalar) and i.text[:1].islower() for i in value.items)
    return name in _STATEMENTS and isinstance(value, Scalar) and "=" in value.text
