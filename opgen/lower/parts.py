"""A part of a tensor that is overwritten further down, as other libraries do it, as one statement of the whole.

In go the statements of one name, out comes a line of help: `sim[n, n] = -inf` after `sim[n, m] = …` is a choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from opgen.lang.nodes import Access, Assign, Binder, Call, Compare, Dots, Expr, Logic, Name, Number, Reduction
from opgen.lang.products import reindexed
from opgen.lang.unparse import unparse_assign
from opgen.lang.vocabulary import SPARE
from opgen.lang.walk import names_read, nodes, transform
from opgen.lower.declare import Declarations

OVERWRITTEN = "a part of a tensor is not overwritten: write all of it as one"


def as_one(d: Declarations, whole: Assign, parts: Sequence[Assign]) -> tuple[str, ...]:
    """The statement of the whole with a choice for each part; nothing where one of them is no part of it."""
    made: Assign | None = whole
    for part in parts:
        made = None if made is None else with_part(d, made, part)
    return () if made is None else (f"{OVERWRITTEN}: `{unparse_assign(made)}`",)


def overwritten(d: Declarations, part: Assign) -> tuple[str, ...]:
    """The same for one part, where a statement of the whole stands in front of it."""
    both = [s for s in (*d.forward, *d.backward) if s.target.name == part.target.name]
    return as_one(d, both[0], both[1:]) if len(both) == 2 and both[1] is part and both[0].op == part.op == "=" else ()


def with_part(d: Declarations, whole: Assign, part: Assign) -> Assign | None:
    """`y[n, m] = a` and `y[n, n] = b` as `y[n, m] = where(n == m, b, a)`."""
    own, others = whole.target.items or (), part.target.items or ()
    if not own or len(own) != len(others) or whole.guard is not None or part.guard is not None:
        return None
    names: dict[str, str] = {}  # indices of the part, and what they are called in the whole
    conditions: list[Expr] = []
    for item, other in zip(own, others, strict=True):
        if isinstance(item, Dots) and isinstance(other, Dots):
            continue
        if not isinstance(item, Binder):
            return None
        at = Name(item.name, other.span)
        match other:
            case Number():
                conditions.append(Compare((at, other), ("==",), other.span))
            case Binder(name=name) if name in names:
                conditions.append(Compare((Name(names[name], other.span), at), ("==",), other.span))
            case Binder(name=name, extent=extent):
                names[name] = item.name
                if extent is not None and extent != item.extent:
                    conditions.append(Compare((at, extent), ("<",), other.span))
            case Dots():
                return None
            case _ if {*names_read(other)} <= {*names, *d.params, *d.known_dims()}:
                conditions.append(Compare((at, reindexed(other, names)), ("==",), other.span))
            case _:
                return None
    value = _in_its_indices(whole, part, names)
    if not conditions or value is None:
        return None
    condition = conditions[0] if len(conditions) == 1 else Logic("and", tuple(conditions), part.span)
    return replace(whole, value=Call("where", (condition, value, whole.value), part.span, part.span))


def _in_its_indices(whole: Assign, part: Assign, names: dict[str, str]) -> Expr | None:
    """The value of a part with the indices of the whole; what it reads of the name itself is the value of the whole."""
    own = tuple(Name(i.name, i.span) if isinstance(i, Binder) else i for i in part.target.items or ())

    def step(node: Expr) -> Expr | None:
        same = isinstance(node, Access) and node.name == whole.target.name and node.items == own
        return Name(whole.target.name, node.span) if same else None

    value = transform(part.value, step)
    letters = {i.name for i in whole.target.items or () if isinstance(i, Binder)}
    bound = [b.name for r in nodes(value) if isinstance(r, Reduction) for b in r.binders if isinstance(b, Binder)]
    spare = (c for c in SPARE if c not in (*names, *letters, *bound, *names_read(value)))
    inner = dict(zip((b for b in dict.fromkeys(bound) if b in letters), spare, strict=False))
    value = reindexed(value, inner | names)
    if any(isinstance(n, Access) and n.name == whole.target.name for n in nodes(value)):
        return None
    return transform(value, lambda n: whole.value if n == Name(whole.target.name, n.span) else None)


def next_component(d: Declarations, s: Assign) -> tuple[str, ...]:
    """A statement as that of the first component that has none, where it gives one."""
    items = s.target.items or ()
    place = next((k for k, i in enumerate(items) if isinstance(i, Number)), None)
    if place is None:
        return ()
    others = (o.target.items or () for o in d.forward if o.target.name == s.target.name)
    numbers = (o[place] for o in others if len(o) > place)
    taken = {i.value for i in numbers if isinstance(i, Number)}
    free = next(k for k in count() if k not in taken)
    at = (*items[:place], Number(free, items[place].span), *items[place + 1 :])
    return (f"the next component is `{unparse_assign(replace(s, target=replace(s.target, items=at)))}`",)
