"""A spec without its misspelt keys and values, so that what else is in it can be read."""

from __future__ import annotations

from dataclasses import replace

from opgen.schema.formula import Word
from opgen.schema.nodes import Mapping, Node, Scalar, Sequence, under


def mended(node: Node, renamed: dict[int, str | None], replaced: dict[int, Node]) -> Node:
    """The document with misspelt keys renamed, unknown entries dropped, and values replaced by what they stand for."""
    if id(node) in replaced:
        return replaced[id(node)]
    match node:
        case Sequence():
            kept = [item for item in node.items if renamed.get(id(item), "") is not None]
            return replace(node, items=tuple(mended(i, renamed, replaced) for i in kept))
        case Mapping():
            present = {key.text for key, _ in node.entries}
            entries = []
            for given, value in node.entries:
                inner = mended(value, renamed, replaced)
                meant = replaced.get(id(given))
                key = meant if isinstance(meant, Scalar) else given
                if id(value) not in renamed:
                    entries.append((key, inner))
                elif (right := renamed[id(value)]) is not None and right not in present:
                    entries.append((replace(key, text=right, value=right), under(inner, Word(right, key.span))))
            return replace(node, entries=tuple(entries))
        case Scalar():
            return node
