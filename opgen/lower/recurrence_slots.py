"""Along which indices a recurrence runs, and which way.

In go the statements of its names; out come slots. A read goes back along a slot, by one or more, or stands still
there. Where a single index goes one back at every such read, the statements may each call it as they like.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from opgen.diagnostics.model import Bag, Label
from opgen.lang.circles import Step, accesses, is_constant, shift_of
from opgen.lang.nodes import Access, Assign, Binder, Call, Expr
from opgen.lang.walk import operands

_GUARDS = ("where", "pad")


def slots(
    bodies: Mapping[str, Assign], starts: Mapping[str, Sequence[Assign]], names: Sequence[str], bag: Bag
) -> tuple[Step, ...]:
    """The indices along which the names run, as the first statement calls them, each with -1 or +1 for the way that
    its reads go; none after a mistake."""
    step = _only(bodies, starts, names)
    return (step,) if step is not None else _several(bodies, names, bag)


def _only(bodies: Mapping[str, Assign], starts: Mapping[str, Sequence[Assign]], names: Sequence[str]) -> Step | None:
    """The index that is one place back at every read at another place, if there is no more to it."""
    if any(
        len(found) > 1 or sum(map(is_constant, s.target.items or ())) > 1 for found in starts.values() for s in found
    ):
        return None
    along: list[Step] = []
    for s in bodies.values():
        moved = [steps for a in accesses((s,), names) if (steps := _shifts(a))]
        if not moved:
            continue
        common = [step for step in moved[0] if abs(step.offset) == 1 and all(step in steps for steps in moved)]
        if not common or any(not _is_guarded(s, a, common[0]) for a in accesses((s,), names)):
            return None
        along.append(common[0])
    return along[0]


def _is_guarded(s: Assign, a: Access, step: Step) -> bool:
    """Whether a read stands still along all indices of its statement but one, or under a condition."""
    own = {i.name for i in s.target.items or () if isinstance(i, Binder)}
    others = [other for other in _shifts(a) if other.index in own and other.index != step.index]
    return not others or a not in list(_bare(s.value))


def _bare(e: Expr) -> Iterator[Access]:
    """Accesses that no condition keeps from being evaluated."""
    if isinstance(e, Call) and e.name in _GUARDS:
        return
    if isinstance(e, Access):
        yield e
    for o in operands(e):
        yield from _bare(o)


def _several(bodies: Mapping[str, Assign], names: Sequence[str], bag: Bag) -> tuple[Step, ...]:
    """All indices of the names that reads go back along."""
    found: dict[str, tuple[Step, Access]] = {}
    for s in bodies.values():
        own = {i.name for i in s.target.items or () if isinstance(i, Binder)}
        for a in accesses((s,), names):
            for step in _shifts(a):
                if step.index not in own:
                    continue
                way = Step(step.index, 1 if step.offset > 0 else -1)
                first = found.setdefault(step.index, (way, a))
                if first[0] != way:
                    message = f"this recurrence runs along `{step.index}` upwards and downwards"
                    hints = ("run one name upwards and another one downwards, and combine them afterwards",)
                    related = (Label(first[1].span, "the other way here"),)
                    bag.error("OPG250", message, a.span, related=related, hints=hints)
                    return ()
    if not found:
        first_read = next(a for s in bodies.values() for a in accesses((s,), names) if _shifts(a))
        message = "a recurrence goes back along an index of its own"
        hints = (f"`{_shifts(first_read)[0].index}` stands nowhere left of `=`",)
        bag.error("OPG250", message, first_read.span, hints=hints)
    return tuple(step for step, _ in found.values())


def _shifts(a: Access) -> tuple[Step, ...]:
    return tuple(s for i in a.items if (s := shift_of(i)) is not None)
