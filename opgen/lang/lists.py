"""Lists and comprehensions of Python, which formulas do not have, read as what they mean here."""

from __future__ import annotations

from abc import abstractmethod

from opgen.lang.beside import Arguments
from opgen.lang.cursor import Cursor
from opgen.lang.idioms import Idioms
from opgen.lang.joins import LIST
from opgen.lang.lexer import Token
from opgen.lang.nodes import Binder, Call, Expr, Reduction


class ListParser(Cursor):
    """The part of a parser of expressions that reads them."""

    idioms: Idioms

    @abstractmethod
    def expression(self) -> Expr:
        """An expression."""

    @abstractmethod
    def inner(self) -> Expr:
        """An expression inside of brackets."""

    @abstractmethod
    def arguments(self, called: Token, opener: Token) -> Arguments:
        """What stands in the parentheses of a call."""

    def comprehension(self, name: Token) -> Expr:
        """`sum(x[n, k] for k in range(K))`, perhaps in brackets."""
        self.accept("[")
        body, word = self.inner(), self.advance()
        index = self.advance()
        self.at += 2 if self.peek().is_word("range") else 1
        given = self.arguments(self.token, self.advance()).given if self.token.is_op("(") else ()
        self.accept("]")
        span = name.span.to(self.expect(")").span)
        self.idioms.note(word.span, "`for` is not part of the formula language", "an index in brackets runs over a dim")
        self.idioms.unclear |= len(given) != 1
        extent = given[0] if given else None
        return Reduction(name.text, (Binder(index.text, extent, index.span),), body, span, name.span)

    def listed(self, opener: Token) -> Expr:
        """A list of tensors that are joined."""
        found = [self.inner()]
        while self.accept(",") and not self.token.is_op("]", ")"):
            found.append(self.inner())
        span = opener.span.to(self.expect(")" if opener.text == "(" else "]", opener).span)
        return Call(LIST, tuple(found), span, span)

    def axes(self) -> Expr | tuple[Expr, ...]:
        """The value of a named argument, which may be a list of axes."""
        opener = self.accept("(", "[")
        if opener is None:
            return self.expression()
        found = [self.expression()]
        while self.accept(",") and not self.token.is_op(")", "]"):
            found.append(self.expression())
        self.expect(")" if opener.text == "(" else "]", opener)
        return tuple(found)
