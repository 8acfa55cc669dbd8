"""Running reductions from the end, `cumsum[N - 1 - i](x[i])`, and up to another index, `cumsum[j <= i](x[j])`.

The brackets and the body in; out what they mean with a reduction over the places under a condition, noted.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from opgen.diagnostics.model import Span
from opgen.lang import habits
from opgen.lang.limits import NOTHING, size_of, under_limit
from opgen.lang.nodes import Binder, Call, Compare, Dots, Expr, Name, Number, Reduction, Sum, Unary
from opgen.lang.notes import Notes
from opgen.lang.products import reindexed
from opgen.lang.slices import total
from opgen.lang.vocabulary import SPARE, Vocabulary
from opgen.lang.walk import nodes

RUNNING = MappingProxyType(
    {"cumsum": "sum", "cumprod": "prod", "logcumsumexp": "logsumexp", "cummax": "max", "cummin": "min"}
)
BY_PLACE = ("argmax", "argmin", "argsort", "sort")  # where the order of the elements matters


def backwards(notes: Notes, name: str, items: Sequence[Expr | Dots], body: Expr, at: Span) -> Expr | None:
    """The reduction whose one item is an index counted from the end, or a limit of a running one; None for others."""
    words, known = notes.words, (*notes.left, *notes.bound)
    item = items[0] if len(items) == 1 else None
    if item is None or isinstance(item, Dots):
        return None
    if name in RUNNING and isinstance(item, Compare):
        return _up_to(notes, RUNNING[name], item, body, known)
    index = _from_the_end(words, item)
    if index is None:
        return None
    if name not in RUNNING:
        kept = words.reductions.get(name)
        if kept is None or name in BY_PLACE or _read(body, index.name) == 0 or (index.name in known and not kept):
            return None
        notes.note(item.span, habits.PLAIN, "in which order an index runs makes no difference here", code="OPG246")
        return Reduction(name, (Binder(index.name, None, item.span),), body, at, at)
    if index.name not in known or _read(body, index.name) == 0:
        return None
    notes.note(item.span, habits.PLAIN, "from the end it is a reduction over the places behind", code="OPG246")
    taken = {*known, *(n.name for n in nodes(body) if isinstance(n, Name))}
    other = next(c for c in SPARE[::-1] if c not in taken and not words.knows(c) and c not in words.letters)
    size = size_of(words, index.name, body)
    if size is not None:
        notes.moved[index.name] = size
    there, here = Name(other, item.span), Name(index.name, item.span)
    extent = None if size is not None else _size(item, index)
    if extent is not None:
        notes.moved[index.name] = extent
    behind = Compare((there, here), (">=",), item.span)
    chosen = (behind, reindexed(body, {index.name: other}), NOTHING[RUNNING[name]](item.span))
    return Reduction(RUNNING[name], (Binder(other, extent, item.span),), Call("where", chosen, at, at), at, at)


def _up_to(notes: Notes, name: str, item: Compare, body: Expr, known: Sequence[str]) -> Expr | None:
    found = under_limit(notes.words, name, [item], body, known, item.span)
    if found is None or not found.clear or notes.words.is_size(found.index.name) or not _read(body, found.index.name):
        return None
    notes.note(item.span, habits.PLAIN, "up to another index it is a reduction under a condition", code="OPG246")
    limits = (n.name for limit in found.limits for n in nodes(limit) if isinstance(n, Name) and n.name in notes.left)
    notes.limits.update(dict.fromkeys(limits, found.index.name))
    return found.reduction


def _from_the_end(words: Vocabulary, item: Expr) -> Name | None:
    """The index of `N - 1 - i`; None for any other expression."""
    match item:
        case Unary(op="-", operand=Name() as index):
            taken, others = [index], list[Expr]()
        case Sum(terms=terms):
            own = [e for op, e in terms if isinstance(e, Name) and not words.is_size(e.name)]
            taken = [e for op, e in terms if op == "-" and isinstance(e, Name) and e in own and len(own) == 1]
            others = [e for _, e in terms if e not in taken]
        case _:
            return None
    plain = all(isinstance(e, Number) or (isinstance(e, Name) and words.is_size(e.name)) for e in others)
    return taken[0] if len(taken) == 1 and plain and not words.knows(taken[0].name) else None


def _size(item: Expr, index: Name) -> Expr | None:
    """How far an index runs that is counted from the end, `N` of `N - 1 - i`."""
    if not isinstance(item, Sum):
        return None
    last = total([(1, item), (1, index)], item.span)
    named = isinstance(last, Sum) and any(op == "-" and e == Number(1, e.span) for op, e in last.terms)
    return total([(1, last), (1, Number(1, item.span))], item.span) if named else last


def _read(body: Expr, index: str) -> int:
    return sum(isinstance(n, Name) and n.name == index for n in nodes(body))
