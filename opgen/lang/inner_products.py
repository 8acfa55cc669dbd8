"""Products of rows, `q[i, :] * k[j, :]` for a target of `[i, j]`: the sum over the axis that both are read along.

Nodes in, nodes out; what is no product at all of its places is None.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from opgen.lang.layout import layout
from opgen.lang.nodes import Access, Binder, Dots, Expr, Name, Product, Reduction, Target
from opgen.lang.slices import Item, Slice
from opgen.lang.subscripts import target_of
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import nodes, operands, rebuild


def contracted(words: Vocabulary, target: Target, written: Sequence[Item], value: Expr) -> tuple[Target, Expr] | None:
    """The sides with a sum over what the target lacks and factors of a product share; None where they have no such sum.

    `written`: the items of a target that has slices, each of which takes an index that is left over.
    """
    free = [i for i in layout(words, value) if i != "..."]
    own = [i.name for i in written or target.items or () if isinstance(i, Binder | Name)]
    slots = sum(isinstance(i, Slice) for i in written)
    rest = [i for i in free if i not in own]
    named = stated(value)
    over = [i for i in rest if i in named] if written else rest
    if not over or len(rest) - len(over) != slots or len({*own, *rest}) < len(own) + len(rest):
        return None
    if not written and not any(_is_of_slice(n, i) for n in nodes(value) for i in over):
        return None
    summed = _summed(value, over)
    if summed is None:
        return None
    placed = iter(i for i in rest if i not in over)
    items = [
        "..." if isinstance(i, Dots) else next(placed) if isinstance(i, Slice) else i.name
        for i in written or target.items or ()
        if isinstance(i, Dots | Slice | Binder | Name)
    ]
    return target_of(target.name, items, target.span), summed


def in_place(written: Sequence[Item], order: Sequence[str]) -> tuple[str, ...] | None:
    """The indices of a target that has slices: those that are left over, in their order; None where they are others."""
    own = [i.name for i in written if isinstance(i, Name)]
    rest = [i for i in order if i not in (*own, "...")]
    slots = sum(isinstance(i, Slice) for i in written)
    if not {*own} <= {*order} or len(rest) != slots:
        return None
    placed = iter(rest)
    return tuple(
        "..." if isinstance(i, Dots) else next(placed) if isinstance(i, Slice) else i.name
        for i in written
        if isinstance(i, Dots | Slice | Name)
    )


def over_batch(words: Vocabulary, target: Target, value: Expr) -> Target:
    """A target with the batch that its value has, where it names its indices and not that."""
    items = target.items or ()
    plain = items and all(isinstance(i, Binder) for i in items) and words.results.get(target.name) is None
    return replace(target, items=(Dots(target.span), *items)) if plain and "..." in layout(words, value) else target


def stated(value: Expr) -> set[str]:
    """The indices that a person wrote, as those of slices and bare tensors are not."""
    return {n.name for n in nodes(value) if isinstance(n, Name) and n.span.text == n.name}


def _is_of_slice(n: Expr, index: str) -> bool:
    at = n.items if isinstance(n, Access) else ()
    return any(isinstance(i, Name) and i.name == index and i.span.text.startswith(":") for i in at)


def _reads(e: Expr, over: Collection[str]) -> bool:
    return any(isinstance(n, Name) and n.name in over for n in nodes(e))


def _summed(e: Expr, over: Sequence[str]) -> Expr | None:
    """The expression with its innermost part that holds all of these indices as a sum over them, if it is a product."""
    reading = [o for o in operands(e) if _reads(o, over)]
    if len(reading) == 1 and not isinstance(e, Access):
        inner = _summed(reading[0], over)
        return None if inner is None else rebuild(e, lambda o: inner if o is reading[0] else o)
    if not isinstance(e, Product) or any(op != "*" for op, f in e.factors if f in reading):
        return None
    if any(not any(_reads(f, (i,)) for f in reading) for i in over):
        return None
    within = Product(tuple(("*", f) for f in reading), e.span)
    binders = tuple(Binder(i, None, e.span) for i in over)
    made = Reduction("sum", binders, within, e.span, e.span)
    others = tuple((op, f) for op, f in e.factors if f not in reading)
    if not others:
        return made
    if others[0][0] == "*" and e.factors[0][1] not in reading:
        return replace(e, factors=(others[0], ("*", made), *others[1:]))
    return replace(e, factors=(("*", made), *others))
