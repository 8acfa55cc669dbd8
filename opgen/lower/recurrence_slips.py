"""What is said of starts of recurrences that stand at the wrong place."""

from __future__ import annotations

from dataclasses import replace

from opgen.lang.circles import Step, accesses, shift_of
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Number, Sum
from opgen.lang.unparse import unparse, unparse_target
from opgen.lang.walk import transform


def _text(item: Expr | Dots) -> str:
    return "..." if isinstance(item, Dots) else unparse(item)


def start_hints(body: Assign, s: Assign, place: int, step: Step) -> tuple[str, ...]:
    """Where the start belongs, and how an element inside is given its value."""
    items = list(s.target.items or ())
    item = items[place]
    where_ = "-1" if step.offset < 0 else "N"
    shown = ["..." if isinstance(i, Dots) else i.name if isinstance(i, Binder) else _text(i) for i in items]
    moved = ", ".join(where_ if k == place else text for k, text in enumerate(shown))
    value = unparse(s.value)
    hint = f"the start stands one place before the first element: write `{s.target.name}[{moved}] = {value}`"
    if step.offset > 0:
        return (f"downwards the start stands at the extent, as in `{s.target.name}[{moved}] = {value}`",)
    if isinstance(item, Binder | Name):
        return (hint,)
    along = (body.target.items or ())[place]
    index = along.name if isinstance(along, Binder) else step.index
    inside = f"{unparse_target(body.target)} = where({index} == {_text(item)}, {value}, {unparse(body.value)})"
    return (hint, f"or, for an element itself, `{inside}`")


def one_back(start: Assign, s: Assign, place: int) -> tuple[str, ...]:
    """How a recurrence that is written to the next element, `v[t + 1] = f(v[t])`, is written to its own.

    Its elements are then those from the second on, so that only what it reads of itself moves.
    """
    items, name = s.target.items or (), s.target.name
    item = items[place] if place < len(items) else None
    step = None if item is None or isinstance(item, Dots | Binder) else shift_of(item)
    if step is None or step.offset != 1:
        return ()
    index = Name(step.index, s.span)
    back = Sum((("+", index), ("-", Number(1, s.span))), s.span)

    def moved(e: Expr) -> Expr | None:
        if not isinstance(e, Access) or e.name != name:
            return None
        return Access(name, (*e.items[:place], back, *e.items[place + 1 :]), e.span, e.name_span)

    own, value = accesses((s,), (name,)), transform(s.value, moved)
    others = [i.name if isinstance(i, Binder) else _text(i) for i in items]
    at = ", ".join(step.index if k == place else text for k, text in enumerate(others))
    before = ", ".join("-1" if k == place else text for k, text in enumerate(others))
    first = f"the start stands one place before the first element: `{name}[{before}] = {unparse(start.value)}`"
    known = all(len(a.items) == len(items) and a.items[place] == index for a in own)
    left = any(a.items[place] == index for a in accesses((replace(s, value=value),), (name,))) if known else True
    if not own or left or s.guard is not None:
        return (first, f"and an element is written at `{step.index}`, from what stands at `{step.index} - 1`")
    also = f"what stood at `{step.index} + 1` stands at `{step.index}` then, also where it is read"
    return (first, f"and an element is written from the one before: `{name}[{at}] = {unparse(value)}`", also)
