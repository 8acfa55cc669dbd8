"""Statements that stand in a list or in a mapping: how they are written as the lines of one block."""

from __future__ import annotations

from opgen.schema.nodes import Mapping, Scalar, Sequence

_FEW = 3  # statements that are written out


def as_block(node: Sequence | Mapping) -> str:
    """What to write in the place of a list of statements, or of a mapping of targets to formulas."""
    field = str(node.key or "forward")
    if isinstance(node, Sequence):
        lines = [item.text.strip() for item in node.items if isinstance(item, Scalar)]
    else:
        entries = [(key.text, value.text) for key, value in node.entries if isinstance(value, Scalar)]
        lines = [f"{_target(name, field)} = {value.strip()}" for name, value in entries]
    shown = [f"`{line}`" for line in lines[:_FEW] if "\n" not in line]
    more = ["…"] if len(lines) > len(shown) else []
    below = f", and indented below it {', '.join((*shown, *more))}" if shown else ""
    return f"statements are lines of one block with `=`: `{field}: |`{below}"


def _target(name: str, field: str) -> str:
    """What a key assigns; gradients are those of inputs."""
    return f"grad_{name}" if field == "backward" and not name.startswith("grad_") else name
