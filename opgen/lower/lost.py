"""What statements that could not be read leave open: what those that could be say may be right beside them."""

from __future__ import annotations

from opgen.lang.circles import reachable
from opgen.lang.nodes import Binder, Dots, Expr, Number
from opgen.lang.walk import names_read, statement_names
from opgen.lower.declare import Declarations


def hangs_on_lost(d: Declarations, name: str) -> bool:
    """Whether one of the statements that a name is made from, by whatever way, could not be read."""
    graph: dict[str, dict[str, None]] = {}
    for s in (*d.forward, *d.backward) if d.lost else ():
        graph.setdefault(s.target.name, {}).update(dict.fromkeys(statement_names(s)))
    return any(n in d.lost for n in (name, *reachable(graph, name)))


def is_lost_start(d: Declarations, name: str, item: Binder | Dots | Expr) -> bool:
    """Whether a position of a target may be where a recurrence starts whose body could not be read: it has no index."""
    if isinstance(item, Dots | Number):
        return False
    if isinstance(item, Binder):
        return item.extent is None and item.name in (*d.known_dims(), *d.params) and hangs_on_lost(d, name)
    return all(n in d.known_dims() or n in d.params for n in names_read(item)) and hangs_on_lost(d, name)
