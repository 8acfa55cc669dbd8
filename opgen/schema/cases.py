"""Cases of `tests` that stand in no list: how they are written."""

from __future__ import annotations

from dataclasses import replace

from pydantic_core import PydanticCustomError

from opgen.diagnostics.model import Hint
from opgen.schema.leaves import expected
from opgen.schema.nodes import Mapping, Node, Scalar, Sequence

_LONGEST = 200  # what is still written in one line
_EACH = "one mapping for each case"


def one_case(node: Mapping) -> PydanticCustomError:
    """A mapping in the place of the list: one case without the list around it, or cases that have names."""
    values = tuple(value for _, value in node.entries)
    items = values if all(isinstance(v, Mapping) for v in values) else (node,)
    meant = Sequence(tuple(replace(item, key=None) for item in items), node.span, node.key)
    right = f"[{', '.join(map(in_flow, items))}]"
    if len(right) > _LONGEST or "\n" in right:
        return expected("a list of cases", node, f"each case begins with `- `, {_EACH}", meant=meant)
    hint = Hint(f"write `cases: {right}`, {_EACH}", node.span.text, right, node.span)
    return expected("a list of cases", node, hint, meant=meant)


def in_flow(node: Node) -> str:
    """What is written, in one line."""
    match node:
        case Mapping(entries=entries):
            return f"{{{', '.join(f'{key.span.text}: {in_flow(value)}' for key, value in entries)}}}"
        case Sequence(items=items):
            return f"[{', '.join(map(in_flow, items))}]"
        case Scalar():
            return node.span.text if node.style else node.text
