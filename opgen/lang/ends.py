"""Extents that are written otherwise than `i < N`: `w <= window`, `w <= window - 1`, `window > w` and `1 <= k <= K`.

The items of brackets and the body in, both as they are meant out, with what is said of them noted. `w <= window` may
stand for `w < window` or for one more: both are told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.lang import habits
from opgen.lang.limits import size_of
from opgen.lang.nodes import Access, Compare, Dots, Expr, Name, Number, Product, Reduction, Sum, Unary
from opgen.lang.notes import Notes
from opgen.lang.ranges import ranges_of
from opgen.lang.slices import total
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import nodes, rebuild

_NO_INDEX = "this is no plain index"


def ended(notes: Notes, items: tuple[Expr | Dots, ...], body: Expr) -> tuple[tuple[Expr | Dots, ...], Expr]:
    """The brackets and the body of a reduction whose indices end at sizes; other conditions stay as they are."""
    if ranges_of(items) is not None:  # those that begin below 0 are moved together
        return items, body
    made = list(items)
    for k, item in enumerate(items):
        if not isinstance(item, Compare) or (found := _end(notes.words, item, notes.bound)) is None:
            continue
        first, index, sign, end = found
        size = size_of(notes.words, index.name, body)
        alone = _is_alone(body, index.name)
        whole = size is not None and total([(1, end), (-1, size)], end.span) in (_number(end, 0), _number(end, -1))
        if alone and (not whole or first is not None or sign == "<"):
            continue
        if whole:
            notes.note(item.span, habits.PLAIN, "an index ends before its extent", code="OPG246")
            made[k] = index
            continue
        made[k] = _counted(notes, item, found, habits.PLAIN, "OPG246")
        if first is not None:
            body = _moved(body, index, first)
    return tuple(made), body


def ended_target(notes: Notes, items: Sequence[Expr | Dots]) -> tuple[Expr | Dots, ...]:
    """The brackets of a target whose indices end at sizes."""
    made = list(items)
    for k, item in enumerate(items):
        found = _end(notes.words, item, ()) if isinstance(item, Compare) else None
        if isinstance(item, Compare) and found is not None and found[0] is None:
            made[k] = _counted(notes, item, found, _NO_INDEX, "OPG241")
    return tuple(made)


_End = tuple[Expr | None, Name, str, Expr]  # where an index begins, if not at 0, the index, and what it ends at


def _end(words: Vocabulary, item: Compare, bound: Sequence[str]) -> _End | None:
    """Where a condition says that an index begins and ends; None where it says something else, or is an extent."""
    first: Expr | None = None
    sign: str
    match item:
        case Compare(operands=(Name() as index, end), ops=("<=",)) if not words.knows(index.name):
            sign = "<="
        case Compare(operands=(end, Name() as index), ops=(">" | ">=" as turned,)) if not words.knows(index.name):
            sign = "<=" if turned == ">=" else "<"
        case Compare(operands=(begin, Name() as index, end), ops=("<" | "<=" as least, "<" | "<=" as end_sign)):
            sign = end_sign
            first = total([(1, begin), (int(least == "<"), Number(1, begin.span))], begin.span)
            first = None if first == _number(first, 0) else first
        case _:
            return None
    parts = [n for e in (end, *(() if first is None else (first,))) for n in nodes(e)]
    sized = all(isinstance(n, Number | Name | Sum | Product | Unary) for n in parts)
    names = [n.name for n in parts if isinstance(n, Name)]
    if not sized or any(not words.is_size(n) or n in bound for n in names) or words.knows(index.name):
        return None
    return first, index, sign, end


def _counted(notes: Notes, item: Compare, found: _End, message: str, code: str) -> Compare:
    """The index with its extent; the other reading is noted beside it where there is one."""
    first, index, sign, end = found
    one_more = total([(1, end), (1, Number(1, end.span))], end.span)
    size = one_more if sign == "<=" else end
    if first is None and sign == "<=":
        notes.note(item.span, message, "an extent is written with `<`: its end is not reached", code=code)
        if not _is_less_one(end):
            size = end
            after = Compare((index, one_more), ("<",), item.span)
            notes.alternatives.append(
                f"or, where `{index.name} = {unparse(end)}` is to be reached, with `{unparse(after)}`"
            )
    elif first is None:
        notes.note(item.span, message, "an extent stands behind its index", code=code)
    else:
        notes.note(item.span, message, "an index runs from 0", code=code)
        size = total([(1, size), (-1, first)], end.span)
    return Compare((index, size), ("<",), item.span)


def _is_less_one(end: Expr) -> bool:
    """Whether it is the last one that is named, `N - 1`."""
    return isinstance(end, Sum) and any(op == "-" and e == _number(e, 1) for op, e in end.terms)


def _number(at: Expr, value: int) -> Expr:
    return total([(1, Number(value, at.span))], at.span)


def _is_alone(body: Expr, index: str) -> bool:
    """Whether an access of the body has an index alone at a position, which says how far it runs."""
    items = (i for a in nodes(body) if isinstance(a, Access) for i in a.items)
    return any(isinstance(i, Name) and i.name == index for i in items)


def _moved(body: Expr, index: Name, first: Expr) -> Expr:
    """A body whose index begins at 0, and began at `first`."""
    if isinstance(body, Name) and body.name == index.name:
        return total([(1, body), (1, first)], body.span)
    if isinstance(body, Reduction):
        return replace(body, body=_moved(body.body, index, first))
    if isinstance(body, Sum):
        parts = [(1 if op == "+" else -1, _moved(e, index, first)) for op, e in body.terms]
        if any(isinstance(e, Name) and e.name == index.name for _, e in body.terms):
            return total(parts, body.span)
    return rebuild(body, lambda e: _moved(e, index, first))
