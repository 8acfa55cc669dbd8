"""An index that ends half-way: it is asked where it stands in a dim, and runs over a smaller one that is read at it.

In `where(d < H, x[t, d + H]*angle[t, d], …)` nothing but `angle[t, d]` says how far `d` runs, so that `d < H` always
holds. In goes a position that leaves its tensor for this reason; out comes what to write for the whole of the dim.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from opgen.diagnostics.model import Label
from opgen.ir.scalar import Dim
from opgen.lang.nodes import Binder, Compare, Expr, Name
from opgen.lang.unparse import unparse_target
from opgen.lang.walk import nodes, statement_at
from opgen.lower.along import shape_of_target
from opgen.lower.scope import Check, Frame, IndexInfo


def half_way(f: Frame, c: Check) -> tuple[Label, tuple[str, ...]] | None:
    """Where it is said how far an index of the position runs, and what to write for all of the dim that is read."""
    s = statement_at(f.decl.forward, c.span)
    if s is None or c.always or f.scope is None:
        return None
    for _, info in c.indices:
        size = info.extent
        if info.stated is not None or not info.sites or not isinstance(size, Dim) or info not in f.scope.root().loops:
            continue
        if not any(_asks(n, info, size.name) for n in nodes(s.value)):
            continue
        read = (o.extent for o in f.checks if any(i is info for _, i in o.indices))
        others = [*dict.fromkeys(e.name for e in read if isinstance(e, Dim) and e != size)]
        if len(others) != 1:
            continue
        items = tuple(
            replace(i, extent=Name(others[0], i.span)) if isinstance(i, Binder) and i.name == info.name else i
            for i in s.target.items or ()
        )
        target = replace(s.target, items=items)
        shape = shape_of_target(f.decl, replace(s, target=target))
        declared = f"or declare it: `outputs: {{{f.target}: {{shape: {shape}}}}}`"
        told = f"`{info.name}` runs over `{size.name}` only, for `{info.sites[0].span.text}`"
        hint = f"{told}: for all of `{others[0]}` write `{unparse_target(target)} = …`"
        more = (declared,) if shape and not f.decl.spec.outputs else ()
        return Label(info.sites[0].span, f"here `{info.name}` runs over `{size.name}`"), (hint, *more)
    return None


def _asks(e: Expr, info: IndexInfo, size: str) -> bool:
    """Whether a condition compares an index with a size."""
    names = [o.name if isinstance(o, Name) else "" for o in e.operands] if isinstance(e, Compare) else []
    return any({a, b} == {info.name, size} for a, b in pairwise(names))
