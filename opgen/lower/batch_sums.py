"""Reductions over indices that stand where tensors have their batch dims: `sum[h, w](x[n, h, w])` of `x: [N, ...]`.

In goes an access with too many positions; out comes the reduction over `...` that is meant, which builds as it stands.
"""

from __future__ import annotations

from dataclasses import replace

from opgen.ir.scalar import BATCH
from opgen.lang.nodes import Access, Binder, Dots, Expr, Name, Reduction
from opgen.lang.unparse import unparse
from opgen.lang.walk import nodes, transform
from opgen.lower.loose import around
from opgen.lower.scope import Frame, Known


def over_batch(f: Frame, e: Access, known: Known) -> tuple[str, ...]:
    """The innermost reduction around an access, over all batch dims; none where it is no such reduction."""
    r = next(iter(around(f, e.span)), None)
    if r is None or not all(isinstance(b, Binder) and b.extent is None for b in r.binders):
        return ()
    left = f.scope is not None and f.scope.root().batch is not False
    if left or known.shape is None or BATCH not in known.shape or r.further is not None:
        return ()
    names = [b.name for b in r.binders if isinstance(b, Binder)]
    body = transform(r.body, lambda n: _at_batch(f, n, names))
    if any(isinstance(n, Reduction) or (isinstance(n, Name) and n.name in names) for n in nodes(body)):
        return ()
    if not any(isinstance(n, Access) and any(isinstance(i, Dots) for i in n.items) for n in nodes(body)):
        return ()
    f.reported.add("...")  # which other accesses have, and nothing binds so far
    made = replace(r, binders=(Dots(e.span),), body=body)
    return (f"write `{unparse(made)}`",)


def _at_batch(f: Frame, e: Expr, names: list[str]) -> Expr | None:
    """An access with `...` in place of all of these indices, if they stand where its tensor has its batch dims."""
    known = f.state.tensors.get(e.name) if isinstance(e, Access) else None
    if not isinstance(e, Access) or known is None or known.shape is None or BATCH not in known.shape:
        return None
    first, more = known.shape.index(BATCH), len(names)
    there = [i.name if isinstance(i, Name) else "" for i in e.items[first : first + more]]
    if len(e.items) != len(known.shape) - 1 + more or there != names:
        return None
    return replace(e, items=(*e.items[:first], Dots(e.span), *e.items[first + more :]))
