"""What a plan keeps in the dtype of the call, in 16 bits maybe: operands of products, which torch rounds to it anyway.

In go the steps of a plan in the making, as items of a grouping; out come names of products and of what they read. What
a spec states the dtype of is no part of this.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from opgen.ir.program import Compute
from opgen.ir.scalar import Read
from opgen.plan.group import Group, Item, Single, reads_of_item, targets


def products(items: Sequence[Item], stated: Set[str]) -> set[str]:
    """Products of matrices and convolutions whose operands and results have the dtype of the call.

    `stated`: what has a dtype of its own.
    """
    found = set[str]()
    for item in items:
        if isinstance(item, Single) and isinstance(item.statement, Compute) and item.statement.op == "sum":
            name = item.statement.target
            if stated.isdisjoint((name, *(r.tensor for r in item.reads))):
                found.add(name)
    return found


def operands(items: Sequence[Item], made: Set[str], results: Set[str]) -> set[str]:
    """What nests store for such products, or as `results`, and nothing else reads but sums of it as it is."""
    readers: dict[str, list[Item]] = {}
    for item in items:
        for name in {r.tensor for r in reads_of_item(item)}.difference(targets(item)):
            readers.setdefault(name, []).append(item)
    stored = (name for item in items if isinstance(item, Group) for name in targets(item))
    return {name for name in stored if _narrows(name, readers.get(name, []), made, results)}


def _narrows(name: str, readers: Sequence[Item], made: Set[str], results: Set[str]) -> bool:
    rest = [r for r in readers if made.isdisjoint(targets(r))]
    wanted = len(rest) < len(readers) or (bool(readers) and name in results)
    return wanted and all(_only_sums(r, name) for r in rest)


def _only_sums(item: Item, name: str) -> bool:
    """Whether all that a step does with a tensor is to sum it up."""
    if not isinstance(item, Group):
        return False
    read = (m.statement for m in item.members if any(r.tensor == name for r in m.reads))
    return all(s.op == "sum" and isinstance(s.body, Read) and s.body.tensor == name for s in read)
