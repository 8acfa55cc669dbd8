"""What stands in the brackets of an access or a reduction: positions, slices, and tensors read with parentheses."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from opgen.diagnostics.model import Span
from opgen.lang.backwards import BY_PLACE, RUNNING
from opgen.lang.binders import as_binder
from opgen.lang.conversions import is_condition
from opgen.lang.foreign import called
from opgen.lang.habits import AXES, FOR, PLAIN, POSITION, SLICE, WHOLE_AXIS
from opgen.lang.lexer import T, Token
from opgen.lang.lists import ListParser
from opgen.lang.nodes import Access, Binder, Call, Compare, Dots, Expr, Logic, Name, Power
from opgen.lang.other_signs import equal
from opgen.lang.position_groups import as_group, group_at
from opgen.lang.ranges import ITERATOR, begins_below_0, iterated, over_iterators
from opgen.lang.slices import Item, Slice, run_of
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import rounded

_APPLIED = "a function is written in small letters, and what it is applied to stands in parentheses"
_DRAWN = ("uniform", "normal", "integer")  # also good names for tensors
_OTHERS = {1: ("sinc",), 2: ("log", "arctan")}  # what Mathematica means by these, by the number of arguments


class BracketParser(ListParser):
    """The part of a parser of expressions that reads what stands in brackets."""

    words: Vocabulary

    def items(self, opener: Token) -> tuple[tuple[Expr | Dots, ...], Span]:
        items, end = self.sliced(opener)
        return self.without_slices(items), end

    def sliced(self, opener: Token, picks: list[Expr] | None = None) -> tuple[tuple[Item, ...], Span]:
        """What stands in brackets, slices included; conditions behind `if` or `where` are added to `picks`."""
        items: list[Item] = []
        outer = tuple(self.idioms.bound)
        self.idioms.bound += iterated(self.tokens[self.at :]) if "{" in self.formula.text else ()
        closer = ")" if opener.text == "(" else "]"
        while not self.token.is_op(closer):
            if self.token.is_word(*AXES) and self.peek().is_op("="):  # `sum[dim=-1](x)`
                self.at += 2
            if dots := self.accept("..."):
                items.append(Dots(dots.span))
            elif brace := self.accept("{"):
                items.append(self.iterator(brace))
            elif picks is None and (group := group_at(self.words, self.tokens, self.at)):
                self.skip_to(group[-1].span.end)
                self.expect(")")
                items.append(as_group(group))
            else:
                item = None if self.token.is_op(":") else self.expression()
                if picks is not None and isinstance(item, Name) and (self.token.is_op("=") or self.token.is_word("in")):
                    item = self.run_below_0(item)
                elif picks is not None and item is not None and not isinstance(item, Name) and self.token.is_op("="):
                    item = self.equality(item)
                item = item and self.looped(item)
                part = self.slice_from(item) if item is None or self.token.is_op(":") else item
                if picks and not isinstance(part, Slice) and is_condition(part):  # behind another one
                    picks.append(part)
                else:
                    items.append(part if picks is None else self.chosen(part, picks))
            if picks is not None and self.is_such_that():
                picks.append(self.condition())
            if not self.accept(","):
                break
        self.idioms.bound[:] = outer
        return tuple(items), self.expect(closer, opener).span

    def is_such_that(self) -> bool:
        """Whether a condition follows, behind a word that is passed over."""
        said = self.token.is_word("if", "where", "when", "with")
        if self.token.is_word("such") and self.peek().is_word("that"):
            self.advance()
            said = True
        if said:
            self.advance()
        return said

    def condition(self) -> Expr:
        """A condition in brackets, in which `=` may stand for an equality."""
        e = self.expression()
        return self.equality(e) if self.token.is_op("=") else e

    def equality(self, left: Expr) -> Expr:
        """`i = j` inside of brackets."""
        sign = self.advance()
        self.idioms.note(sign.span, "`=` assigns, and stands in no brackets", "equality is written `==`")
        return equal(left, self.inner())

    def looped(self, index: Expr) -> Expr:
        """An index with `for e in range(E)` behind it, as it is bound here; or itself."""
        word, ahead = self.token, [self.peek(k) for k in range(1, 5)]
        if not (isinstance(index, Name) and word.is_word("for") and ahead[0].is_word(index.name)):
            return index
        if not (ahead[1].is_word("in") and ahead[2].is_word("range") and ahead[3].is_op("(")):
            return index
        self.at += 5
        extent = self.expression()
        end = self.expect(")", ahead[3]).span
        self.idioms.note(word.span, FOR, "how far an index runs is written with `<`")
        return Compare((index, extent), ("<",), index.span.to(end))

    def chosen(self, item: Item, picks: list[Expr]) -> Item:
        """An index with a condition behind a colon, as of a set: the condition is added to `picks`."""
        if not isinstance(item, Slice) or not isinstance(item.start, Name) or item.step is not None:
            return item
        if not isinstance(item.stop, Compare | Logic):
            return item
        picks.append(item.stop)
        return item.start

    def iterator(self, brace: Token) -> Call:
        """`{k, 0, K - 1}` or `{k, K}`, an index with its first and its last value."""
        parts = [self.expression()]
        while self.accept(","):
            parts.append(self.expression())
        return Call(ITERATOR, tuple(parts), brace.span.to(self.expect("}", brace).span), brace.span)

    def run_below_0(self, index: Name) -> Expr:
        """An index with `= -m:m`, `in -m:m` or `in range(-m, m)` behind it, as a condition; or itself."""
        if not begins_below_0(self.tokens, self.at):
            return index
        within = self.advance().is_word("in") and self.token.is_word("range")
        if within:
            opener = self.peek()
            self.at += 2
        first = self.expression()
        self.expect("," if within or self.token.is_op(",") else ":")
        last = self.expression()
        if within:
            self.expect(")", opener)
        return Compare((first, index, last), ("<=", "<" if within else "<="), index.span.to(last.span))

    def bound(self, name: Token, item: Item) -> Item:
        """What stands in the brackets of a reduction; an index with its extent behind a colon is noted."""
        if not isinstance(item, Slice) or (run := run_of(item)) is None:
            return item
        hint = f"how far an index runs is written with `<`: `{name.text}[{unparse(run)}](…)`"
        self.idioms.note(item.span, "a slice is not part of the formula language", hint)
        return run

    def binder(self, item: Expr | Dots, name: str) -> Binder | Dots:
        """What a reduction binds: an index, perhaps with its extent, or `...`."""
        bound = as_binder(item)
        if bound is not None:
            return bound
        batch = "" if name in (*RUNNING, *BY_PLACE) else f" or `{name}[...](…)`"
        hint = f"write `{name}[i](…)`{',' if batch else ' or'} `{name}[i < N](…)`{batch}"
        raise self.fail(PLAIN, item.span, "OPG246", hint)

    def slice_from(self, start: Expr | None) -> Slice:
        """`start:stop:step`, from its first colon on."""
        ends: list[Expr | None] = []
        colon = self.token.span
        while len(ends) < 2 and self.accept(":"):
            ends.append(None if self.token.is_op(":", ",", "]", ")") else rounded(self.expression()))
        stop, step = (*ends, None)[:2]
        return Slice(start and rounded(start), stop, step, colon)

    def without_slices(self, items: tuple[Item, ...]) -> tuple[Expr | Dots, ...]:
        plain = tuple(i for i in items if not isinstance(i, Slice))
        if len(plain) < len(items):
            at = next(i.span for i in items if isinstance(i, Slice))
            raise self.fail("a slice is not part of the formula language", at, "OPG201", POSITION, SLICE)
        return plain

    def applied(self, name: Token, items: Sequence[Item], span: Span) -> Expr | None:
        """`Exp[x]` and `max[a, b]`: a function with brackets around what it is applied to; None for a tensor."""
        words, plain = self.words, tuple(i for i in items if not isinstance(i, Slice | Dots))
        if any(isinstance(i, Call) and i.name == ITERATOR for i in plain):
            summed = over_iterators(words, name.text, plain, span)
            hint = "the index of a sum stands in brackets, and runs from 0: `sum[k < K](…)`"
            self.idioms.note(name.span, f"`{name.text}[…, {{…}}]` is not part of the formula language", otherwise=hint)
            self.idioms.unclear |= summed is None
            return summed or plain[0]
        known = words.knows(name.text) or words.knows(name.text.lower())
        if known or not words.functions or not plain or len(plain) < len(items):
            return None
        capital, reach = name.text[0].isupper(), (*self.idioms.left, *self.idioms.bound)
        if not capital and all(isinstance(i, Name) and (i.name in reach or not words.knows(i.name)) for i in plain):
            return None
        made = _call(words, name.text, plain, reach)
        if made is None or not (capital or name.text in words.functions):
            self.idioms.unclear |= capital
            return None
        message = f"there is no tensor `{name.text}`" if capital else f"`{name.text}` is not a tensor"
        self.idioms.note(name.span, message, _APPLIED, code="OPG205" if capital else "OPG206")
        self.idioms.unclear |= capital and name.text.lower() in _OTHERS.get(len(plain), ())
        return replace(made, span=span, name_span=name.span) if isinstance(made, Call) else made

    def in_parentheses(self, name: Token, opener: Token) -> Access:
        """`x(..., k)`, which is an element of a tensor; the batch dims may be left out as in a call."""
        written, end = self.sliced(opener)
        shape, place = self.words.shapes.get(name.text, ()), len(self.idioms.found)
        items = _with_batch(shape, written, name.span)
        self.idioms.unclear |= "..." not in shape and 0 < len(shape) < len(items)
        read = self.idioms.access(name, items, name.span.to(end))
        what = "a list" if name.text in self.words.lists else "a tensor"
        self.idioms.note(name.span, f"`{name.text}` is {what}", code="OPG206")
        if len(self.idioms.found) == place + 1:
            self.idioms.found[-1].hints = (f"read it with brackets: `{unparse(read)}`",)
        elif any(isinstance(i, Name) and i.name not in (*self.idioms.left, *self.idioms.bound) for i in items):
            self.idioms.unclear = True  # which place of an axis is meant is not said
            self.idioms.found[-1].otherwise = WHOLE_AXIS
            del self.idioms.found[place:-1]
        return read


def _call(words: Vocabulary, name: str, args: tuple[Expr, ...], reach: Sequence[str]) -> Call | Power | None:
    """A function of the language, or of another one, applied to these; None where that is no function of numbers."""
    if name.lower() in ("max", "min") and len(args) > 1:  # no axis
        return Call(name.lower(), args, args[0].span, args[0].span)
    meant = called(words, name, args, {}, reach)
    made = None if meant is None else meant.node
    if isinstance(made, Call):
        return made if made.name in words.functions and made.name not in _DRAWN else None
    return made if isinstance(made, Power) else None


def _with_batch(shape: Sequence[str], items: Sequence[Item], at: Span) -> tuple[Item, ...]:
    """The positions with the batch dims that a tensor has, and without those that it has not."""
    given = tuple(i for i in items if not isinstance(i, Dots))
    if "..." not in shape:
        return given if len(given) == len(shape) else tuple(items)
    return (Dots(at), *items) if shape[0] == "..." and len(items) == len(given) == len(shape) - 1 else tuple(items)


def is_indexed(words: Vocabulary, indices: Container[str], tokens: Sequence[Token], at: int) -> bool:
    """Whether a name is that of a tensor and followed by positions in parentheses: no values to multiply with."""
    depth = 0
    if tokens[at].text in indices or not (_is_tensor(words, tokens[at].text) or tokens[at].text in words.lists):
        return False
    for k, token in enumerate(tokens[at + 1 :], at + 1):
        depth += token.is_op("(", "[") - token.is_op(")", "]")
        if depth == 0:
            return k > at + 2
        if token.kind not in {T.NAME, T.NUMBER, T.OP} or token.is_op("=") or _is_value(words, indices, tokens, k):
            return False
    return False


def _is_value(words: Vocabulary, indices: Container[str], tokens: Sequence[Token], at: int) -> bool:
    """Whether a name stands for numbers that are no positions, as far as is known."""
    name = tokens[at].text
    if tokens[at].kind is not T.NAME or name in indices or name in words.integers or not _is_tensor(words, name):
        return False
    return name in words.shapes or not tokens[at + 1].is_op("(", "[")


def _is_tensor(words: Vocabulary, name: str) -> bool:
    other = name in words.functions or name in words.reductions
    return not other and (name in words.shapes or name in words.assigned)
