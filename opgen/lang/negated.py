"""`not` among the factors of a product and the terms of a sum, than which it is weaker, and `!` and `~` of C.

Tokens and what is negated in; a message with the statement as it is meant, and the value that stands there, out.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import takewhile

from opgen.diagnostics.model import Bag, Hint
from opgen.lang.lexer import T, Token
from opgen.lang.nodes import Access, Compare, Expr, Name, Number, Product, Sum, Unary
from opgen.lang.questions import QuestionParser
from opgen.lang.unparse import respelled
from opgen.lang.vocabulary import Vocabulary

BINDING = ("~", "!", "\u00ac")  # signs that bind as tightly as a minus


class NegationParser(QuestionParser):
    """The part of a parser of expressions that reads them."""

    @abstractmethod
    def expression(self, level: int = 1) -> Expr:
        """An expression whose operators bind at least as tightly as `level`."""

    @abstractmethod
    def with_operators(self, left: Expr, level: int) -> Expr:
        """An expression that begins with what is read already."""

    @abstractmethod
    def in_arithmetic(self, token: Token) -> bool:
        """Whether a token is an operator on numbers."""

    def negation(self, sign: Token, tightly: int, loosely: int) -> Expr:
        """What follows a `not`, or a sign of other languages for it, which has been passed."""
        at, met, tight = self.at, len(self.idioms.found), sign.span.text in BINDING
        within = self.in_arithmetic(self.tokens[max(at - 2, 0)])
        operand = self.expression(tightly if tight else loosely)
        meant = tight and (within or self.in_arithmetic(self.token))
        if within and isinstance(operand, Product | Sum) and not tight:
            end, self.at = self.at, at
            del self.idioms.found[met:]
            operand = self.expression(tightly)
            meant = self.at < end
        if meant:
            return negated(self.words, self.bag, self.tokens, at - 1, self.at, operand)
        operand = self.with_operators(operand, loosely) if tight else operand
        return Unary("not", operand, sign.span.to(operand.span))


def negated(words: Vocabulary, bag: Bag, tokens: Sequence[Token], at: int, end: int, operand: Expr) -> Expr:
    """The negation whose sign stands at a token, and whose value ends before another; numbers are compared with 0."""
    sign = tokens[at].span
    whole = sign.to(tokens[end - 1].span)
    is_number = isinstance(operand, Access | Name) and operand.name in words.inputs and operand.name not in words.masks
    if is_number:
        made: Expr = Compare((operand, Number(0, operand.span)), ("==",), whole)
        written = f"({respelled(operand)} == 0)"
    else:
        made, written = Unary("not", operand, whole), f"(not {respelled(operand)})"
    hint = Hint(f"write `{_in_line(tokens, at, end, written)}`", whole.text, written, whole)
    if sign.text == "not":
        message = "`not` is weaker than `*` and `+`, and negates all that follows"
        bag.error("OPG223", message, sign, hints=(hint,))
    else:
        bag.amend("OPG201", sign, hint)
    return made


def _in_line(tokens: Sequence[Token], at: int, end: int, written: str) -> str:
    """The statement with a text in place of a stretch of it, or that text where there is more to write otherwise."""
    before = [*takewhile(lambda t: t.kind is not T.NEWLINE, reversed(tokens[:at]))][::-1]
    after = [*takewhile(lambda t: t.kind not in {T.NEWLINE, T.END}, tokens[end:])]
    several = any(t.is_word("not") or t.kind is T.BAD for t in (*before, *after))
    if several or not before or "\n" in before[0].span.to((after or before)[-1].span).text:
        return written
    text, start = tokens[at].span.source.text, tokens[at].span.start
    behind = text[tokens[end - 1].span.end : after[-1].span.end] if after else ""
    return f"{text[before[0].span.start : start]}{written}{behind}"
