"""Expressions of formulas, by operator precedence: the half of the parser that statements build on.

N-ary sums and products, chained comparisons, `**` to the right and tighter than the unary minus. Notation of other
languages is read as well, and noted, so that what is said about it can hold what to write.
"""

from __future__ import annotations

from dataclasses import replace

from opgen.diagnostics.model import Bag, Hint, Span
from opgen.lang.backwards import backwards
from opgen.lang.bars import length
from opgen.lang.behind import in_brackets
from opgen.lang.beside import Arguments
from opgen.lang.binders import as_binder
from opgen.lang.brackets import is_indexed
from opgen.lang.depth import MAX_DEPTH
from opgen.lang.elements import elements, has_order, of_call, of_slices, placed
from opgen.lang.groups import is_group
from opgen.lang.habits import CHOICE, KEYWORDS, NO_IF, OTHER_THAN, PLAIN, TUPLE
from opgen.lang.idioms import Idioms
from opgen.lang.joins import is_comprehension, is_list
from opgen.lang.lexer import T, Token
from opgen.lang.library import takes_shape
from opgen.lang.limits import over_picked
from opgen.lang.negated import NegationParser
from opgen.lang.nodes import (
    Access,
    Binder,
    Call,
    Compare,
    Dots,
    Expr,
    Logic,
    Name,
    Number,
    Power,
    Product,
    Reduction,
    Sum,
    Text,
    Unary,
)
from opgen.lang.numbers import number_value
from opgen.lang.of_values import of_values
from opgen.lang.other_signs import SHIFTS, exclusive_or, inverted, of_bits, said_of, shifted
from opgen.lang.positional import in_order
from opgen.lang.rounded import rounded
from opgen.lang.running import directed_by_index
from opgen.lang.subscripts import element, reduced
from opgen.lang.turned import element as element_of_turned
from opgen.lang.turned import marked, times
from opgen.lang.type_limits import infinite, type_limit
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import Vocabulary
from opgen.schema.formula import Formula

_OR, _AND, _COMPARE, _SHIFT, _SUM, _PRODUCT, _UNARY, _POWER = 1, 2, 3, 4, 5, 6, 7, 8
_LEVELS = {
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "<>"), _COMPARE),
    **dict.fromkeys(("<<", ">>"), _SHIFT),  # of other languages
    **dict.fromkeys(("+", "-"), _SUM),
    **dict.fromkeys(("*", "/", "//", "%", "@"), _PRODUCT),
    "**": _POWER,
}
_KEYWORDS = ("and", "or", "not", "if")


def _level(token: Token) -> int | None:
    """How tightly the operator at hand binds; None where there is none."""
    if token.kind is T.OP:
        return _LEVELS.get(token.text)
    return {"or": _OR, "and": _AND}.get(token.text) if token.kind is T.NAME else None


