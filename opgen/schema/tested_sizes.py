"""Sizes of the tests: whole numbers by dims, and what is said of everything else that stands in their place."""

from __future__ import annotations

import re

from opgen.diagnostics.model import Hint
from opgen.schema.leaves import expected, refused, respelt
from opgen.schema.nodes import Scalar, Sequence

_WHOLE = re.compile(r"\s*(\d+)(?:\.0*)?\s*")
_DIM = re.compile(r"shape:\s*\[[^\]]*?\b([A-Z]\w*)")


def size(node: object) -> int:
    """A size; how many elements a test has along a dim."""
    if not isinstance(node, Scalar):
        raise expected("an integer", node, *_several(node))
    if isinstance(node.value, bool) or not isinstance(node.value, int):
        if node.value is None:
            raise expected("an integer", node, "leave it away: tests choose the sizes that are not stated")
        if whole := _WHOLE.fullmatch(node.text):
            hint = Hint(f"write `{node.key}: {whole[1]}`", node.span.text, whole[1])
            raise expected("an integer", node, hint, meant=respelt(node, whole[1]))
        raise expected("an integer", node, f"a size is a whole number: `{node.key}: 5`, say")
    if node.value < 0:
        raise refused("OPG112", "a size cannot be negative", label="negative")
    return node.value


def example(node: object) -> tuple[str, ...]:
    """How sizes are written, with a dim of the spec where one is found."""
    if not isinstance(node, Scalar):
        return ()  # what a list means is told with the shapes of the inputs
    found = _DIM.search(node.span.source.text)
    return (f"sizes are written by dims: `sizes: {{{found[1] if found else 'N'}: 5}}`",)


def _several(node: object) -> tuple[str, ...]:
    """Several sizes of one dim, which are a case each."""
    if not isinstance(node, Sequence) or not re.fullmatch(r"[A-Z]\w*", str(node.key)):
        return ()
    items = node.items
    if len(items) < 2 or not all(isinstance(i, Scalar) and isinstance(i.value, int) for i in items):
        return ()
    cases = ", ".join(f"{{{node.key}: {i.text}}}" for i in items if isinstance(i, Scalar))
    return (f"one size holds for all tests, and others for a case each: `cases: [{cases}]`",)
