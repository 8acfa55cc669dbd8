"""Where a parser stands in its tokens: stepping on, what is expected, and the mistakes that end a statement."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import takewhile

from opgen.diagnostics.model import Bag, Span
from opgen.lang.depth import MAX_DEPTH
from opgen.lang.habits import ALONG, FOR, TURNED
from opgen.lang.lexer import T, Token, tokenize
from opgen.lang.primes import without_primes_behind_names
from opgen.lang.slips import hints
from opgen.lang.tuples import at_indices
from opgen.lang.vocabulary import Vocabulary
from opgen.schema.formula import Formula

_STATEMENT = re.compile(r"(pad\()?\w+(\[([^\[\]\n]|\[[^\[\]\n]*\])*\])?\)? *(\+|\*|max|min)?=(?!=)")


class StopError(Exception):
    """Leaves the statement at hand; the diagnostic has been added already."""


class Cursor:
    def __init__(self, f: Formula, bag: Bag) -> None:
        self.formula = f
        self.bag = bag
        self.tokens = without_primes_behind_names(tokenize(f, bag))
        self.at = 0
        self.depth = 0
        self.words = Vocabulary()
        self.tensors: tuple[str, ...] = ()  # those of the spec
        self.functions: tuple[str, ...] = ()  # those that it may call

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def peek(self, ahead: int = 1) -> Token:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def skip_to(self, end: int) -> Span:
        """Pass what begins here and ends at a place, one token at least."""
        first = last = self.advance().span
        while self.token.span.start < end:
            last = self.advance().span
        return first.to(last)

    def advance(self) -> Token:
        token = self.tokens[self.at]
        if token.kind is not T.END:
            self.at += 1
        return token

    def accept(self, *texts: str) -> Token | None:
        return self.advance() if self.token.is_op(*texts) else None

    def fail(self, message: str, span: Span, code: str = "OPG201", *help: str) -> StopError:
        self.bag.error(code, message, span, hints=help)
        return StopError()

    def rest(self) -> list[Token]:
        """What is left of a statement."""
        return [*takewhile(lambda t: t.kind not in {T.NEWLINE, T.END}, self.tokens[self.at :])]

    def rest_of_statement(self) -> str:
        rest = self.rest()
        return rest[0].span.source.text[rest[0].span.start : rest[-1].span.end] if rest else ""

    def unexpected(self, wanted: str) -> StopError:
        token = self.token
        if any(t.kind is T.BAD for t in self.rest()):  # the mistake has been told
            return StopError()
        if token.is_op(".") and token.span.text != ".":  # of a matrix that is turned round
            raise self.fail(f"`{token.span.text}` is not part of the formula language", token.span, "OPG201", TURNED)
        if token.is_word("for") and self.at and self.tokens[self.at - 1].kind is not T.NEWLINE:
            raise self.fail(FOR, token.span, "OPG201", ALONG)
        found = f"`{token.text}`" if token.kind in {T.OP, T.NAME, T.NUMBER, T.TEXT} else str(token.kind)
        previous = self.tokens[self.at - 1] if self.at else None
        meant = hints(token, previous, wanted, self.words, self.tensors, self.functions)
        lines = (at_indices(self.words, hint) for hint in meant)
        return self.fail(f"expected {wanted}, found {found}", token.span, "OPG201", *lines)

    def expect(self, text: str, opener: Token | None = None) -> Token:
        if self.token.is_op(text):
            return self.advance()
        if opener is not None and (self.token.kind in {T.END, T.NEWLINE} or self.at_statement()):
            raise self.fail(f"`{opener.text}` is never closed", opener.span, "OPG203", f"add the missing `{text}`")
        raise self.unexpected(f"`{text}`" if opener is None else f"an operator, `,` or `{text}`")

    def at_statement(self) -> bool:
        """Whether a new statement seems to begin inside brackets: the lines from here on are then read as such."""
        start = bisect_left(self.formula.offsets, self.token.span.start)
        text = self.formula.text
        if self.token.kind is not T.NAME or text[text.rfind("\n", 0, start) + 1 : start].strip():
            return False
        if not _STATEMENT.match(text, start):
            return False
        rest = Formula(text[start:], self.formula.source, self.formula.offsets[start:])
        self.tokens[self.at :] = [Token(T.NEWLINE, "\n", self.token.span), *tokenize(rest, self.bag)]
        return True

    def deeper(self, span: Span) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.too_deep(span)

    def too_deep(self, span: Span) -> StopError:
        return self.fail(
            "this formula is nested too deeply",
            span,
            "OPG227",
            "name a part of it in a statement of its own and use the name",
        )
