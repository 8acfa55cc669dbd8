"""Comprehensions of Python and Julia, `sum(x[k] for k in range(K) if m[k])`, read as the reductions that they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opgen.diagnostics.model import Span
from opgen.lang.binders import as_binder
from opgen.lang.brackets import BracketParser
from opgen.lang.habits import FOR
from opgen.lang.lexer import T, Token
from opgen.lang.limits import over_picked
from opgen.lang.nodes import Access, Compare, Expr, Name, Number, Reduction
from opgen.lang.slices import Slice, total
from opgen.lang.spread import at, size_at
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import integer, nodes


@dataclass(frozen=True, slots=True)
class _Range:
    """What an index runs over: `range(…)`, or anything else that stands behind `in`."""

    index: Name
    numbers: tuple[Expr, ...]
    other: Slice | Expr | None = None


class ComprehensionParser(BracketParser):
    """The part of a parser of expressions that reads them."""

    def comprehension(self, name: Token) -> Expr:
        """`sum(x[n, k] for k in range(K) if m[k])`, perhaps in brackets."""
        self.accept("[")
        body = self.inner()
        self.accept(",")
        word = self.token
        ranges, picks = list[_Range](), list[Expr]()
        while self.token.is_word("for") and self.peek().kind is T.NAME and self.peek(2).is_word("in"):
            index = self.peek()
            self.at += 3
            ranges.append(self.range_of(Name(index.text, index.span)))
        while self.token.is_word("if"):
            self.advance()
            picks.append(self.expression())
        self.accept("]")
        general = f"an index in brackets runs over a dim: `{name.text}[{', '.join(r.index.name for r in ranges)}](…)`"
        if not self.token.is_op(")"):
            raise self.fail(FOR, word.span, "OPG201", general)
        span = name.span.to(self.advance().span)
        self.idioms.note(word.span, FOR, general)
        made = self.reduced(name.text, ranges, body, picks, span)
        self.idioms.unclear |= made is None
        return body if made is None else made

    def range_of(self, index: Name) -> _Range:
        """What stands behind `in`."""
        if self.token.is_word("range") and self.peek().is_op("("):
            return _Range(index, self.arguments(self.advance(), self.advance()).given)
        first = self.expression()
        return _Range(index, (), self.slice_from(first) if self.token.is_op(":") else first)

    def reduced(
        self, name: str, ranges: Sequence[_Range], body: Expr, picks: Sequence[Expr], span: Span
    ) -> Expr | None:
        """The reduction over ranges; None where it is not certain."""
        items, parts = list[Expr](), [body, *picks]
        for r in ranges:
            found = _run(self.words, r, parts)
            if found is None or (self.words.reductions.get(name) and (picks or found[1] != parts)):
                return None
            item, parts = found
            items.append(item)
        body, picks = parts[0], parts[1:]
        if picks:
            return over_picked(name, [*map(as_binder, items)], body, picks)
        limited = self.idioms.limited(name, items, body, span)
        binders = tuple(b for i in items if (b := as_binder(i)) is not None)
        return limited or Reduction(name, binders, body, span, span)


def _run(words: Vocabulary, r: _Range, parts: Sequence[Expr]) -> tuple[Expr, list[Expr]] | None:
    """An index with its extent, where that is needed, and what is read at it; None where it is not certain."""
    match r:
        case _Range(index, (stop,)):
            return Compare((index, stop), ("<",), index.span.to(stop.span)), [*parts]
        case _Range(index, (start, stop)):
            extent = total([(1, stop), (-1, start)], stop.span)
            there = total([(1, index), (1, start)], index.span)
            return Compare((index, extent), ("<",), index.span), [at(e, index.name, there) for e in parts]
        case _Range(index, (), other) if _is_whole(words, index.name, other, parts):
            return index, [*parts]
        case _:
            return None


def _is_whole(words: Vocabulary, index: str, over: Slice | Expr | None, parts: Sequence[Expr]) -> bool:
    """Whether a range is all of an axis, `1:K` or `0:K-1` or `K`, and its index a position there and nothing else."""
    alone = [i for e in parts for a in nodes(e) if isinstance(a, Access) for i in a.items]
    read = [n for e in parts for n in nodes(e) if isinstance(n, Name) and n.name == index]
    sizes = {size for e in parts if (size := size_at(words, e, index)) is not None}
    if len(read) != sum(isinstance(i, Name) and i.name == index for i in alone) or len(sizes) != 1:
        return False
    (size,) = sizes
    if not isinstance(over, Slice):
        return over == size
    if over.start is None or over.stop is None or over.step is not None:
        return False
    last = total([(1, size), (-1, Number(1, size.span))], size.span)
    start, stop = integer(over.start), over.stop
    return (start in (0, 1) and stop == size) or (start == 0 and stop == last)
