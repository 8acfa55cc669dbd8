"""Reads of all that a name has been so far, `z[i] = b[i] - sum[j < i](l[i, j]*z[j])`, which no recurrence has.

A statement in; out what is said of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opgen.diagnostics.suggest import listed
from opgen.lang.circles import shift_of
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Reduction, Sum
from opgen.lang.unparse import unparse
from opgen.lang.walk import nodes, operands

_ALONG = "tsni"  # what the index is called that a recurrence goes along, the likeliest first
_WHOLE = (
    "a recurrence reads a fixed number of places back, {}, and no sum, maximum or the like over all that its name has"
    " been; what needs that is computed as a whole by another library: `forward: {{torch: package.function}}`"
)


def of_its_past(s: Assign, *, back: bool = False) -> tuple[str, ...]:
    """What is said of a statement that reads its own name along an index that a reduction binds; nothing of others.

    `back`: also where that index is taken from its own one, `t - s`.
    """
    own = [i.name for i in s.target.items or () if isinstance(i, Binder)]
    reads = reads_within(s.target.name, s.value)
    if s.op != "=" or not own or not any(_is_whole(a, bound_by(around), own, back) for a, around in reads):
        return ()
    along = min(own, key=lambda i: _ALONG.find(i) % (len(_ALONG) + 1))
    items = s.target.items or ()
    named = [i.name if isinstance(i, Binder) else "..." if isinstance(i, Dots) else unparse(i) for i in items]
    such = [f"{s.target.name}[{', '.join(f'{i} - {k}' if i == along else i for i in named)}]" for k in (1, 2)]
    return (_WHOLE.format(f"such as {listed(such, 'and')}"),)


def _is_whole(a: Access, bound: tuple[str, ...], own: list[str], back: bool) -> bool:
    """Whether no position is one of the statement's own moved by a number, and one is told by a reduction."""
    if any(shift is not None and shift.index in own for shift in map(shift_of, a.items)):
        return False
    return any(isinstance(i, Name | Sum) and any(isinstance(n, Name) and n.name in bound for n in nodes(i))
               for i in a.items if not isinstance(i, Dots) and (back or not _goes_back(i, own)))  # fmt: skip


def _goes_back(item: Expr, own: list[str]) -> bool:
    """Whether a position is one of the statement's own less what a reduction counts: `t - s - 1`."""
    return isinstance(item, Sum) and any(isinstance(n, Name) and n.name in own for n in nodes(item))


def reads_within(name: str, e: Expr, around: Sequence[Reduction] = ()) -> Iterator[tuple[Access, Sequence[Reduction]]]:
    """Every read of a name, with the reductions around it, the outermost first."""
    if isinstance(e, Access) and e.name == name:
        yield e, around
    inner = (*around, e) if isinstance(e, Reduction) else around
    for part in operands(e):
        yield from reads_within(name, part, inner)


def bound_by(around: Sequence[Reduction]) -> tuple[str, ...]:
    """The indices that reductions bind, the innermost last."""
    return tuple(b.name for e in around for b in e.binders if isinstance(b, Binder))
