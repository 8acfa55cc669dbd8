"""Formula text in, expression trees and statements with spans out.

An operator-precedence parser by hand: n-ary sums and products, chained comparisons, `**` to the right and tighter
than the unary minus. A statement with a mistake is reported and skipped to the end of its line, so that every
statement gets its say. Nesting is limited, because everything after the parser walks trees recursively.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial

from opgen.diagnostics.model import Bag
from opgen.lang.again import read_again
from opgen.lang.binders import as_binder
from opgen.lang.branches import WORDS
from opgen.lang.cursor import StopError
from opgen.lang.cut_lines import next_statement
from opgen.lang.depth import deep_trees
from opgen.lang.ends import ended_target
from opgen.lang.functional import GENERAL, added, added_at, place_of, places_along, scattered, ufunc_at
from opgen.lang.habits import DEFINED, POSITION, SLICE
from opgen.lang.idioms import Idioms
from opgen.lang.instead import ASSIGNS_NOTHING, changed_in_place, instead_of, of_call
from opgen.lang.layout import layout, read_ahead
from opgen.lang.lexer import T
from opgen.lang.loop_parser import LoopParser
from opgen.lang.new_values import NewValue, as_new, name_new, tell_below
from opgen.lang.nodes import Assign, Binder, Dots, Expr, Name, Target
from opgen.lang.position_groups import without_groups
from opgen.lang.primes import note_primes
from opgen.lang.sampling import of_distribution
from opgen.lang.slices import Slice
from opgen.lang.slices_left import by_component
from opgen.lang.slips import assigned_targets, bracketed, end_of_foreign, is_assigned, is_foreign
from opgen.lang.start_lines import AS_ARRAYS, start_lines
from opgen.lang.successive import KEPT, Chain, Values, as_values, go_on, is_new
from opgen.lang.targets import behind_others, in_parts, is_plain, is_said, named_first, sizes
from opgen.lang.through_masks import masked_items, through_mask
from opgen.lang.tuples import renamed_below, unpacked
from opgen.lang.updates import FOREIGN, RENAMED, TAKEN, TWICE, read_as, updated
from opgen.lang.vocabulary import UNCLEAR, Vocabulary
from opgen.lang.whole import with_indices
from opgen.schema.formula import Formula

_UPDATES = ("=", "+=", "*=")


class _Parser(LoopParser):
    def __init__(self, f: Formula, bag: Bag, words: Vocabulary) -> None:
        super().__init__(f, bag, words)
        self.meant: list[Assign] = []  # these and those without, with the names that they have then
        self.chains: dict[str, Chain] = {}
        self.values: dict[str, Values] = {}  # of outputs that are updated
        self.renewals: list[NewValue] = []
        self.cases: dict[str, list[Expr | None]] = {}  # what the statements of a name so far ask

    def statements(self) -> tuple[Assign, ...]:
        while self.token.kind is not T.END:
            if self.token.kind is T.NEWLINE:
                self.advance()
                continue
            start, first = self.at, self.token
            if is_foreign(self.tokens, self.at):
                end, lost = end_of_foreign(self.tokens, self.at)
                if self.loop(first, self.tokens[end]):
                    continue
                hints = instead_of(self.words, first, self.tokens[end])
                self.fail(f"`{first.text}` is not part of the formula language", first.span, "OPG201", *hints)
                self.at = end
                self.lost |= dict.fromkeys(lost)
                if first.text == "def":
                    self.words.names = (*self.words.names, *lost[:1])
                continue
            if self.in_steps(first):
                continue
            try:
                self.depth = 0
                read_ahead(self.words, self.rest_of_statement())
                s = self.read(turns=any(t.is_word("'") for t in self.rest()))
                if not self.idioms.found and through_mask(self.bag, self.words, self.chains, self.proposed, s):
                    continue
                if not self.idioms.found:
                    sizes(self.words, s)
                    self.found.append(s)
                    self.meant.append(s)
                    continue
                at = s.span
                s = go_on(self.words, self.chains, s, self.meant, self.idioms)
                self.idioms.other = partial(self.other, start)
                self.idioms.report(self.bag, s, at)
                self.chains[s.target.name].told = self.idioms.told
                made = [] if self.idioms.made is None else [self.idioms.made]
                self.proposed += made
                self.meant += made
                of = {new: name for name, new in self.words.renewed.items()}
                name = of.get(made[0].target.name, first.text) if made else first.text
                if name in self.words.inputs or name in self.words.buffers:
                    self.goes_on_as(name, self.words.renewed.get(name, ""))
                self.lost[s.target.name] = None
            except StopError:
                if self.idioms.found:
                    self.idioms.report(self.bag, None)
                for name in named_first(self.tokens[start:]):
                    self.lost[name] = None
                    self.cases.setdefault(name, []).append(None)
                self.at = next_statement(self.tokens, self.at)
                self.skip_line()
        tell_below(self.bag, self.words, self.renewals, self.found)
        return tuple(self.found)

    def read(self, *, turns: bool) -> Assign:
        """A statement, with what is foreign in it noted."""
        self.idioms = Idioms(self.words, read_again, turns=turns)
        self.words.bound = self.idioms.bound
        note_primes(self.idioms, self.rest())
        known = {name: new for name, new in self.words.renewed.items() if new in self.words.letters}
        s = self.idioms.in_small_letters(without_groups(self.idioms, self.statement()))
        if s.guard is not None:  # perhaps another case of the same value
            known.pop(s.target.name, None)
        meant = name_new(self.words, s)
        s = with_indices(self.idioms, s)
        read = self.idioms.read_as(s, replace(s, value=read_as(s, known).value)) if self.idioms.found else s
        return as_new(self.idioms, read, meant)

    def other(self, start: int, reading: str) -> Assign | None:
        """What is proposed for the statement at a token by another reading; nothing is told."""
        words = self.words
        kept = self.at, self.idioms, self.bag, self.cases, words.letters, words.shapes
        words.letters, words.shapes, words.reading = dict(words.letters), dict(words.shapes), reading
        self.at, self.bag, self.cases = start, Bag(), {name: [*asked] for name, asked in self.cases.items()}
        try:
            s = self.read(turns=kept[1].turns)
            self.idioms.report(self.bag, s, s.span)
            return self.idioms.made
        except StopError:
            return None
        finally:
            self.at, self.idioms, self.bag, self.cases, words.letters, words.shapes = kept
            words.reading = ""

    def statement(self) -> Assign:
        if (how := ufunc_at(self.tokens, self.at)) is not None:
            raise self.accumulated(how)
        target = (changed := changed_in_place(self.words, self.tokens, self.at)) or self.target()
        plain = [i for i in target.items or () if is_plain(i, self.words)]
        self.idioms.target = target.name
        self.idioms.left = tuple("..." if isinstance(i, Dots) else i.name for i in plain)
        self.words.left = self.idioms.left
        self.idioms.plain = target.items is not None and len(plain) == len(target.items)
        if self.idioms.plain:
            self.words.letters.setdefault(target.name, self.idioms.left)
        self.idioms.behind = behind_others(self.words, target.name, target.items or ())
        op = "=" if changed else self.update()
        if changed is not None:
            self.idioms.note(
                self.token.span, ASSIGNS_NOTHING, *([RENAMED] if changed.name not in self.words.letters else [])
            )
        if target.items is None and target.name in self.words.inputs and op != "=":
            self.idioms.left = self.words.letters.get(target.name, ())
        if (dot := place_of(self.tokens, self.at)) is not None:
            raise self.scattered(target, dot)
        if (dot := added_at(self.tokens, self.at)) is not None:
            raise self.added(target, dot)
        value = self.choice()
        if target.items is None and not self.idioms.found and layout(self.words, value) in ((), ("...",)):
            self.words.letters.setdefault(target.name, layout(self.words, value))
        guard = None
        if self.token.is_word("if"):
            self.advance()
            guard = self.expression()
            if self.token.is_word("else"):
                at = self.advance().span
                message = "`else` is not part of the formula language"
                value, guard = self.either(guard, value, self.inner(), at, message), None
        if self.token.is_word(*WORDS):
            asked, guard = self.next_case(self.cases.get(target.name, ()))
        else:
            asked = guard
        if self.token.kind not in {T.END, T.NEWLINE}:
            raise self.unexpected("an operator or the end of the statement")
        self.cases.setdefault(target.name, []).append(asked)
        made = Assign(target, op, value, guard, target.span.to(self.tokens[self.at - 1].span))
        if op.removesuffix("=") in FOREIGN:
            made = self.updated(made)
        if changed is not None and changed.name != changed.span.text:
            self.words.renewed[changed.span.text] = changed.name
        return made

    def scattered(self, target: Target, dot: int) -> StopError:
        """Report `y = x.at[ids].add(e)`, whose dot is at this token."""
        of = self.token.span.to(self.tokens[dot - 1].span)
        self.at = dot + 2
        written, end = self.sliced(self.advance())
        while written and isinstance(written[-1], Slice) and not (written[-1].start or written[-1].stop):
            written = written[:-1]  # all of an axis behind the places
        items = self.without_slices(written)
        hints: tuple[str, ...] = (GENERAL,)
        if self.token.is_op(".") and self.peek().kind is T.NAME and self.peek(2).is_op("("):
            how = self.peek()
            self.at += 2
            given = self.arguments(how, self.advance()).given
            if len(given) == 1 and self.token.kind in {T.END, T.NEWLINE}:
                hints = scattered(self.words, target, of.text, items, how.text, given[0])
                self.idioms.found.clear()
        self.words.letters.setdefault(target.name, (UNCLEAR,))
        span = self.tokens[dot].span.to(end)
        return self.fail(f"`{span.text}` is not part of the formula language", span, "OPG201", *hints)

    def added(self, target: Target, dot: int) -> StopError:
        """Report `y = x.index_add(0, ids, e)`, whose dot is at this token."""
        of = self.token.span.to(self.tokens[dot - 1].span)
        self.at = dot + 1
        how = self.advance()
        text, given, combined = added(of, how.text, self.arguments(how, self.advance()))
        items = places_along(self.words, given) if combined else ()
        hints = scattered(self.words, target, text, items, combined, given[2]) if items else (GENERAL,)
        self.idioms.found.clear()  # told with it
        self.words.letters.setdefault(target.name, (UNCLEAR,))
        span = self.tokens[dot].span.to(how.span)
        return self.fail(f"`{span.text}` is not part of the formula language", span, "OPG201", *hints)

    def accumulated(self, how: str) -> StopError:
        """Report `np.add.at(y, ids, e)`."""
        start = self.advance().span
        self.at += 3
        span = start.to(self.advance().span)
        given = self.arguments(self.token, self.advance()).given
        hints: tuple[str, ...] = (GENERAL,)
        if len(given) == 3 and isinstance(given[0], Name):
            target = Target(given[0].name, None, given[0].span, given[0].span)
            hints = scattered(self.words, target, given[0].name, given[1:2], how, given[2])
            self.idioms.found.clear()
            self.lost[target.name] = None
        return self.fail(f"`{span.text}` is not part of the formula language", span, "OPG201", *hints)

    def updated(self, s: Assign) -> Assign:
        """An update of another language as it is meant; a listed output has the last of its values."""
        below = self.formula.text[bisect_left(self.formula.offsets, self.token.span.start) :]
        plain = all(isinstance(i, Binder | Dots) for i in s.target.items or ())
        if s.op == "-=":
            plain &= is_new(self.words, self.values, s)
        value = as_values(self.words, self.values, s, self.found, below) if plain else None
        if value is not None:
            self.idioms.above = value[1]
            self.idioms.say_instead(TAKEN, RENAMED)
            if value[1] or value[0].target.name == s.target.name:
                self.idioms.say_instead(RENAMED, KEPT)
            return value[0]
        meant = updated(self.words, s)
        if meant is not None and meant.op == "*=":
            self.idioms.say_instead(RENAMED, TWICE)
        self.idioms.unclear |= meant is None
        name = s.target.name
        if meant is not None and meant.target.name != name and self.words.outputs.get(name) is not None:
            self.idioms.say_instead(RENAMED, f"{RENAMED}, and in `outputs`, which then lists `{meant.target.name}`")
        return meant or s

    def goes_on_as(self, name: str, new: str) -> None:
        """From here on an input is read as the new value that has been proposed of it, if that is known."""
        made, told = self.idioms.made, self.idioms.told
        if made is not None and told is not None and made.target.name == new:
            self.renewals.append(NewValue(name, new, told, len(self.found)))
        if made is None:
            self.words.letters[name] = (UNCLEAR,)
        elif made.target.name == new and new in self.words.letters:
            self.words.letters[name] = self.words.letters[new]
            self.words.shapes[name] = self.words.shapes.get(new, (UNCLEAR,))

    def target(self) -> Target:
        if self.token.is_word("where") and self.peek().kind is T.NAME and self.tokens[self.at + 2].is_op("[", "="):
            self.idioms.note(self.advance().span, "`where` begins no statement", DEFINED)
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
        written, end = self.sliced(opener_or_none)
        first = next((i.span for i in written if isinstance(i, Slice)), None)
        block = self.formula.text
        if lines := start_lines(self.words, token.text, written, self.rest_of_statement(), block):
            raise self.fail(AS_ARRAYS.format(token.text), first or token.span.to(end), "OPG250", *lines)
        if masked := masked_items(self.words, token.text, written):
            return Target(token.text, masked, token.span.to(end), token.span)
        if first is not None:
            hint = by_component(self.words, token.text, block) or in_parts(self.words, token.text, written, block)
            message = "a slice is not part of the formula language"
            if is_said(written, self.tokens[self.at :]):
                self.idioms.note(first, message, POSITION, otherwise=hint or SLICE)
                self.idioms.written = written
                return Target(token.text, None, token.span, token.span)
            raise self.fail(message, first, "OPG201", POSITION, hint or SLICE)
        items = ended_target(self.idioms, self.without_slices(written))
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
            line = token.span.source.text[self.tokens[self.at - 1].span.start :].partition("\n")[0]
            tensors = (*self.tensors, *(n for n in self.words.letters if n not in self.tensors))
            raise self.fail("an element is written with brackets", token.span, "OPG201", bracketed(line, tensors))
        calls = token.is_op(".") and self.peek(2).is_op("(")
        if token.is_op("(") or calls or token.kind in {T.NEWLINE, T.END}:
            raise self.fail(
                ASSIGNS_NOTHING,
                self.tokens[self.at - 1].span,
                "OPG201",
                of_call(token.span.source.text[self.tokens[self.at - 1].span.start :].partition("\n")[0]),
            )
        if token.is_op(*FOREIGN) and self.peek().is_op("="):
            self.advance()
            span = token.span.to(self.advance().span)
            hint = TAKEN if token.text == "-" else RENAMED
            self.idioms.note(span, f"there is no `{span.text}`", hint)
            return f"{token.text}="
        if targets := assigned_targets(self.tokens, self.at):
            self.lost |= dict.fromkeys(t.partition("[")[0] for t in targets)
            line = token.span.source.text[token.span.start :].partition("\n")[0]
            below = self.formula.text[bisect_left(self.formula.offsets, token.span.start) :].partition("\n")[2]
            made, again = renamed_below(self.words, targets, below)
            hints = unpacked(self.words, made, line, partial(read_again, notes=self.idioms))
            raise self.fail("expected `=`, found `,`", token.span, "OPG201", *hints, *again)
        if token.is_op("~"):
            hints = of_distribution(self.words, token.span)
            raise self.fail("a statement assigns with `=`", token.span, "OPG201", *hints)
        raise self.unexpected("`=`")

    def finish(self) -> None:
        self.skip_empty()
        if self.token.kind is not T.END:
            raise self.unexpected("an operator or the end of the formula")


def parse_statements(
    f: Formula, bag: Bag, words: Vocabulary | None = None
) -> tuple[tuple[Assign, ...], tuple[str, ...]]:
    """The statements of a `forward` or `backward` block, and the names of those that could not be read.

    With `words`, proposals are spelt with the names and indices of the spec.
    """
    before = len(bag.items)
    parser = _Parser(f, bag, words or Vocabulary())
    with deep_trees():
        found = parser.statements()
    if not found and len(bag.items) == before:
        bag.error("OPG201", "this block assigns nothing", f.whole, hints=("write `name = expression`",))
    return found, tuple(parser.lost)


def parse_expression(
    f: Formula, bag: Bag, known: Collection[str] = (), shapes: Mapping[str, tuple[str, ...]] | None = None
) -> Expr | None:
    """One expression, such as the value of a derived dim or of a function; `known`: all names, where these are told.

    `shapes`: those of tensors, whose sizes it may name.
    """
    before = len(bag.items)
    parser = _Parser(f, bag, Vocabulary(dict(shapes or {}), assigned=known))
    parser.skip_empty()
    try:
        with deep_trees():
            result = parser.choice()
        parser.finish()
    except StopError:
        return None
    if parser.idioms.found:
        parser.idioms.report(bag, result, f.whole)
    return result if len(bag.items) == before else None
