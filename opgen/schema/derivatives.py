"""Stated derivatives of a local function: a formula, or one for each argument.

In: the value of the field `derivative`, and the head of the function. Out: pairs of an argument, None where it is the
only one, and its formula. A list is none of these; it is told with the names that its items stand for.
"""

from __future__ import annotations

import re

from pydantic import ValidationInfo
from pydantic_core import PydanticCustomError

from opgen.diagnostics.model import Hint
from opgen.schema.formula import Formula
from opgen.schema.leaves import expected
from opgen.schema.nodes import Mapping, Node, Scalar, Sequence

_PLAIN = re.compile(r"[\w(.+-][^:#,{}\[\]\n]*")  # within the braces of a mapping
_WANTED = "a formula, or a mapping of argument to formula"


def derivatives(node: object, info: ValidationInfo) -> list[tuple[Scalar | None, Node]]:
    match node:
        case Mapping():
            return list(node.entries)
        case Scalar():
            return [(None, node)]
        case Sequence():
            raise _listed(node, info.data.get("head"))
        case _:
            raise expected(_WANTED, node)


def _listed(node: Sequence, head: Formula | None) -> PydanticCustomError:
    """A list of formulas, which are most likely those of the arguments in order."""
    names = [] if head is None else re.findall(r"\w+", head.text.partition("(")[2])
    items = [item for item in node.items if isinstance(item, Scalar) and item.text]
    if not names or len(items) != len(names) or len(items) < len(node.items):
        shown = f": `derivative: {{{', '.join(f'{n}: …' for n in names)}}}`" if names else ""
        return expected(_WANTED, node, f"each is named by its argument{shown}")
    right = f"{{{', '.join(f'{n}: {_shown(item)}' for n, item in zip(names, items, strict=True))}}}"
    entries = tuple((Scalar(n, n, item.span), item) for n, item in zip(names, items, strict=True))
    hint = Hint(f"each is named by its argument: `derivative: {right}`", node.span.text, right)
    return expected(_WANTED, node, hint, meant=Mapping(entries, node.span, node.key))


def _shown(item: Scalar) -> str:
    """A formula as it is written, or in quotes where it would not stand in a mapping on one line."""
    if item.style in ("'", '"') and "\n" not in item.span.text:
        return item.span.text
    return item.text if _PLAIN.fullmatch(item.text) else f'"{item.text}"'
