"""Formula text in, expression trees and statements with spans out.

An operator-precedence parser by hand: n-ary sums and products, chained comparisons, `**` to the right and tighter
than the unary minus. A statement with a mistake is reported and skipped to the end of its line, so that every
statement gets its say. Nesting is limited, because everything after the parser walks trees recursively.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from opgen.diagnostics.model import Bag, Span
from opgen.lang.depth import MAX_DEPTH, deep_trees
from opgen.lang.habits import AXES, KEPT, SLICE, STATEMENTS, TUPLE, UP_TO
from opgen.lang.lexer import T, Token, number_value, tokenize
from opgen.lang.nodes import (
    Access,
    Assign,
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
    Target,
    Text,
    Unary,
)
from opgen.lang.slips import end_of_foreign, hints, is_assigned, is_foreign
from opgen.spec.formula import Formula

_OR, _AND, _COMPARE, _SUM, _PRODUCT, _UNARY, _POWER = 1, 2, 4, 5, 6, 7, 8
_LEVELS = {
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), _COMPARE),
    **dict.fromkeys(("+", "-"), _SUM),
    **dict.fromkeys(("*", "/", "//", "%"), _PRODUCT),
    "**": _POWER,
}
_UPDATES = ("=", "+=", "*=")
_STATEMENT = re.compile(r"\w+(\[[^\]\n]*\])? *(\+|\*|max|min)?=(?!=)")
_KEYWORDS = ("and", "or", "not", "if")


def _level(token: Token) -> int | None:
    """How tightly the operator at hand binds; None where there is none."""
    if token.kind is T.OP:
        return _LEVELS.get(token.text)
    return {"or": _OR, "and": _AND}.get(token.text) if token.kind is T.NAME else None


class _StopError(Exception):
    """Leaves the statement at hand; the diagnostic has been added already."""


class _Parser:
    def __init__(self, f: Formula, bag: Bag) -> None:
        self.formula = f
        self.bag = bag
        self.tokens = tokenize(f, bag)
        self.at = 0
        self.depth = 0
        self.lost: dict[str, None] = {}  # names whose statement has a mistake

    # --- tokens --------------------------------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def peek(self, ahead: int = 1) -> Token:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def advance(self) -> Token:
        token = self.tokens[self.at]
        if token.kind is not T.END:
            self.at += 1
        return token

    def accept(self, *texts: str) -> Token | None:
        return self.advance() if self.token.is_op(*texts) else None

    def fail(self, message: str, span: Span, code: str = "OPG201", *help: str) -> _StopError:
        self.bag.error(code, message, span, hints=help)
        return _StopError()

    def unexpected(self, wanted: str) -> _StopError:
        token = self.token
        found = f"`{token.text}`" if token.kind in {T.OP, T.NAME, T.NUMBER, T.TEXT} else str(token.kind)
        previous = self.tokens[self.at - 1] if self.at else None
        return self.fail(f"expected {wanted}, found {found}", token.span, "OPG201", *hints(token, previous, wanted))

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

    def too_deep(self, span: Span) -> _StopError:
        return self.fail(
            "this formula is nested too deeply",
            span,
            "OPG227",
            "name a part of it in a statement of its own and use the name",
        )

    # --- expressions -------------------------------------------------------------------------------------------------

    def expression(self, level: int = _OR) -> Expr:
        """An expression whose operators bind at least as tightly as `level`."""
        self.deeper(self.token.span)
        left = self.prefix()
        while (found := _level(self.token)) is not None and found >= level:
            left = self.power(left) if found == _POWER else self.chain(left, found)
        self.depth -= 1
        return left

    def prefix(self) -> Expr:
        token = self.token
        if token.is_op("-", "+"):
            self.advance()
            operand = self.expression(_UNARY)
            return Unary("-", operand, token.span.to(operand.span)) if token.text == "-" else operand
        if token.is_word("not"):
            self.advance()
            operand = self.expression(_COMPARE)
            return Unary("not", operand, token.span.to(operand.span))
        return self.atom()

    def chain(self, left: Expr, level: int) -> Expr:
        """All operators of one level in a row, as one node."""
        ops, parts = [], [left]
        while _level(self.token) == level:
            ops.append(self.advance().text)
            parts.append(self.expression(level + 1))
        span = left.span.to(parts[-1].span)
        match level:
            case 1 | 2:  # or, and
                return Logic(ops[0], tuple(parts), span)
            case 4:
                return Compare(tuple(parts), tuple(ops), span)
            case 5:
                return Sum(tuple(zip(("+", *ops), parts, strict=True)), span)
            case _:
                if len(ops) - ops.count("*") > MAX_DEPTH:
                    raise self.too_deep(span)
                return Product(tuple(zip(("*", *ops), parts, strict=True)), span)

    def power(self, base: Expr) -> Expr:
        self.advance()
        exponent = self.expression(_UNARY)
        return Power(base, exponent, base.span.to(exponent.span))

    def atom(self) -> Expr:
        token = self.token
        if token.kind is T.NUMBER:
            self.advance()
            return Number(number_value(token, self.bag), token.span)
        if token.kind is T.TEXT:
            self.advance()
            return Text(token.text[1:-1], token.span)
        if token.kind is T.NAME and token.text not in _KEYWORDS:
            return self.named()
        if token.is_op("("):
            opener = self.advance()
            inner = self.expression()
            if self.token.is_op(","):
                raise self.fail(
                    "a tuple is not a value of the formula language",
                    self.token.span,
                    "OPG201",
                    TUPLE,
                )
            self.expect(")", opener)
            return inner
        raise self.unexpected("an expression")

    def named(self) -> Expr:
        """A name, a call, an access, or a reduction: told apart by the brackets that follow."""
        token = self.advance()
        if opener := self.accept("("):
            args, end = self.arguments(token, opener)
            return Call(token.text, args, token.span.to(end), token.span)
        if opener := self.accept("["):
            items, end = self.items(opener)
            if body_opener := self.accept("("):
                binders = tuple(self.binder(item) for item in items)
                body = self.expression()
                if self.token.is_op(","):
                    hint = "indices stand in the brackets, the expression in the parentheses"
                    hint = KEPT if self.peek().is_word("keepdim", "keepdims") else hint
                    message = f"the body of `{token.text}[…]` is one expression"
                    raise self.fail(message, self.token.span, "OPG201", hint)
                end = self.expect(")", body_opener).span
                return Reduction(token.text, binders, body, token.span.to(end), token.span)
            return Access(token.text, items, token.span.to(end), token.span)
        return Name(token.text, token.span)

    def arguments(self, called: Token, opener: Token) -> tuple[tuple[Expr, ...], Span]:
        args: list[Expr] = []
        while not self.token.is_op(")"):
            args.append(self.expression())
            if self.token.is_op("="):
                axis = isinstance(args[-1], Name) and args[-1].name in AXES
                hint = (
                    f"an index in brackets says along what: `{called.text}[k](x[..., k])`"
                    if axis
                    else "leave out the name and `=`; equality is written `==`"
                )
                raise self.fail("arguments are positional", self.token.span, "OPG201", hint)
            if not self.accept(","):
                break
        return tuple(args), self.expect(")", opener).span

    def items(self, opener: Token) -> tuple[tuple[Expr | Dots, ...], Span]:
        items: list[Expr | Dots] = []
        while not self.token.is_op("]"):
            if dots := self.accept("..."):
                items.append(Dots(dots.span))
            elif self.token.is_op(":"):
                break
            else:
                items.append(self.expression())
            if not self.accept(","):
                break
        if self.token.is_op(":"):
            raise self.fail("a slice is not part of the formula language", self.token.span, "OPG201", SLICE)
        return tuple(items), self.expect("]", opener).span

    def binder(self, item: Expr | Dots) -> Binder | Dots:
        """What a reduction binds: an index, perhaps with its extent, or `...`."""
        bound = as_binder(item)
        if bound is not None:
            return bound
        hint = UP_TO if isinstance(item, Compare) else "write `sum[i](…)`, `sum[i < N](…)` or `sum[...](…)`"
        raise self.fail("a reduction binds plain indices", item.span, "OPG246", hint)

    # --- statements --------------------------------------------------------------------------------------------------

    def statements(self) -> tuple[Assign, ...]:
        found: list[Assign] = []
        while self.token.kind is not T.END:
            if self.token.kind is T.NEWLINE:
                self.advance()
                continue
            first = self.token
            if is_foreign(self.tokens, self.at):
                hint = STATEMENTS[first.text]
                self.fail(f"`{first.text}` is not part of the formula language", first.span, "OPG201", hint)
                self.at, lost = end_of_foreign(self.tokens, self.at)
                self.lost |= dict.fromkeys(lost)
                continue
            try:
                self.depth = 0
                found.append(self.statement())
            except _StopError:
                if first.kind is T.NAME:
                    self.lost[first.text] = None
                while self.token.kind not in {T.END, T.NEWLINE}:
                    self.advance()
        return tuple(found)

    def statement(self) -> Assign:
        target = self.target()
        op = self.update()
        value = self.expression()
        guard = None
        if self.token.is_word("if"):
            self.advance()
            guard = self.expression()
        if self.token.kind not in {T.END, T.NEWLINE}:
            raise self.unexpected("an operator or the end of the statement")
        last = guard or value
        return Assign(target, op, value, guard, target.span.to(last.span))

    def target(self) -> Target:
        token = self.token
        if token.kind is not T.NAME:
            raise self.unexpected("the name that a statement assigns")
        if token.is_word("pad") and self.peek().is_op("("):
            self.advance()
            opener = self.advance()
            inner = self.target()
            end = self.expect(")", opener).span
            return Target(inner.name, inner.items, token.span.to(end), inner.name_span, padded=True)
        self.advance()
        opener_or_none = self.accept("[")
        if opener_or_none is None:
            return Target(token.text, None, token.span, token.span)
        items, end = self.items(opener_or_none)
        return Target(token.text, tuple(as_binder(i) or i for i in items), token.span.to(end), token.span)

    def update(self) -> str:
        token = self.token
        if token.is_op(*_UPDATES):
            return self.advance().text
        if token.is_word("max", "min") and self.peek().is_op("="):
            self.advance()
            self.advance()
            return f"{token.text}="
        if token.is_op("=="):
            raise self.fail("a statement assigns with `=`", token.span, "OPG201", "write a single `=`")
        if token.is_op("(") and is_assigned(self.tokens, self.at):
            hint = f"write `{self.tokens[self.at - 1].text}[i, j] = …`"
            raise self.fail("an element is written with brackets", token.span, "OPG201", hint)
        if token.is_op("(") or token.kind in {T.NEWLINE, T.END}:
            raise self.fail(
                "this line assigns nothing",
                self.tokens[self.at - 1].span,
                "OPG201",
                "a statement is `name = expression`; an expression goes on over lines only inside open brackets",
            )
        if token.is_op("-") and self.peek().is_op("="):
            raise self.fail("there is no `-=`", token.span, "OPG201", "write `+= -(…)`")
        raise self.unexpected("`=`")

    def finish(self) -> None:
        while self.token.kind is T.NEWLINE:
            self.advance()
        if self.token.kind is not T.END:
            raise self.unexpected("an operator or the end of the formula")


def as_binder(item: Expr | Dots) -> Binder | Dots | None:
    """An item read as what introduces an index; None for any other expression."""
    match item:
        case Dots():
            return item
        case Name(name=name, span=span):
            return Binder(name, None, span)
        case Compare(operands=(Name(name=name), extent), ops=("<",), span=span):
            return Binder(name, extent, span)
        case _:
            return None


def parse_statements(f: Formula, bag: Bag) -> tuple[tuple[Assign, ...], tuple[str, ...]]:
    """The statements of a `forward` or `backward` block, and the names of those that could not be read."""
    before = len(bag.items)
    parser = _Parser(f, bag)
    with deep_trees():
        found = parser.statements()
    if not found and len(bag.items) == before:
        bag.error("OPG201", "this block assigns nothing", f.whole, hints=("write `name = expression`",))
    return found, tuple(parser.lost)


def parse_block(f: Formula, bag: Bag) -> tuple[Assign, ...] | None:
    """The statements of a block; None where there is a mistake (all are reported)."""
    before = len(bag.items)
    found, _ = parse_statements(f, bag)
    return found if len(bag.items) == before else None


def parse_expression(f: Formula, bag: Bag) -> Expr | None:
    """One expression, such as the value of a derived dim or of a function."""
    before = len(bag.items)
    parser = _Parser(f, bag)
    while parser.token.kind is T.NEWLINE:
        parser.advance()
    try:
        with deep_trees():
            result = parser.expression()
        parser.finish()
    except _StopError:
        return None
    return result if len(bag.items) == before else None
