"""`einsum("bij,bjk->bik", a, b)` as the sum of products that it is."""

from __future__ import annotations

from collections.abc import Sequence

from opgen.lang.layout import access_at
from opgen.lang.nodes import Binder, Dots, Expr, Name, Product, Reduction


def contraction(text: str, tensors: Sequence[Expr]) -> tuple[Expr, tuple[str, ...]] | None:
    """The sum of products that an equation means, with the order of its indices."""
    sides = text.split("->")
    read = _words if any(" " in part.strip() for side in sides for part in side.split(",")) else _letters
    inputs = [read(side) for side in sides[0].split(",")]
    if len(sides) != 2 or len(inputs) != len(tensors) or not all(isinstance(t, Name) for t in tensors):
        return None
    order = read(sides[1])
    factors = [
        ("*", access_at(t.name, items, t)) for t, items in zip(tensors, inputs, strict=True) if isinstance(t, Name)
    ]
    span = tensors[0].span
    body: Expr = Product(tuple(factors), span) if len(factors) > 1 else factors[0][1]
    over = [i for i in dict.fromkeys(i for items in inputs for i in items) if i not in order]
    if over:
        binders = tuple(Dots(span) if i == "..." else Binder(i, None, span) for i in over)
        body = Reduction("sum", binders, body, span, span)
    return body, order


def _words(side: str) -> tuple[str, ...]:
    """The axes of a pattern of einops, between spaces."""
    return tuple(word if word == "..." else word.lower() for word in side.replace("...", " ... ").split())


def _letters(side: str) -> tuple[str, ...]:
    before, dots, after = side.replace(" ", "").partition("...")
    return (*before.lower(), *(["..."] if dots else []), *after.lower())
