"""Parts of a formula that become statements of their own, evaluated only where the formula evaluates them.

A part under a `where` must not be evaluated where the branch is not taken, so the conditions go into the statement
when that could matter.
"""

from __future__ import annotations

from opgen.ir.functions import row as function
from opgen.ir.program import Kind
from opgen.ir.scalar import (
    BATCH,
    Apply,
    Batch,
    Index,
    Lit,
    Position,
    Read,
    Scalar,
    both,
    walk,
    where,
)
from opgen.lower.scope import Frame, IndexInfo, Pending, Scope, Typed, free


def take_out(f: Frame, found: Pending, wish: str = "") -> Typed:
    """Make a part a statement before the one at hand; what is left is a read of it."""
    if found.op is not None:
        names = "_".join("all" if isinstance(o, Batch) else o.name for o in found.over)
        wish = f"{found.op}_{names}"
    found.target = f.state.fresh(wish)
    f.pending.append(found)
    at: tuple[Position, ...] = tuple(BATCH if isinstance(a, Batch) else Index(a.unique) for a in found.axes)
    return Typed(Read(found.target, at), found.kind)


def named(f: Frame, wish: str, value: Typed) -> Typed:
    """An expression as a statement of its own, where indices are in scope that it may run over."""
    scope = f.scope or f.around
    if scope is None or value.kind is None:
        return value
    scalar = under(f.path, value.scalar, value.kind) if f.path and risky(value.scalar) else value.scalar
    return take_out(f, Pending("", axes_of(scope, *free(scalar)), scalar, None, [], value.kind, None), wish)


def axes_of(scope: Scope, names: frozenset[str], batch: bool) -> list[IndexInfo | Batch]:
    """The loops in scope that a body uses, in the order of the target, then of enclosing reductions."""
    found: list[IndexInfo | Batch] = []
    for loop in scope.visible():
        if (batch and isinstance(loop, Batch) and BATCH not in found) or (
            isinstance(loop, IndexInfo) and loop.unique in names
        ):
            found.append(loop)
    if batch and BATCH not in found:
        found.insert(0, BATCH)
    return found


def risky(body: Scalar) -> bool:
    """Whether evaluating or differentiating a body where it is not wanted could fail or give nan."""
    for node in walk(body):
        if isinstance(node, Apply) and not function(node.fn).tame:
            return True
        if isinstance(node, Read) and not all(isinstance(p, Index | Batch) for p in node.at):
            return True
    return False


def under(
    path: tuple[Scalar, ...],
    body: Scalar,
    kind: Kind,
    forbidden: frozenset[str] = frozenset(),
    *,
    batch: bool = False,
) -> Scalar:
    """The body where the conditions hold, and a harmless constant elsewhere.

    A condition on the batch dims cannot go into a reduction over the batch dims, nor one on the index of an index
    operator into its body.
    """
    guard: Scalar = Lit(True)
    for c in path:
        names, reads_batch = free(c)
        if not names & forbidden and not (batch and reads_batch):
            guard = both(guard, c)
    return where(guard, body, Lit(False) if kind is Kind.BOOL else Lit(0))