class ExpressionParser(NegationParser):
    def __init__(self, f: Formula, bag: Bag, words: Vocabulary) -> None:
        super().__init__(f, bag)
        self.words = words
        self.tensors = tuple(n for n in words.shapes if n in words.inputs)
        self.functions = tuple(n for n in words.functions if not words.knows(n))
        self.idioms = Idioms(words)
        self.lost: dict[str, None] = {}  # names whose statement has a mistake

    # --- expressions -------------------------------------------------------------------------------------------------

    def expression(self, level: int = _OR) -> Expr:
        """An expression whose operators bind at least as tightly as `level`."""
        self.deeper(self.token.span)
        left = self.with_operators(self.prefix() if level > _COMPARE else self.asked(self.prefix()), level)
        self.depth -= 1
        return left

    def with_operators(self, left: Expr, level: int) -> Expr:
        """An expression that begins with what is read already."""
        while (found := _level(self.token)) is not None and found >= level:
            left = self.power(left) if found == _POWER else self.chain(left, found)
        return left

    def in_arithmetic(self, token: Token) -> bool:
        """Whether a token is an operator on numbers."""
        return (_level(token) or _OR) >= _SUM

    def prefix(self) -> Expr:
        token = self.token
        if token.is_op("-", "+"):
            self.advance()
            operand = self.expression(_UNARY)
            return Unary("-", operand, token.span.to(operand.span)) if token.text == "-" else operand
        if token.is_word("not"):
            self.advance()
            if token.span.text == "~" and self.token.is_word(*self.words.integers):
                made, written = inverted(token.span, self.expression(_UNARY))
                self.bag.amend("OPG201", token.span, f"write `{written}`")
                return made
            return self.negation(token, _UNARY, _COMPARE)
        return self.atom()

    def chain(self, left: Expr, level: int) -> Expr:
        """All operators of one level in a row, as one node."""
        signs, parts = [], [left]
        while _level(self.token) == level:
            signs.append(self.advance())
            parts.append(self.expression(level + 1))
        ops = [sign.text for sign in signs]
        span = left.span.to(parts[-1].span)
        match level:
            case 1 | 2:  # or, and
                if (bits := of_bits([sign.span for sign in signs], parts, self.words)) is not None:
                    for sign in signs:
                        self.bag.amend("OPG201", sign.span, f"write `{unparse(bits)}`")
                return bits or Logic(ops[0], tuple(parts), span)
            case 3:
                for other in (sign for sign in signs if sign.text == "<>"):
                    self.idioms.note(other.span, OTHER_THAN, "not equal is written `!=`")
                    self.idioms.found[-1].label = "written `!=`"
                return Compare(tuple(parts), tuple("!=" if op == "<>" else op for op in ops), span)
            case 4:
                for sign, part in zip(signs, parts[1:], strict=True):
                    left = shifted(left, sign.span, part)
                    self.idioms.note(sign.span, f"there is no shift `{sign.text}`", SHIFTS[sign.text])
                return left
            case 5:
                return Sum(tuple(zip(("+", *ops), parts, strict=True)), span)
            case _:
                if len(ops) - ops.count("*") > MAX_DEPTH:
                    raise self.too_deep(span)
                if "@" in ops or (self.idioms.turns and "*" in ops):
                    return self.matrices(signs, parts)
                return Product(tuple(zip(("*", *ops), parts, strict=True)), span)

    def power(self, base: Expr) -> Expr:
        sign = self.advance().span
        exponent = self.expression(_UNARY)
        if sign.text == "^" and (bits := exclusive_or(base, exponent, sign, self.words.integers)) is not None:
            self.bag.amend("OPG202", sign, *said_of(bits))
            return bits
        return Power(base, exponent, base.span.to(exponent.span))

    def matrices(self, signs: list[Token], parts: list[Expr]) -> Expr:
        """A product with `@` in it, or of what `'` turns round, two factors at a time."""
        result = parts[0]
        for sign, part in zip(signs, parts[1:], strict=True):
            if sign.text == "@":
                result = self.idioms.product(result, part, sign.span)
            else:
                result = times(self.idioms, result, part, sign.text)
        return result

    def choice(self) -> Expr:
        """An expression, or a choice between two as C and Python write it."""
        value = self.expression()
        if self.token.is_op("?"):
            at = self.advance().span
            first = self.choice()
            self.expect(":")
            return self.either(value, first, self.choice(), at, "`?` is not an operator of the formula language")
        return value

    def either(self, condition: Expr, first: Expr, second: Expr, at: Span, message: str) -> Expr:
        span = first.span.to(second.span)
        self.idioms.note(at, message, CHOICE)
        return Call("where", (condition, first, second), span, span)

    def inner(self, picks: list[Expr] | None = None) -> Expr:
        """An expression in brackets, which may be `a if condition else b`; one without `else` adds to `picks`."""
        value = self.choice()
        if self.token.is_op("=") and not isinstance(value, Name):
            value = self.equality(value)
        if not self.token.is_word("if"):
            return value
        word = self.advance()
        condition = self.expression()
        if picks is not None and self.token.is_op(")", ","):
            picks.append(condition)
            return value
        if not self.token.is_word("else"):
            self.at = self.tokens.index(word, 0, self.at)
            raise self.unexpected("an operator, `,` or `)`")
        at = self.advance().span
        return self.either(condition, value, self.inner(), at, "`else` is not part of the formula language")

    def atom(self) -> Expr:
        e = self.primary()
        again: Span | None = None  # a second pair of brackets
        while True:
            if self.token.is_op(".") and self.peek().kind is T.NAME:
                self.advance()
                e = self.member(e, self.advance())
            elif self.token.is_op("[") and isinstance(e, Access) and not any(e is n for n, _ in self.idioms.results):
                bracket = self.token.span
                more, end = self.items(self.advance())
                if (read := of_slices(self.idioms, e, more)) is not None:
                    e = replace(read, span=e.span.to(end))
                    continue
                again = again or bracket
                e = Access(e.name, (*e.items, *more), e.span.to(end), e.name_span)
            elif self.token.is_op("[") and isinstance(e, Call) and (of := of_call(self.idioms, e)) is not None:
                opener = self.advance()
                more, end = self.items(opener)
                e = placed(self.idioms, e, of, more, opener.span.to(end))
            elif self.token.is_op("[") and (has_order(self.idioms, e) or self.is_lost(e)):
                inside, end = self.sliced(opener := self.advance())
                e = elements(self.idioms, e, inside, opener.span.to(end))
            else:
                if again is not None:
                    self.idioms.note(again, "an access has one pair of brackets", f"write `{unparse(e)}`")
                return self.idioms.prefix_alone(e)

    def is_lost(self, e: Expr) -> bool:
        """Whether what has been read is a call that has no counterpart, which is told anyway."""
        unclear = self.idioms.unclear and self.tokens[self.at - 1].is_op(")")
        return unclear or (isinstance(e, Call) and self.words.lacks(e.name))

    def member(self, of: Expr, word: Token) -> Expr:
        """What follows a dot."""
        if word.text == "'":
            if not self.token.is_op("[") or not isinstance(of, Name):
                return marked(self.idioms, of, word.span)
            items, end = self.items(self.advance())
            return element_of_turned(self.idioms, of, items, word.span, of.span.to(end))
        if word.text == "shape" and self.token.is_op("["):
            opener = self.advance()
            axis = self.expression()
            return self.idioms.size(of, axis, of.span.to(self.expect("]", opener).span))
        if not self.token.is_op("("):
            if self.token.is_op("[") and isinstance(of, Name):
                items, end = self.items(self.advance())
                return self.idioms.member_at(of, word.text, word.span, items, of.span.to(end))
            return self.idioms.member(of, word.text, word.span, None, further=self.token.is_op("."))
        arguments = self.arguments(word, self.advance())
        if self.token.is_op("(") and word.text[:1].isupper():  # a module of torch: `nn.ReLU()(x)`
            more = self.arguments(word, self.advance())
            arguments = replace(more, given=(*more.given, *arguments.given))
        return self.idioms.member(of, word.text, word.span, arguments)

    def primary(self) -> Expr:
        token = self.token
        if token.kind is T.NUMBER:
            self.advance()
            return Number(number_value(token, self.bag), token.span)
        if token.kind is T.TEXT:
            self.advance()
            return Text(token.text[1:-1], token.span)
        if (limit := type_limit(token.span.source.text, token.span.start)) is not None:
            return infinite(self.idioms, limit[0], self.skip_to(limit[1]))
        is_choice = token.is_word("if") and self.peek().is_op("(") and is_list(self.tokens, self.at + 1)  # of Excel
        if is_choice or (token.kind is T.NAME and token.text not in _KEYWORDS):
            return self.named()
        if token.is_op("("):
            opener = self.advance()
            inner = self.inner()
            if self.token.is_op(","):
                raise self.fail("a tuple is not a value of the formula language", self.token.span, "OPG201", TUPLE)
            self.expect(")", opener)
            return inner
        raise self.unexpected("an expression")

    def named(self) -> Expr:
        """A name, a call, an access, or a reduction: told apart by the brackets that follow."""
        token = self.advance()
        if opener := self.accept("("):
            if is_indexed(self.words, (*self.idioms.left, *self.idioms.bound), self.tokens, self.at - 2):
                return self.in_parentheses(token, opener)
            if token.text in self.words.reductions and is_comprehension(self.tokens, self.at):
                return self.comprehension(token)
            arguments = self.arguments(token, opener)
            span = token.span.to(arguments.end)
            if token.span.text == "|" and (vector := length(self.words, arguments.given[0], self.idioms.left)):
                right = unparse(vector)
                self.bag.amend("OPG201", span, Hint(f"write `{right}`", span.text, right))
                return vector
            below = reduced(self.words, token.text, arguments.given, token.span, span)
            if below is not None:
                hint = "the index of a reduction stands in brackets"
                self.idioms.note(token.span, f"there is no function `{token.text}`", hint, code="OPG209")
            meant = (
                below
                or of_values(self.idioms, token, arguments)
                or in_order(self.idioms, token.text, token.span, arguments)
                or rounded(self.idioms, token, arguments)
            )
            meant = meant or self.idioms.call(token.text, token.span, arguments)
            return meant or Call(token.text, arguments.given, span, token.span)
        if opener := self.accept("["):
            picks: list[Expr] = []
            items, end = self.sliced(opener, picks if token.text in self.words.reductions else None)
            if picks and not self.token.is_op("("):
                hint = "inside a formula write `where(condition, a, b)`"
                raise self.fail("positions have no condition", picks[0].span, "OPG201", hint)
            if body_opener := self.accept("("):
                items = self.without_slices(tuple(self.bound(token, i) for i in items))
                outer = tuple(self.idioms.bound)
                self.idioms.bound += [b.name for i in items if isinstance(b := as_binder(i), Binder)]
                self.idioms.inside += 1
                message, hint = (PLAIN, "a condition stands in the body") if picks else (NO_IF, CHOICE)
                body = self.inner(picks)
                self.idioms.inside -= 1
                self.idioms.bound[:] = outer
                takes = self.idioms.words.further.get(token.text) or self.idioms.takes_more(token.text)
                more = self.further() if takes and self.accept(",") else None
                beside = self.beside(token, items, body, body_opener) if self.token.is_op(",") else None
                span = token.span.to(beside.end if beside is not None else self.expect(")", body_opener).span)
                if picks:
                    self.idioms.note(picks[0].span, message, hint, code="OPG246" if message == PLAIN else "OPG201")
                    picked = over_picked(token.text, [as_binder(i) for i in items], body, picks)
                    self.idioms.unclear |= picked is None
                    return picked or body
                items, body, more = in_brackets(self.idioms, token.text, items, body, more)
                meant = backwards(self.idioms, token.text, items, body, span) or self.idioms.limited(
                    token.text, items, body, span
                )
                meant = meant or self.idioms.grouped(token.text, items, body)
                if meant is None:
                    binders = tuple(self.binder(item, token.text) for item in items)
                    made = Reduction(token.text, binders, body, span, token.span)
                    meant = directed_by_index(self.idioms, made, beside) or self.idioms.reduction(made, more, beside)
                return meant
            span = token.span.to(end)
            return self.applied(token, items, span) or self.idioms.access(token, items, span)
        if (read := element(self.words, token.text, token.span, self.tokens)) is not None:
            hint = f"the indices of an element stand in brackets: `{unparse(read)}`"
            self.idioms.note(token.span, f"there is no `{token.text}`", hint, code="OPG205")
            return read
        return Name(token.text, token.span)

    def arguments(self, called: Token, opener: Token) -> Arguments:
        args: list[Expr] = []
        named: dict[str, Expr | tuple[Expr, ...]] = {}
        at: Span | None = None
        lists = called.text == "pad" or self.words.lacks(called.text) or self.tokens[self.at - 3].is_op(".")
        while not self.token.is_op(")"):
            foreign = self.token.kind is T.NAME and self.words.lacks(called.text)
            keys = (*KEYWORDS, *self.words.signatures.get(called.text, ()))
            foreign |= self.token.is_word(*keys) and called.text != "where"
            if called.text == "pad" and self.token.is_word("mode", "padding_mode") and self.peek().is_op("="):
                self.advance()  # what it is stands for how to read outside, which is told there
                self.advance()
                args.append(self.inner())
            elif foreign and self.peek().is_op("="):
                word = self.advance()
                at = at or word.span
                self.advance()
                named[word.text] = self.axes()
            elif args and takes_shape(called.text) and self.token.is_op("(", "["):
                args.append(Name("shape", self.token.span))
                self.axes()
            elif (lists or called.text in self.words.reductions) and is_list(self.tokens, self.at):
                args.append(self.listed(self.advance()))
            else:
                args.append(self.inner())
            last = args[-1] if args else None
            of_where = isinstance(last, Name) and (called.text == "where" or last.name in self.words.shapes)
            if last is not None and of_where and self.token.is_op("="):
                args[-1] = self.equality(last)
            if self.token.is_op("="):
                hint = "leave out the name and `=`; equality is written `==`"
                raise self.fail("arguments are positional", self.token.span, "OPG201", hint)
            if not self.accept(","):
                break
        return Arguments(tuple(args), named, at, self.expect(")", opener).span)

    def beside(self, name: Token, items: tuple[Expr | Dots, ...], body: Expr, opener: Token) -> Arguments:
        """What follows the body of a reduction."""
        comma = self.advance().span
        first = self.token.span
        arguments = self.arguments(name, opener)
        in_groups = bool(arguments.given) and is_group(self.words, arguments.given[0])
        return replace(arguments, at=comma if in_groups else first)
