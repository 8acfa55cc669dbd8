"""A value that a statement makes of itself, `w = w/sum(w)` or `w += f(w)` of other languages: new names before it.

The last one keeps the name, so that outputs and what reads it further down stay as they are. In go the statements of a
block, out come lines of help.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.lang.circles import constant_part
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Reduction
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.updates import free_name, new_value, read_as
from opgen.lang.walk import names_read, nodes, transform
from opgen.lower.declare import Declarations

_FIXED = "a recurrence reads its own earlier values at fixed distances"


def renamed(d: Declarations, name: str) -> tuple[str, ...]:
    """All lines that change where each value of a name gets one of its own; nothing where one of them is not read."""
    block = d.forward if any(s.target.name == name for s in d.forward) else d.backward
    own = [s for s in block if s.target.name == name]
    starts = [s for s in own if _is_value(s)]
    among = [(a, i) for s in own for a, i in _at_bound(s)] if any(map(_is_diagonal, own)) else []
    if among:
        access, item = among[0]
        return (f"{_FIXED}, such as `{name}[i, j - 1]`: `{unparse(access)}` is read at `{unparse(item)}`, which runs",)
    if any(map(_moved, own)):
        return _within_steps(d, name, block)
    if own[0].op != "=" or any(s.guard is not None or constant_part(s) is not None for s in own):
        return ()
    names = _names(d, name, len(starts))
    lines: list[str] = []
    current, read = "", True
    for s in block[block.index(own[0]) : block.index(own[-1]) + 1]:
        made = read_as(s, {name: current}) if current else s
        read = read or name in names_read(s.value)
        if s.target.name == name:
            if _is_value(s):
                if not read or (not current and name in names_read(s.value)):
                    return ()
                before, current, read = current, names.pop(0), False
                whole = made if s.op == "=" else new_value(d.words, made, before, current)
                if whole is None:
                    return ()
                made = whole
            made = replace(made, target=replace(made.target, name=current))
        if made != s or s is own[-1]:
            lines.append(f"`{unparse_assign(made)}`")
    return (f"a new value is a new name, and the last one keeps it: write {', '.join(lines[:-1])} and {lines[-1]}",)


def _within_steps(d: Declarations, name: str, block: Sequence[Assign]) -> tuple[str, ...]:
    """The same for what goes on from the step before, which is the last value of that step."""
    own = [s for s in block if s.target.name == name and constant_part(s) is None]
    first, left = own[0], [*map(_index, own[0].target.items or ())]
    if len(own) < 2 or first.op != "=" or any(s.guard is not None for s in own):
        return ()
    if any([*map(_index, s.target.items or ())] != left for s in own) or "" in left:
        return ()
    names = _names(d, name, len(own))
    lines: list[str] = []
    current, read = "", True
    for s in block[block.index(first) : block.index(own[-1]) + 1]:
        made = _read_here(s, name, current) if current else s
        read = read or made != s or s.op != "="
        if s in own:
            if not read:
                return ()
            before, current, read = current, names.pop(0), False
            whole = made if s.op == "=" else new_value(d.words, made, before, current)
            if whole is None:
                return ()
            made = replace(whole, target=replace(whole.target, name=current))
        if made != s or s is own[-1]:
            lines.append(f"`{unparse_assign(made)}`")
    back = next(a for s in own for a in _own_reads(s) if _is_moved(s, a))
    told = f"what comes last keeps the name that `{unparse(back)}` reads"
    return (f"{told}: write {', '.join(lines[:-1])} and {lines[-1]}",)


def _read_here(s: Assign, name: str, other: str) -> Assign:
    """A statement with another name for what it reads of the step at hand."""

    def step(e: Expr) -> Expr | None:
        if isinstance(e, Access) and e.name == name and not _is_moved(s, e):
            return replace(e, name=other)
        return None

    return replace(s, value=transform(s.value, step))


def _index(item: Binder | Dots | Expr) -> str:
    return "..." if isinstance(item, Dots) else item.name if isinstance(item, Binder) else ""


def _names(d: Declarations, name: str, count: int) -> list[str]:
    """A name for each value; the last one is the name itself."""
    found: list[str] = []
    own = f"d{name.removeprefix('grad_')}" if name.startswith("grad_") else name  # no gradient of an input
    for _ in range(count - 1):
        first = 1 + (int(found[-1].removeprefix(own)) if found else 0)
        found.append(free_name(d.words, own, first))
    return [*found, name]


def _is_value(s: Assign) -> bool:
    """Whether a statement makes a new value: an update that reads its own name, `y += f(y)`, does so as well."""
    return s.op == "=" or s.target.name in names_read(s.value)


def _is_diagonal(s: Assign) -> bool:
    """Whether an index stands twice on the left, as in the start of a recurrence over intervals."""
    left = [i.name for i in s.target.items or () if isinstance(i, Binder)]
    return len({*left}) < len(left)


def _at_bound(s: Assign) -> list[tuple[Access, Expr]]:
    """Where a statement reads its own name at an index that a reduction in it binds, with that position."""
    bound = [b.name for r in nodes(s.value) if isinstance(r, Reduction) for b in r.binders if isinstance(b, Binder)]
    items = [(a, i) for a in _own_reads(s) for i in a.items if not isinstance(i, Dots)]
    return [(a, i) for a, i in items if any(name in bound for name in names_read(i))]


def _moved(s: Assign) -> bool:
    """Whether a statement reads its own name at other positions than one of its indices, as a recurrence does."""
    return any(_is_moved(s, read) for read in _own_reads(s))


def _own_reads(s: Assign) -> list[Access]:
    return [n for n in nodes(s.value) if isinstance(n, Access) and n.name == s.target.name]


def _is_moved(s: Assign, read: Access) -> bool:
    left = {i.name for i in s.target.items or () if isinstance(i, Binder)}
    return any(_shifted(i, left) for i in read.items)


def _shifted(item: Expr | Dots, left: set[str]) -> bool:
    return not isinstance(item, Name | Dots) and any(name in left for name in names_read(item))
