"""Components of a tensor that are counted from 1, `x[1]` to `x[3]` of three: the statements with all of them from 0."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from opgen.lang.nodes import Access, Expr, Number
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import nodes, rebuild
from opgen.lower.scope import Frame


def from_0(f: Frame, tensor: str) -> tuple[str, ...]:
    """The statements that count the components of a tensor from 1, with all of them counted from 0."""
    lines: list[str] = []

    def less(i: Any) -> Any:
        return Number(i.value - 1, i.span) if isinstance(i, Number) else i

    def lower(e: Expr) -> Expr:
        made = rebuild(e, lower)
        return replace(made, items=tuple(map(less, made.items))) if isinstance(made, Access) else made

    own = [s for s in f.decl.forward if any(isinstance(n, Access) and n.name == tensor for n in nodes(s.value))]
    at = [i for s in own for a in nodes(s.value) if isinstance(a, Access) for i in a.items]
    at += [i for s in own for i in s.target.items or () if isinstance(i, Number)]
    numbers = {i.value for i in at if isinstance(i, Number)}
    if 1 not in numbers or 0 in numbers or not all(isinstance(n, int) for n in numbers):
        return ()
    for s in own:
        items = None if s.target.items is None else tuple(map(less, s.target.items))
        lines.append(f"`{unparse_assign(replace(s, target=replace(s.target, items=items), value=lower(s.value)))}`")
    return tuple(lines)
