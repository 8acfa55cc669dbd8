"""Sums across rows within the kernel of these rows, which reads the same memory: gradients of weights beside those of
inputs.

In go two kernels of a plan, one that goes along rows and one that folds across them; out come the joins that the last
pass along a row makes in place of the second: what each row adds, in the names of the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

from opgen.ir.names import Names
from opgen.ir.program import Axis, Kind, Loop
from opgen.ir.scalar import Batch, Dim, Index, Param, Read, Scalar, reads, substitute, walk
from opgen.kernel.formal import Formal
from opgen.kernel.model import Acc, Body, For, Join, Node, Role, Store
from opgen.kernel.teams import without_batch
from opgen.kernel.walk import bound, chain, inside, waits
from opgen.kernel.wanted import opened
from opgen.plan.model import Let, Schedule, extent


def across(rows: Formal, columns: Formal) -> tuple[Join, ...]:
    """What the last pass along a row joins, a join for each sum in their order; none where both run apart.

    Points of a map are rows as well.
    """
    if any(isinstance(n, For) and n.role is Role.SERIAL and waits(n) for n in inside(rows.kernel.body)):
        return ()  # its places come one after the other
    points = rows.schedule is Schedule.MAP and not rows.spare
    alone = rows.schedule is Schedule.ROW and without_batch(rows.kernel, rows.schedule) is Schedule.ROW
    if not (points or alone) or columns.schedule is not Schedule.COLUMN:
        return ()
    outer, along, body, passed = _rows(rows.kernel.body)
    own, folding = chain(columns.kernel.body, (Role.PARALLEL,))
    fold = next((n for n in folding if isinstance(n, For)), None)
    if fold is None or not outer or not _sums(folding, fold) or rows.reaches or columns.reaches:
        return ()
    over, folded = chain((fold,), (Role.SERIAL,))
    names = _names((*outer, *along), (*over, *own))
    if names is None or len(along) != 1 or not all(isinstance(n, Let | Store) for n in passed):
        return ()
    lets = tuple(n for n in folding if isinstance(n, Let))
    ahead = body[: max((k for k, n in enumerate(body) if isinstance(n, For)), default=0)]
    known = {n.value: Read(n.name, ()) for n in ahead if isinstance(n, Let)}
    sums = [n.name for n in folding if isinstance(n, Acc)]
    joins = sorted((n for n in folded if isinstance(n, Join)), key=lambda n: sums.index(n.acc))
    values = [substitute(opened(n.value, (*lets, *folded)), names) for n in joins]
    if [n.acc for n in joins] != sums or not all(isinstance(n, Let | Join) for n in folded):
        return ()
    here = {Read(n.slot, n.at) for n in passed if isinstance(n, Store)}
    if not all(_read(e, rows, here) for e in values):
        return ()
    return tuple(Join(n.acc, substitute(e, known)) for n, e in zip(joins, values, strict=True))


def joining(part: Body, joins: Sequence[Join], slots: Iterable[str]) -> Body:
    """A kernel of rows whose last pass joins as well; what that stores and joins is computed once."""
    outer, along, body, passed = _rows(part)
    asked = {r for n in joins for r in reads(n.value)}
    names = Names((*slots, *bound(part)))
    made: list[Node] = []
    stored: dict[Scalar, Scalar] = {}
    for node in passed:
        if isinstance(node, Store) and Read(node.slot, node.at) in asked:
            value = Read(names.fresh(f"{node.slot}_value"), ())
            stored[Read(node.slot, node.at)] = value
            made += [Let(value.tensor, node.value), replace(node, value=value)]
        else:
            made.append(node)
    made += [replace(n, value=substitute(n.value, stored)) for n in joins]
    last: Body = tuple(made)
    for loop in reversed(along):
        last = (For(loop, last, Role.TEAM),)
    at = max((k for k, n in enumerate(body) if isinstance(n, For)), default=0)
    whole: Body = (*body[:at], *last, *body[at + 1 :])
    for loop in reversed(outer):
        whole = (For(loop, whole, Role.PARALLEL),)
    return whole


def _rows(part: Body) -> tuple[tuple[Loop, ...], tuple[Loop, ...], Body, Body]:
    """Loops over rows and the last one along a row, what stands in the first, and in the second.

    In a map that is the last loop, and nothing stands between them.
    """
    outer, body = chain(part, (Role.PARALLEL,))
    last = next((n for n in reversed(body) if isinstance(n, For)), None)
    if last is None:
        return outer[:-1], outer[-1:], (), body
    along, passed = chain((last,), (last.role,))
    return outer, along, body, passed


def _sums(folding: Body, fold: For) -> bool:
    """Whether all that is folded are sums, which are stored as they are."""
    accs = {n.name for n in folding if isinstance(n, Acc)}
    plain = all(n.op == "sum" and n.kind is Kind.FLOAT for n in folding if isinstance(n, Acc))
    return bool(accs) and plain and all(n is fold or _is_plain(n, accs) for n in folding)


def _is_plain(node: Node, accs: set[str]) -> bool:
    match node:
        case Acc() | Let():
            return True
        case Store(value=Read(name, ())):
            return name in accs
        case _:
            return False


def _names(theirs: Sequence[Loop], own: Sequence[Loop]) -> dict[Scalar, Scalar] | None:
    """What the indices of loops are called where the same loops have other names; None where they are others."""
    if [extent(a) for a in theirs] != [extent(a) for a in own]:
        return None
    pairs = zip(own, theirs, strict=True)
    return {Index(a.name): Index(b.name) for a, b in pairs if isinstance(a, Axis) and isinstance(b, Axis)}


def _read(e: Scalar, rows: Formal, here: Set[Scalar]) -> bool:
    """Whether a value is made of what the kernel of rows reads, at places of its loops, and of its numbers.

    `here`: what its last pass stores.
    """
    stored = {s.name for s in rows.kernel.slots if s.written}
    for n in walk(e):
        if isinstance(n, Read) and n not in here:
            plain = n.fill is None and all(isinstance(p, Batch | Index) for p in n.at)
            if n.tensor not in rows.slots or n.tensor in stored or not plain or not rows.plain(n):
                return False
        elif isinstance(n, Dim | Param) and n not in rows.ints and n not in rows.reals:
            return False
    return True
