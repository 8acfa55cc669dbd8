"""Sums and products of very many operands, which printers take apart before they look for the longest parts.

Looking for one part at a time costs the square of the number of operands; the cotangent of a tensor that is read a
thousand times is a sum of a thousand terms.
"""

from __future__ import annotations

from opgen.ir.scalar import Apply, Scalar, transform, walk

_MANY = 16  # so many operands are still looked at together


def is_wide(e: Scalar) -> bool:
    return isinstance(e, Apply) and e.fn in ("add", "mul") and len(e.args) > _MANY


def is_crowd(e: Scalar) -> bool:
    """Whether something has operands of which some can go first, in their order."""
    return isinstance(e, Apply) and e.fn in ("add", "mul") and len(e.args) > 2


def has_wide(e: Scalar) -> bool:
    return any(is_wide(n) for n in walk(e))


def tree(e: Scalar) -> Scalar:
    """The expression with every wide sum and product as sums of sums, or products of products."""
    return transform(e, _tree)


def _tree(e: Scalar) -> Scalar:
    if not isinstance(e, Apply) or not is_wide(e):
        return e
    half = (len(e.args) + 1) // 2
    return Apply(e.fn, (_tree(Apply(e.fn, e.args[:half])), _tree(Apply(e.fn, e.args[half:]))))


def pieces(e: Scalar) -> tuple[Scalar, ...]:
    """The operands of a wide sum or product in groups that are sums or products of their own."""
    assert isinstance(e, Apply)
    groups = (e.args[i : i + _MANY] for i in range(0, len(e.args), _MANY))
    return tuple(Apply(e.fn, g) if len(g) > 1 else g[0] for g in groups)
