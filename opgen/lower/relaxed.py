"""Updates that read both of their neighbours, as a relaxation does that is repeated: with an index of the step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.lang.circles import accesses
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Number, Sum
from opgen.lang.unparse import unparse_assign
from opgen.lang.updates import free_name
from opgen.lang.vocabulary import SPARE
from opgen.lang.walk import nodes, transform
from opgen.lower.declare import Declarations

_COUNT = 50  # a number of steps, as an example


def relaxed(d: Declarations, s: Assign, names: Sequence[str], starts: Sequence[Assign]) -> tuple[str, ...]:
    """How `u[i] = (u[i - 1] + u[i + 1])/2` is repeated; nothing where that is not certain."""
    name, items, at = s.target.name, s.target.items or (), s.span
    own = accesses((s,), names)
    plain = all(isinstance(i, Binder | Dots) for i in items) and all(len(a.items) == len(items) for a in own)
    if len(names) > 1 or starts or s.guard is not None or not plain or not _is_sized(d, s):
        return ()
    taken = {n.name for n in nodes(s.value) if isinstance(n, Name | Access)}
    taken |= {i.name for i in items if isinstance(i, Binder)}
    step = next(c for c in ("s", "t", *SPARE) if c not in taken and not d.words.knows(c) and c not in d.targets())
    new, index = free_name(d.words, name), Name(step, at)

    def before(e: Expr) -> Expr | None:
        if not isinstance(e, Access) or e.name != name:
            return None
        back = Sum((("+", index), ("-", Number(1, at))), at)
        return replace(e, name=new, items=(back, *e.items))

    each = Binder(step, Number(_COUNT, at), at)
    target = replace(s.target, name=new, items=(each, *items))
    repeated = replace(s, target=target, value=transform(s.value, before))
    read = tuple(Name(i.name, at) if isinstance(i, Binder) else i for i in items)
    last = Access(new, (Number(_COUNT - 1, at), *read), at, at)
    lines = f"`{unparse_assign(repeated)}` and `{unparse_assign(replace(s, value=last))}`"
    return (f"what is repeated, as a relaxation is, reads the step before, for {_COUNT} steps: write {lines}",)


def _is_sized(d: Declarations, s: Assign) -> bool:
    """Whether something else that a statement reads says how far each of its indices runs."""
    others = (a for a in nodes(s.value) if isinstance(a, Access) and a.name in d.shapes)
    alone = {i.name for a in others for i in a.items if isinstance(i, Name)}
    return all(i.extent is not None or i.name in alone for i in s.target.items or () if isinstance(i, Binder))
