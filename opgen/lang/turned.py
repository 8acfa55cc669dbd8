"""Matrices and vectors that are turned round, `x.T` and `x'`, and products of linear algebra among which `'` stands.

Nodes in, nodes out; what is not certain leaves the statement without a proposal.
"""

from __future__ import annotations

from dataclasses import replace

from opgen.diagnostics.model import Span
from opgen.lang.habits import PRODUCT, TURNED
from opgen.lang.layout import layout, spelled, transposed
from opgen.lang.nodes import Access, Dots, Expr, Name, Product, Unary
from opgen.lang.notes import Notes
from opgen.lang.walk import nodes


def turned_round(notes: Notes, of: Expr, word: str) -> Expr | None:
    """A value whose axes change places, by `T` all of them; a vector stays. None where they are not known."""
    if notes.words.complexes and word.endswith("H"):
        return None
    known = any(node is of for node, _ in notes.results)
    if not known and _rank(notes, of) == 1:
        return of
    made = transposed(notes.words, of, None if word.startswith("m") else 2, notes.results)
    if made is None:
        return None
    made = notes.by_place_again(of, *made)
    notes.results = [r for r in notes.results if r[0] is not of]
    notes.results.append(made)
    notes.ranks.append((made[0], 2, False))
    return made[0]


def marked(notes: Notes, of: Expr, at: Span) -> Expr:
    """`x'` of MATLAB and Julia, which also conjugates."""
    notes.note(at, f"`{at.text}` is not part of the formula language", otherwise=TURNED)
    notes.found[-1].label = "turns nothing round"
    made = None if notes.words.complexes or not _rank(notes, of) else turned_round(notes, of, "T")
    if made is None:
        notes.note_unclear(PRODUCT)
        return of
    if _rank(notes, made) == 1:
        made = replace(made)  # the same vector may stand elsewhere
        notes.ranks.append((made, 1, True))
    return made


def element(notes: Notes, of: Name, items: tuple[Expr | Dots, ...], at: Span, span: Span) -> Access:
    """`a'[i, j]`, which is `a[j, i]`."""
    notes.note(at, f"`{at.text}` is not part of the formula language", TURNED)
    notes.unclear |= len(items) < 2
    return Access(of.name, (*items[:-2], *items[-2:][::-1]), span, of.span)


def times(notes: Notes, a: Expr, b: Expr, sign: str) -> Expr:
    """`a*b`, which is a product of matrices where `'` stands in the statement and both have axes."""
    span, first, second = a.span.to(b.span), _rank(notes, a), _rank(notes, b)
    is_row, other = _is_row(notes, a), _is_row(notes, b)
    if not (sign == "*" and notes.turns and first and second):
        made: Expr = Product((("*", a), (sign, b)), span)
        notes.ranks.append((made, max(first, second), is_row or other))
        return made
    notes.unclear |= other or (first == 1 and not is_row)  # of a column and a row, all products
    made = notes.called("matmul", (a, b), {}, span)
    notes.ranks.append((made, max(first + second - 2, 0), is_row and second > 1))
    return made


def _is_row(notes: Notes, e: Expr) -> bool:
    e = e.operand if isinstance(e, Unary) else e
    return any(e is node and row for node, _, row in notes.ranks)


def _rank(notes: Notes, e: Expr) -> int:
    """How many named axes a value has besides the indices that are written out."""
    known = next((rank for node, rank, _ in reversed(notes.ranks) if node is e), None)
    if known is not None:
        return known
    read = {n.name for n in nodes(e) if isinstance(n, Name)} - {*notes.left, *notes.bound}
    notes.unclear |= any(n in notes.words.assigned and n not in notes.words.letters for n in read)
    whole = spelled(notes.words, e)
    if isinstance(e, Access) and isinstance(whole, Access):
        return len(whole.items) - len(e.items)
    return sum(i != "..." for i in layout(notes.words, whole))
