"""Loops and branches of other languages among statements: reported once each, with the statements that are meant."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import partial

from opgen.diagnostics.model import Bag, Span
from opgen.lang.again import read_again
from opgen.lang.branches import GUARD, following
from opgen.lang.cell_lines import is_of_wholes, of_loop, of_statements, sum_of_loop
from opgen.lang.expressions import ExpressionParser
from opgen.lang.idioms import Idioms
from opgen.lang.lexer import T, Token
from opgen.lang.loops import added_up, as_recurrences, as_written, in_one, is_told, looped, steps_of, with_target
from opgen.lang.nodes import Assign, Expr, Number
from opgen.lang.slips import last_case
from opgen.lang.vocabulary import Vocabulary
from opgen.schema.formula import Formula


class LoopParser(ExpressionParser):
    """The part of a parser of statements that reads them."""

    def __init__(self, f: Formula, bag: Bag, words: Vocabulary) -> None:
        super().__init__(f, bag, words)
        self.found: list[Assign] = []
        self.proposed: list[Assign] = []  # in place of those with a mistake
        self.stepped: tuple[str, ...] = ()  # the names that loops go on with

    def loop(self, first: Token, end: Token) -> bool:
        """Whether a loop begins that is to be left out, and its statements are right or wrong for themselves.

        So does a `return` of what one ends with, which has been told with it.
        """
        if is_told(self.rest_of_statement(), self.stepped):
            while self.token is not end:
                self.advance()
            return True
        index = looped(first.span.source.text[first.span.start : end.span.start]) if first.text == "for" else None
        if index is None:
            return self.adding(first, end)
        hint = f"leave the loop out: `{index}` on the left runs over its whole dim, in order where a step reads another"
        self.fail("`for` is not part of the formula language", first.span, "OPG201", hint)
        self.skip_line()
        return True

    def skip_line(self) -> None:
        while self.token.kind not in {T.END, T.NEWLINE}:
            self.advance()

    def skip_empty(self) -> None:
        while self.token.kind is T.NEWLINE:
            self.advance()

    def adding(self, first: Token, end: Token) -> bool:
        """Whether a loop begins that adds up, which is told with what it starts from."""
        made = added_up(first.span.source.text[first.span.start : end.span.start]) if first.text == "for" else None
        if made is None:
            return self.stepping(first, end)
        name, line = made
        again = partial(read_again, notes=Idioms(self.words, read_again))
        whole = in_one(line, self.words, again)
        line = sum_of_loop(first.span.source.text[first.span.start : end.span.start], self.words, again) or line
        line = with_target(line, self.words, again)
        starts = [s for s in self.found if s.target.name == name and isinstance(s.value, Number)]
        self.found = [s for s in self.found if s not in starts]
        self.lost[name] = None
        instead = f"write `{line}` in place of the loop" + (f" and of `{starts[0].span.text}`" if starts else "")
        self.fail(
            "`for` is not part of the formula language",
            first.span,
            "OPG201",
            f"a loop that adds up is a sum: {instead}{f'; or `{whole}` for one number' if whole else ''}",
        )
        while self.token is not end:
            self.advance()
        return True

    def stepping(self, first: Token, end: Token) -> bool:
        """Whether a loop begins that goes on from the step before, which is told with what it starts from."""
        start, stop = first.span.start, end.span.start
        above = self.formula.text[: bisect_left(self.formula.offsets, start)]
        if is_of_wholes(first.span.source.text[start:stop], above) and self.in_wholes(first, start, stop):
            return True
        again = partial(read_again, notes=Idioms(self.words, read_again))
        begun = [*self.found, *map(as_written, self.proposed)]
        steps = steps_of(first.span.source.text[start:stop], self.words, begun, again)
        below = self.formula.text[bisect_left(self.formula.offsets, stop) :]
        hint = "" if steps is None or first.text != "for" else as_recurrences(steps, below, self.words, again)
        if steps is None or not hint:
            return self.in_wholes(first, start, stop)
        self.found = [s for s in self.found if s.target.name not in steps.names]
        told = [s.span for s in self.proposed if s.target.name in steps.names]  # with the loop
        self.bag.keep([d for d in self.bag.items if d.span is None or not any(_is_in(d.span, at) for at in told)])
        self.lost |= dict.fromkeys(steps.names)
        self.stepped += steps.names
        for name in steps.names:
            self.words.letters.pop(name, None)
        self.fail("`for` is not part of the formula language", first.span, "OPG201", hint)
        while self.token is not end:
            self.advance()
        return True

    def in_wholes(self, first: Token, start: int, stop: int) -> bool:
        """Whether a loop goes on by steps in whole tensors, which is told with all that stands around it."""
        offsets, block = self.formula.offsets, self.formula.text
        at, end = bisect_left(offsets, start), bisect_left(offsets, stop)
        again = partial(read_again, notes=Idioms(self.words, read_again))
        told = of_loop(first.span.source.text[start:stop], block[:at], block[end:], self.words, again)
        if told is None:
            return False
        self.forget(told.names, block[:at])
        self.fail("`for` is not part of the formula language", first.span, "OPG201", told.hint)
        while self.token.kind is not T.END:
            self.advance()
        return True

    def forget(self, names: Sequence[str], above: str) -> None:
        """Leave out what was found and told of the statements above that give these names a value: it is told anew."""
        offsets = self.formula.offsets
        self.found = [s for s in self.found if s.target.name not in names]
        begun = [m for n in names for m in re.finditer(rf"^[ \t]*{n}[ \t]*=[^\n]*", above, re.MULTILINE)]
        spans = [(offsets[m.start()], offsets[m.end()]) for m in begun]
        self.bag.keep([d for d in self.bag.items if d.span is None or not any(a <= d.span.start < b for a, b in spans)])
        self.lost |= dict.fromkeys(names)

    def in_steps(self, first: Token) -> bool:
        """Whether statements begin that go on by steps in whole tensors without a loop, which are told together."""
        at = bisect_left(self.formula.offsets, first.span.start)
        above, block = self.formula.text[:at], self.formula.text[at:]
        again = partial(read_again, notes=Idioms(self.words, read_again))
        made = of_statements(block, above, self.words, again)
        if made is None:
            return False
        cell, hints = made.cell, made.hints
        self.forget(cell.names, above)
        sign = next((t for t in self.rest() if t.is_op(":", "@") or (t.text in cell.carried and t is not first)), first)
        if sign.text in cell.names:
            self.fail(f"`{sign.text}` goes on from its own value, and at no step", sign.span, "OPG219", *hints)
        else:
            what = "a slice is not part" if sign.is_op(":") else f"`{sign.text}` is not an operator"
            self.fail(f"{what} of the formula language", sign.span, "OPG201", *hints)
        for n in cell.names:
            self.words.letters.pop(n, None)
        for _ in range(made.count):
            self.skip_empty()
            self.skip_line()
        return True

    def next_case(self, above: Sequence[Expr | None]) -> tuple[Expr | None, Expr | None]:
        """What a case asks that is written with a word of Python behind those above it, and the guard that is meant."""
        word, own = self.token, None
        last = self.peek(2 if self.peek().is_op(":") else 1).kind in {T.END, T.NEWLINE}
        if word.is_word("else") and not (last or self.peek().is_word("if")):
            raise self.unexpected("an operator or the end of the statement")
        self.advance()
        if word.text == "elif" or self.token.is_word("if"):
            self.at += self.token.is_word("if")
            own = self.expression()
        self.accept(":")
        guard = following(above, own, self.words.choices, word.span)
        message = f"a statement has no `{word.text}`"
        self.idioms.note(word.span, message, GUARD, otherwise=last_case(word) if own is None else "")
        self.idioms.unclear |= guard is None
        return own or guard, guard


def _is_in(span: Span, other: Span) -> bool:
    return other.start <= span.start and span.end <= other.end
