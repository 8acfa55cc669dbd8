"""A table that is written to its next element, `d[i + 1, j + 1] = … d[i, j]`: the lines with plain indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.diagnostics.suggest import listed
from opgen.lang.circles import shift_of
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Number, Sum
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.walk import integer, names_read, nodes, rebuild
from opgen.lower.declare import Declarations

_PLAIN = "left of `=` stand plain indices, and what is before the first of them is at -1"


def table_ahead(d: Declarations, s: Assign) -> tuple[str, ...]:
    """All that names a table, counted from its first element; nothing where `s` is no step to a next one on two axes.

    `s`: the statement whose target stands further on than what it reads.
    """
    offsets = [_offset(i) for i in s.target.items or ()]
    ahead = [k for k, offset in enumerate(offsets) if offset]
    shown = [_name(i) for i in s.target.items or ()]
    reads = [a for a in nodes(s.value) if isinstance(a, Access) and a.name == s.target.name]
    itself = [unparse(i) if not isinstance(i, Binder | Dots) else _name(i) for i in s.target.items or ()]
    if len(ahead) < 2 or any(offset < 0 for offset in offsets) or s.op != "=" or s.target.name in d.outputs:
        return ()
    if not reads or len({*shown}) < len(shown) or any([_name_read(i) for i in a.items] == itself for a in reads):
        return ()
    own = [o for o in d.forward if o.target.name == s.target.name or s.target.name in names_read(o.value)]
    lines = [_line(o, s, offsets) for o in own]
    written = [line for line in lines if line is not None]
    if len(written) != len(lines):
        return ()
    given = [o for o in own if o is not s and o.target.name == s.target.name]
    told = f"{_PLAIN}: write {listed([unparse_assign(line) for line in written], 'and')}"
    borders = [
        f"{s.target.name}[{', '.join('-1' if k == at else i for k, i in enumerate(shown))}] = inf" for at in ahead
    ]
    if any(isinstance(i, Binder) and k in ahead for o in given for k, i in enumerate(o.target.items or ())):
        return (told,)
    return (told, f"what no start gives is 0; where it is infinite, write {listed(borders, 'and')}, too")


def _name_read(item: Expr | Dots) -> str:
    return "..." if isinstance(item, Dots) else unparse(item)


def _offset(item: Binder | Dots | Expr) -> int:
    """How far a position of a target stands in front of its index."""
    shift = None if isinstance(item, Binder) else shift_of(item)
    return 0 if shift is None else shift.offset


def _name(item: Binder | Dots | Expr) -> str:
    if isinstance(item, Dots):
        return "..."
    shift = None if isinstance(item, Binder) else shift_of(item)
    return item.name if isinstance(item, Binder) else unparse(item) if shift is None else shift.index


def _line(o: Assign, s: Assign, offsets: Sequence[int]) -> Assign | None:
    """A statement with each position of the table as many places back; None where one cannot be moved."""
    good = True

    def step(e: Expr) -> Expr:
        nonlocal good
        made = rebuild(e, step)
        if isinstance(made, Name) and made.name == s.target.name:
            good = False
        if not isinstance(made, Access) or made.name != s.target.name:
            return made
        items = [_back(i, by) for i, by in zip(made.items, offsets, strict=False)]
        good = good and len(made.items) == len(offsets) and None not in items
        return replace(made, items=tuple(i for i in items if i is not None))

    value = step(o.value)
    items = o.target.items
    if o.target.name == s.target.name:
        if items is None or len(items) != len(offsets):
            return None
        left = [_left(i, by) for i, by in zip(items, offsets, strict=True)]
        moved = [i.name for i, by in zip(items, offsets, strict=True) if isinstance(i, Binder) and by]
        good = good and None not in left and not any(i in names_read(value) for i in moved)
        items = tuple(i for i in left if i is not None)
    return replace(o, target=replace(o.target, items=items), value=value) if good else None


def _left(item: Binder | Dots | Expr, by: int) -> Binder | Dots | Expr | None:
    """A position of a target so many places back; a start along an index stays along it."""
    if isinstance(item, Binder):
        return item if item.extent is None or not by else None
    shift, number = shift_of(item), None if isinstance(item, Dots) else integer(item)
    if number is not None and number < 0:
        return item  # in front of the first element as it is
    return Binder(shift.index, None, item.span) if shift is not None and shift.offset == by else _back(item, by)


def _back(item: Expr | Dots, by: int) -> Expr | Dots | None:
    """A position so many places back; None of one that is no index, size or number."""
    if isinstance(item, Dots) or not by:
        return item
    shift, number = shift_of(item), integer(item)
    if number is not None:
        return _number(number - by, item)
    if not isinstance(item, Name) and shift is None:
        return None
    index = Name(item.name if isinstance(item, Name) else shift.index if shift is not None else "", item.span)
    moved = (0 if shift is None else shift.offset) - by
    sign = "+" if moved > 0 else "-"
    return Sum((("+", index), (sign, Number(abs(moved), item.span))), item.span) if moved else index


def _number(value: int, at: Expr) -> Expr:
    return Name(str(value), at.span) if value < 0 else Number(value, at.span)
