"""Dims of inputs that are multiples of a dim that no input tells: `C: groups*S` makes `S` of `C`.

In go the derived dims as they are written and the dims of inputs; out come derived dims of which each can be computed,
here `S: C//groups`, and what the dims of inputs are multiples of, which a call is refused without.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass

from opgen.lang.nodes import Expr, Name, Product


@dataclass(frozen=True, slots=True)
class WholeParts:
    """A dim of an input, as what it is stated, and what it is divided by for the dim that no input tells."""

    dim: str
    text: str
    by: Expr


def with_parts(derived: Mapping[str, Expr], sizes: Container[str]) -> tuple[dict[str, Expr], tuple[WholeParts, ...]]:
    """Derived dims with each part that only a multiple of it tells; such a multiple is the size of its input."""
    found: dict[str, Expr] = {}
    parts: list[WholeParts] = []
    for name, e in derived.items():
        part = None if name not in sizes else _untold(e, lambda n: n in sizes or n in derived or n in found)
        if part is None or not isinstance(e, Product):
            found[name] = e
            continue
        rest = tuple(f for f in e.factors if f[1] != part)
        by = rest[0][1] if len(rest) == 1 else Product(rest, e.span)
        found[part.name] = Product((("*", Name(name, e.span)), ("//", by)), e.span)
        parts.append(WholeParts(name, f"{name} = {e.span.text}", by))
    return found, tuple(parts)


def _untold(e: Expr, is_known: Callable[[str], bool]) -> Name | None:
    """The one factor of a product that is a dim and that nothing tells."""
    if not isinstance(e, Product) or len(e.factors) < 2 or any(sign != "*" for sign, _ in e.factors):
        return None
    untold = [f for _, f in e.factors if isinstance(f, Name) and f.name[:1].isupper() and not is_known(f.name)]
    return untold[0] if len(untold) == 1 else None
