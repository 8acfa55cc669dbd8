"""Lists of Python, which formulas do not have, read as what they mean here."""

from __future__ import annotations

from abc import abstractmethod

from opgen.lang.beside import Arguments
from opgen.lang.cursor import Cursor
from opgen.lang.habits import PICKING
from opgen.lang.idioms import Idioms
from opgen.lang.joins import LIST
from opgen.lang.lexer import Token
from opgen.lang.nodes import Call, Expr


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

    def listed(self, opener: Token) -> Expr:
        """A list of tensors that are joined, or of axes."""
        read = self.axis if opener.text == "(" else self.inner
        found = [read()]
        while self.accept(",") and not self.token.is_op("]", ")"):
            found.append(read())
        span = opener.span.to(self.expect(")" if opener.text == "(" else "]", opener).span)
        return Call(LIST, tuple(found), span, span)

    def axes(self) -> Expr | tuple[Expr, ...]:
        """The value of a named argument, which may be a list of axes."""
        if self.tokens[self.at - 2].is_word(*PICKING):
            return self.inner()
        opener = self.accept("(", "[")
        if opener is None:
            return self.expression()
        found = [self.axis()]
        while self.accept(",") and not self.token.is_op(")", "]"):
            found.append(self.axis())
        self.expect(")" if opener.text == "(" else "]", opener)
        return tuple(found)

    def axis(self) -> Expr:
        """One of several axes, or a list of them in a list, `([1], [0])`."""
        return self.listed(self.advance()) if self.token.is_op("[") else self.inner()

    def further(self) -> Expr:
        """The second argument of a reduction, which may have a name as in other libraries."""
        if self.token.is_word("q", "n", "k") and self.peek().is_op("="):
            self.idioms.note(self.advance().span, "arguments are positional", "leave out the name and `=`")
            self.advance()
        return self.expression()
