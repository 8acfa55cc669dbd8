"""Starts of a recurrence that are given component by component, `p[-1, 0] = 1`: one statement that chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opgen.diagnostics.model import Bag, Hint, Label
from opgen.lang.circles import Step, is_constant
from opgen.lang.nodes import Assign, Binder, Call, Compare, Dots, Expr, Name, Number
from opgen.lang.products import reindexed
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import integer
from opgen.lower.declare import Declarations
from opgen.lower.recurrence_slips import misplaced


def begins_whole(
    d: Declarations, body: Assign, starts: Sequence[Assign], places: Sequence[int], steps: Sequence[Step], bag: Bag
) -> bool:
    """Whether no start of a name chooses a component where the name does not run along; reports it where one does.

    `places`: the positions that run along, each in the order of `steps`.
    """
    chosen = {k: None for s in starts for k in _chosen(body, s, places)}
    if not chosen:
        return True
    place = next(iter(chosen))
    first, *others = [s for s in starts if _chosen(body, s, places)]
    message, hints = f"the start of `{first.target.name}` stands at one component", tuple[str, ...]()
    if len(chosen) == 1 and all(s.guard is None for s in starts):
        made = _joined(body, starts, place)
        hints = _written(starts, made) if _is_outside(made, places, steps) else ()
        hints = hints or misplaced(d, body, made, made[0], places, places[0], steps[0])
    related = tuple(Label(s.target.span, "this too") for s in others)
    bag.error("OPG250", message, first.target.span, hints=hints, related=related)
    return False


def _chosen(body: Assign, s: Assign, places: Sequence[int]) -> list[int]:
    """The positions at which a start has an integer, and what goes on from it an index that it does not run along."""
    found = []
    for k, (item, own) in enumerate(zip(s.target.items or (), body.target.items or (), strict=True)):
        component = None if isinstance(item, Binder | Dots) or k in places else integer(item)
        if component is not None and component >= 0 and isinstance(own, Binder):
            found.append(k)
    return found


def _joined(body: Assign, starts: Sequence[Assign], place: int) -> list[Assign]:
    """One start for each place outside, in the indices of what goes on from it; what no component says is 0."""
    groups: dict[tuple[str, ...], list[Assign]] = {}
    for s in starts:
        items = enumerate(s.target.items or ())
        at = tuple(_constant(i) for k, i in items if k != place and not isinstance(i, Dots) and is_constant(i))
        groups.setdefault(at, []).append(s)
    made = []
    for group in groups.values():
        own = (body.target.items or ())[place]
        assert isinstance(own, Binder)
        base = next((s for s in group if isinstance((s.target.items or ())[place], Binder)), None)
        value: Expr = Number(0, own.span) if base is None else reindexed(base.value, _names(base, body))
        for s in (s for s in reversed(group) if s is not base):
            item = (s.target.items or ())[place]
            if isinstance(item, Binder | Dots) or (given := reindexed(s.value, _names(s, body))) == value:
                continue
            here = Compare((Name(own.name, own.span), item), ("==",), own.span)
            value = Call("where", (here, given, value), own.span, own.span)
        whole = zip(group[0].target.items or (), body.target.items or (), strict=True)
        left = (b if isinstance(i, Binder) and not is_constant(i) else i for i, b in whole)
        items_ = (replace(own, extent=None) if k == place else i for k, i in enumerate(left))
        made.append(replace(group[0], target=replace(group[0].target, items=tuple(items_)), value=value))
    return made


def _constant(item: Binder | Expr) -> str:
    return item.span.text.replace(" ", "")


def _names(s: Assign, body: Assign) -> Mapping[str, str]:
    """The indices of a start as what goes on from it calls them."""
    pairs = zip(s.target.items or (), body.target.items or (), strict=True)
    return {i.name: b.name for i, b in pairs if isinstance(i, Binder) and isinstance(b, Binder) and not is_constant(i)}


def _is_outside(made: Sequence[Assign], places: Sequence[int], steps: Sequence[Step]) -> bool:
    """Whether all starts stand outside, in the direction in which the recurrence looks."""
    return all(
        step.offset * (-1 if _constant(item).startswith("-") else 1) >= 0
        for s in made
        for place, step in zip(places, steps, strict=True)
        if not isinstance(item := (s.target.items or ())[place], Dots) and is_constant(item)
    )


def _written(starts: Sequence[Assign], made: Sequence[Assign]) -> tuple[str, ...]:
    """The lines to write in place of the starts."""
    lines, whole = [unparse_assign(s) for s in made], starts[0].span
    if len(starts) == 1:
        return (Hint(f"a start has all components: write `{lines[0]}`", whole.text, lines[0], whole),)
    return (f"a start has all components: write {', '.join(f'`{line}`' for line in lines)} in place of all of these",)
