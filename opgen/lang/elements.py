"""`(q[b] @ k[b].T)[i, j]`: positions behind a value whose indices have an order name the last of them anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.diagnostics.model import Span
from opgen.lang.habits import ELEMENT
from opgen.lang.idioms import Idioms
from opgen.lang.nodes import Expr, Name
from opgen.lang.products import reindexed
from opgen.lang.slices import Item
from opgen.lang.walk import nodes


def has_order(idioms: Idioms, e: Expr) -> bool:
    return any(node is e for node, _ in idioms.results)


def elements(idioms: Idioms, e: Expr, items: Sequence[Item], at: Span) -> Expr:
    """The value with these indices in place of its own; what has no order is told not to be there anyway."""
    order = next((order for node, order in idioms.results if node is e), None)
    if order is None:
        return replace(e, span=e.span.to(at))
    idioms.note(at, "only a tensor has elements", otherwise=ELEMENT)
    names = [i.name for i in items if isinstance(i, Name)]
    own = order[len(order) - len(items) :]
    used = {n.name for n in nodes(e) if isinstance(n, Name)} - {*own}
    if len(names) < len(items) or len(own) < len(items) or "..." in own or not used.isdisjoint(names):
        idioms.unclear = True
        return e
    meant = reindexed(e, dict(zip(own, names, strict=True)))
    made = (*order[: len(order) - len(items)], *names)
    idioms.results = [r for r in idioms.results if r[0] is not e] + [(meant, made)]
    return meant
