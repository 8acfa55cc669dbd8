"""Updates that read both of their neighbours: with the one before alone, or repeated along an index of the step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.lang.circles import accesses
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Number, Sum
from opgen.lang.unparse import unparse_assign
from opgen.lang.updates import free_name
from opgen.lang.vocabulary import SPARE
from opgen.lang.walk import nodes, transform
from opgen.lower.counts import new_param
from opgen.lower.declare import Declarations


def goes_one_way(s: Assign, names: Sequence[str], index: str) -> str:
    """A statement that reads each element behind its own in front of it; empty where another name is in between."""
    ahead = [(i, a) for a in accesses((s,), names) for i in a.items if _is_ahead(i, index)]
    text = s.span.source.text[s.span.start : s.span.end]
    if len(names) > 1 or not ahead or "\n" in text:
        return ""
    for item, _ in reversed(ahead):
        assert isinstance(item, Sum)
        start, end = item.span.start - s.span.start, item.span.end - s.span.start
        text = text[:start] + text[start:end].replace("+", "-") + text[end:]
    return text


def is_even(s: Assign, one: Access, other: Access) -> bool:
    """Whether a statement adds up two reads of which one stands for the other one as well, as means of neighbours."""
    sums = (n.terms for n in nodes(s.value) if isinstance(n, Sum))
    return any(
        (sign, transform(t, lambda n: one if n == other else None)) in terms
        for terms in sums
        for sign, t in terms
        if any(n == other for n in nodes(t))
    )


def _is_ahead(item: Expr | Dots, index: str) -> bool:
    """Whether a position is an index and a number behind it."""
    match item:
        case Sum(terms=(("+", Name(name=name)), ("+", Number()))):
            return name == index
        case _:
            return False


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
    steps, declared = new_param(d, "steps")

    def before(e: Expr) -> Expr | None:
        if not isinstance(e, Access) or e.name != name:
            return None
        back = Sum((("+", index), ("-", Number(1, at))), at)
        return replace(e, name=new, items=(back, *e.items))

    each = Binder(step, Name(steps, at), at)
    target = replace(s.target, name=new, items=(each, *items))
    repeated = replace(s, target=target, value=transform(s.value, before))
    read = tuple(Name(i.name, at) if isinstance(i, Binder) else i for i in items)
    end = Sum((("+", Name(steps, at)), ("-", Number(1, at))), at)
    last = Access(new, (end, *read), at, at)
    lines = f"`{unparse_assign(repeated)}` and `{unparse_assign(replace(s, value=last))}`"
    settled = "what is repeated, as a relaxation is, reads the step before, for as many steps as it takes to settle"
    return (f"{settled}: write {lines}, {declared}",)


def _is_sized(d: Declarations, s: Assign) -> bool:
    """Whether something else that a statement reads says how far each of its indices runs."""
    others = (a for a in nodes(s.value) if isinstance(a, Access) and a.name in d.shapes)
    alone = {i.name for a in others for i in a.items if isinstance(i, Name)}
    return all(i.extent is not None or i.name in alone for i in s.target.items or () if isinstance(i, Binder))
