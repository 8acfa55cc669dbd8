"""Diagonals and triangles of matrices, `diag(x)`, `fill_diagonal_(x, 0)`, `tril(x)`, as what they read or choose.

Nodes in, nodes out; None where a size or an index is not known for certain.
"""

from __future__ import annotations

from collections.abc import Sequence

from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import Call, Compare, Expr, Name, Number
from opgen.lang.slices import total
from opgen.lang.spread import Named, Spread, at, axis_of, size_at
from opgen.lang.vocabulary import SPARE, Vocabulary
from opgen.lang.walk import integer, nodes

Turned = Sequence[tuple[Expr, tuple[str, ...]]]

_OFFSETS = ("offset", "diagonal", "k")
_AXES = (("dim1", "axis1"), ("dim2", "axis2"))


def on_diagonals(words: Vocabulary, name: str, args: Sequence[Expr], named: Named, turned: Turned) -> Spread | None:
    """What a call means that reads, fills or makes diagonals, or keeps a triangle; `turned` as in `spread`."""
    plain = {k: v for k, v in named.items() if not isinstance(v, tuple)}
    offset = next((v for k, v in plain.items() if k in _OFFSETS), None)
    axes = [next((v for k, v in plain.items() if k in names), None) for names in _AXES]
    match name, args:
        case "tril" | "triu", (of, *by) if len(by) < 2:
            return _triangle(words, of, "<=" if name == "tril" else ">=", next(iter(by), offset), turned)
        case "fill_diagonal", (of, value, *_) if {*named} <= {"wrap"}:
            return _filled(words, of, value, turned)
        case "diag_embed", (of, *by) if not {*named} - {*_OFFSETS}:
            return _matrix(words, of, next(iter(by), offset))
        case "diag", (of, *by) if len(layout(words, spelled(words, of))) == 1:
            return _matrix(words, of, next(iter(by), offset))
        case "diag" | "diagonal", (of, *by):
            places: list[Expr | None] = [offset, *axes]
            places[: len(by)] = by
            return _read(words, of, places[0], places[1:], turned)
        case _:
            return None


def _order(words: Vocabulary, of: Expr, whole: Expr, turned: Turned) -> tuple[str, ...]:
    """The indices of a matrix; of the same number at each place, those of one that was spread, or that is made."""
    order = next((order for node, order in turned if node is of), layout(words, whole))
    if order:
        return order
    own = (o for node, o in reversed(turned) if any(n is node for n in nodes(of)))
    return next(own, tuple(words.left) if {*words.bound} <= {*words.left} else ())


def _triangle(words: Vocabulary, of: Expr, op: str, by: Expr | None, turned: Turned) -> Spread | None:
    whole = spelled(words, of)
    order = _order(words, of, whole, turned)
    if len(order) < 2 or "..." in order[-2:]:
        return None
    row, column = (Name(i, of.span) for i in order[-2:])
    kept = Compare((column, _moved(row, by)), (op,), of.span)
    return Spread(Call("where", (kept, whole, Number(0, of.span)), of.span, of.span), order)


def _filled(words: Vocabulary, of: Expr, value: Expr, turned: Turned) -> Spread | None:
    whole = spelled(words, of)
    order = _order(words, of, whole, turned)
    if len(order) < 2 or "..." in order[-2:] or layout(words, value):
        return None
    row, column = (Name(i, of.span) for i in order[-2:])
    same = Compare((row, column), ("==",), of.span)
    return Spread(Call("where", (same, value, whole), of.span, of.span), order)


def _matrix(words: Vocabulary, of: Expr, by: Expr | None) -> Spread | None:
    """A matrix with a vector on its diagonal, and 0 elsewhere; beside the diagonal it would be larger."""
    whole = spelled(words, of)
    order = layout(words, whole)
    size = size_at(words, whole, order[-1]) if order and (by is None or integer(by) == 0) else None
    if size is None:
        return None
    taken = (*order, *words.names, *words.letters)
    wishes = (f"{order[-1]}{len(order) + 1}", *SPARE)
    column = Name(next(c for c in wishes if c not in taken), of.span)
    same = Compare((Name(order[-1], of.span), column), ("==",), of.span)
    made = Call("where", (same, whole, Number(0, of.span)), of.span, of.span)
    return Spread(made, (*order, column.name), {column.name: size})


def _read(words: Vocabulary, of: Expr, by: Expr | None, axes: Sequence[Expr | None], turned: Turned) -> Spread | None:
    """The elements on a diagonal of two axes of one size, the last axis of the result."""
    whole = spelled(words, of)
    order = next((order for node, order in turned if node is of), layout(words, whole))
    given = [axis for axis in axes if axis is not None]
    if len(given) not in (0, 2) or (not given and len(order) != 2 and order[:-2] != ("...",)):
        return None
    row, column = (axis_of(words, order, axis, k - 2) for k, axis in enumerate(given or (None, None)))
    size = None if row is None else size_at(words, whole, row)
    step = 0 if by is None else integer(by)
    if row is None or column is None or row == column or size is None or step is None:
        return None
    if size_at(words, whole, column) != size:
        return None
    shift, here = Number(abs(step), of.span), Name(row, of.span)
    ahead = _moved(here, shift)
    made = at(at(whole, column, Name("_", of.span)), row, ahead if step < 0 else here)
    made = at(made, "_", ahead if step > 0 else here)
    runs = {row: total([(1, size), (-1, shift)], of.span)} if step else {}
    return Spread(made, (*(i for i in order if i not in (row, column)), row), runs)


def _moved(place: Expr, by: Expr | None) -> Expr:
    return place if by is None else total([(1, place), (1, by)], place.span)
