"""Which way a recurrence runs, and what is said of one that runs no way that the language has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from opgen.diagnostics.model import Bag, Label
from opgen.lang.circles import Step, accesses, shift_of, step_of
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Number, Sum
from opgen.lang.unparse import unparse, unparse_target
from opgen.lang.walk import transform

_FURTHEST = 8  # places back that are spelt out


def direction(bodies: Mapping[str, Assign], names: Sequence[str], outputs: Sequence[str], bag: Bag) -> Step | None:
    """The index along which every read at another place goes one back, and which way; None after a mistake.

    Each statement may call that index as it likes; the first one's name is given. `outputs` are those to list where a
    message proposes another name.
    """
    found = [
        _along(s, moved, outputs, bag) for s in bodies.values()
        if (moved := [a for a in accesses((s,), names) if _shifts(a)])
    ]  # fmt: skip
    return None if None in found else found[0]


def _along(s: Assign, moved: Sequence[Access], outputs: Sequence[str], bag: Bag) -> Step | None:
    """The same for the reads of one statement."""
    steps = [[step for i in a.items if (step := step_of(i)) is not None] for a in moved]
    near = [step for found in steps for step in found]
    common = [step for step in dict.fromkeys(near) if all(step in found for found in steps)]
    if common:
        return common[0]
    along = next((step for step in near if all(_goes(a, step) for a in moved)), None)
    if along is not None:
        return along  # one of them reads further away, which is told where it stands
    first = moved[0]
    indices = tuple(dict.fromkeys(step.index for a in moved for step in _shifts(a)))
    if len(indices) > 1:
        _two_axes(s, moved, indices, bag)
    elif not near:
        message = f"a recurrence reads its own names at `{_index(first)}` and one place back only"
        bag.error("OPG250", message, first.span, hints=carried(s, first, _nearest(first), outputs))
    else:
        other = next(a for a in moved if not _goes(a, _shifts(first)[0]))
        message = f"this recurrence runs along `{indices[0]}` upwards and downwards"
        hints = ("run one name upwards and another one downwards, and combine them afterwards",)
        bag.error("OPG250", message, other.span, related=(Label(first.span, "the other way here"),), hints=hints)
    return None


def _goes(a: Access, step: Step) -> bool:
    """Whether a read goes back along this index, this way, however far."""
    return any(s.index == step.index and (s.offset > 0) == (step.offset > 0) for s in _shifts(a))


def _shifts(a: Access) -> tuple[Step, ...]:
    return tuple(s for i in a.items if (s := shift_of(i)) is not None)


def _index(a: Access) -> str:
    return _shifts(a)[0].index


def _nearest(a: Access) -> Step:
    step = _shifts(a)[0]
    return Step(step.index, 1 if step.offset > 0 else -1)


# --- along two axes --------------------------------------------------------------------------------------------------


def _two_axes(s: Assign, moved: Sequence[Access], indices: tuple[str, ...], bag: Bag) -> None:
    first = moved[0]
    other = next(a for a in moved if not _goes(a, _shifts(first)[0]))
    lacks = f"does not go back along `{_index(first)}`"
    message = f"`{first.name}` is a recurrence along `{indices[0]}` and `{indices[1]}` together"
    notes = ("a recurrence runs along one index: at every read of its own that index is one place back",)
    bag.error(
        "OPG250", message, other.span, label=lacks,
        related=(Label(first.span, f"goes back along `{_index(first)}`"),), notes=notes,
        hints=_diagonals(s, moved, indices),
    )  # fmt: skip


def _diagonals(s: Assign, moved: Sequence[Access], indices: tuple[str, ...]) -> tuple[str, ...]:
    """The same along the diagonals, where every read is one of them back, or two."""
    i, j = indices[:2]
    back = [{s.index: -s.offset for s in _shifts(a)} for a in moved]
    if any(step < 0 or set(b) - {i, j} for b in back for step in b.values()) or len(indices) > 2:
        return ()
    taken = {item.name for item in s.target.items or () if isinstance(item, Binder)}
    t = next(c for c in "tsuvw" if c not in taken)
    rows = []
    for a, b in dict(zip((unparse(a) for a in moved), back, strict=True)).items():
        total, down = b.get(i, 0) + b.get(j, 0), b.get(i, 0)
        if total > 2:
            return ()
        row = i if not down else f"{i} - {down}"
        rows.append(f"`{a}` is `diagonal[{t} - 1, {row}]`" if total == 1 else f"`{a}` is `before[{t} - 1, {row}]`")
    before = f", with `before[{t}, {i}] = diagonal[{t} - 1, {i}]`" if any("before" in row for row in rows) else ""
    return (f"run along the diagonals `{t} = {i} + {j}`: {', '.join(rows)}{before}",)


# --- what would be right ---------------------------------------------------------------------------------------------


def carried(body: Assign, a: Access, step: Step, outputs: Sequence[str]) -> tuple[str, ...]:
    """How a read from further back is written with other names that the recurrence takes along.

    `outputs` are those to list, so that these names are none.
    """
    sign = "-" if step.offset < 0 else "+"
    far = next((s for s in _shifts(a) if s.index == step.index and 2 <= abs(s.offset) <= _FURTHEST), None)
    items = body.target.items or ()
    if far is None or len(items) != len(a.items):
        return (f"carry it along under a name of its own: `before[t] = {a.name}[t {sign} 1]`",)
    place = next(k for k, i in enumerate(a.items) if shift_of(i) == far)
    own = ["..." if isinstance(i, Dots) else i.name if isinstance(i, Binder) else "" for i in items]
    near = [f"{n} {sign} 1" if k == place else n for k, n in enumerate(own)]
    read = [f"{n} {sign} 1" if k == place else _text(i) for k, (n, i) in enumerate(zip(own, a.items, strict=True))]
    names = [a.name, f"before_{a.name}", *(f"before_{a.name}_{n}" for n in range(2, abs(far.offset)))]
    carry = [f"`{late}[{', '.join(own)}] = {early}[{', '.join(near)}]`" for early, late in pairwise(names)]
    hint = f"carry it along: {', '.join(carry)}, and read `{names[-1]}[{', '.join(read)}]` for `{unparse(a)}`"
    listed = f"outputs: [{', '.join(outputs)}]"
    also = f"and list the outputs, of which `{names[1]}` is none: `{listed}`"
    return (hint, also) if outputs else (hint,)


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
