"""What names hold that are assigned once, for warnings about statements as they are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name
from opgen.lower.declare import Declarations


def assigned_once(d: Declarations) -> dict[str, Assign]:
    """The statement of each name that has just one, and is no sum or product that goes on."""
    times = Counter(a.target.name for a in d.forward)
    return {a.target.name: a for a in d.forward if a.op == "=" and times[a.target.name] == 1}


def written_out(e: Expr, once: Mapping[str, Assign]) -> Expr:
    """What a name holds, in place of one that is read by the indices that it is assigned by."""
    seen: set[str] = set()
    while isinstance(e, Name | Access) and e.name in once and e.name not in seen:
        seen.add(e.name)
        own = once[e.name]
        left = None if own.target.items is None else [_shown(i) for i in own.target.items]
        if left != (None if isinstance(e, Name) else [_shown(i) for i in e.items]):
            break
        e = own.value
    return e


def _shown(item: Binder | Dots | Expr) -> str | Expr:
    return item.name if isinstance(item, Binder | Name) else "..." if isinstance(item, Dots) else item
