"""Questions of Python, `b is not None` and `mode in ("mean", "sum")`, read as the conditions that they are."""

from __future__ import annotations

from opgen.lang.comprehensions import ComprehensionParser
from opgen.lang.nodes import Call, Compare, Expr, Logic, Name, Text, Unary
from opgen.lang.unparse import unparse


class QuestionParser(ComprehensionParser):
    """The part of a parser of expressions that reads them."""

    def asked(self, left: Expr) -> Expr:
        """What is asked of the name that has been read; the name itself where that is nothing of Python."""
        if self.token.is_word("is"):
            return self.given(left)
        if not isinstance(left, Name) or not self.words.choices.get(left.name):
            return left
        negated = self.token.is_word("not") and self.peek().is_word("in")
        listed = self.peek(2 if negated else 1).is_op("(", "[")
        return self.one_of(left, negated=negated) if listed and (negated or self.token.is_word("in")) else left

    def given(self, left: Expr) -> Expr:
        """`b is not None`."""
        first = self.advance()
        negated = self.token.is_word("not") and self.advance() is not None
        if not self.token.is_word("None") or not isinstance(left, Name):
            self.at = self.tokens.index(first, 0, self.at)
            raise self.unexpected("an operator")
        span = left.span.to(self.advance().span)
        test = Call("given", (left,), span, span)
        found: Expr = test if negated else Unary("not", test, span)
        self.idioms.note(
            first.span, "`is` is not part of the formula language", f"whether it is there is `{unparse(found)}`"
        )
        return found

    def one_of(self, left: Name, *, negated: bool) -> Expr:
        """`mode in ("mean", "sum")`."""
        at = self.advance().span
        at = at.to(self.advance().span) if negated else at
        opener = self.advance()
        closer, sign = ")" if opener.text == "(" else "]", "!=" if negated else "=="
        parts = [self.one_choice(left, sign)]
        while self.accept(",") and not self.token.is_op(closer):
            parts.append(self.one_choice(left, sign))
        span = left.span.to(self.expect(closer, opener).span)
        self.idioms.note(at, "`in` is not part of the formula language", "each choice is compared by itself")
        return parts[0] if len(parts) == 1 else Logic("and" if negated else "or", tuple(parts), span)

    def one_choice(self, left: Name, sign: str) -> Expr:
        """A word of such a list, which may stand there without its quotes."""
        word = self.expression()
        text = Text(word.name, word.span) if isinstance(word, Name) else word
        return Compare((left, text), (sign,), left.span.to(word.span))
