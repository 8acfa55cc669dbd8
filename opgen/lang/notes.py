"""What has been noted of a statement in the notation of other libraries, and what is said about it: one message.

A proposal is the whole statement as it is meant, where all of it has a counterpart.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from opgen.diagnostics.model import Bag, Hint, Label, Span
from opgen.diagnostics.suggest import did_you_mean, listed
from opgen.lang import formulas, habits, orders
from opgen.lang.aliases import ALIASES
from opgen.lang.aligned import Aligned, aligned, is_by_place, renamed, stated
from opgen.lang.choices import by_choice
from opgen.lang.circles import step_before
from opgen.lang.conversions import as_condition, chosen_by
from opgen.lang.foreign import by_steps, written
from opgen.lang.groups import Within, with_lines
from opgen.lang.inner_products import contracted, in_place, over_batch
from opgen.lang.joins import LIST
from opgen.lang.layout import is_open, layout, over_the_rest, spelled
from opgen.lang.limits import bounded, limited_by
from opgen.lang.new_axes import are_lined_up
from opgen.lang.nodes import (
    Access,
    Assign,
    Binder,
    Call,
    Dots,
    Expr,
    Logic,
    Name,
    Number,
    Reduction,
    Target,
    Unary,
)
from opgen.lang.numbered import numbered
from opgen.lang.past import of_its_past
from opgen.lang.picked_by_masks import over_picked, selected
from opgen.lang.products import reindexed
from opgen.lang.results import stored
from opgen.lang.rows import by_row
from opgen.lang.slices import Bounds, Extents, Item
from opgen.lang.spread import bound_in, extended, size_at
from opgen.lang.subscripts import target_of
from opgen.lang.targets import apart, order_of, read_by, remember, sizes_of
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.vocabulary import LAST, ROWS, UNCLEAR, Vocabulary
from opgen.lang.walk import nodes, transform

_GENERAL = (habits.PREFIXED, habits.NO_ATTRIBUTES)  # said of the first that is met only
OF_STORAGE = ("dtype", "device")


@dataclass(slots=True)
class Found:
    code: str
    message: str
    span: Span
    hints: tuple[str, ...]
    label: str = ""
    otherwise: str = ""  # a hint for where no line can be proposed


@dataclass(slots=True)
class Notes(ABC):
    """What is noted of the foreign notation of one statement."""

    words: Vocabulary
    again: Callable[[str, Notes], Expr | None] = lambda _, __: None  # reads a formula of another library
    left: tuple[str, ...] = ()  # the indices of its target
    target: str = "y"
    written: tuple[Item, ...] = ()  # what stands in its brackets, where that has slices
    behind: str = ""  # how it is written where it is a part of a tensor
    found: list[Found] = field(default_factory=list)
    unclear: bool = False  # something in it has no counterpart
    limits: dict[str, str] = field(default_factory=dict)  # an index that another one goes up to, with that one
    results: list[tuple[Expr, tuple[str, ...]]] = field(default_factory=list)  # nodes whose indices have an order
    bound: list[str] = field(default_factory=list)  # indices of the reductions around what is read
    by_place: list[Expr] = field(default_factory=list)  # of them, those whose indices are the letters of the target
    counted: list[Expr] = field(default_factory=list)  # what `arange` counts that stands at no place of a tensor so far
    counts: dict[str, Expr] = field(default_factory=dict)  # how far
    chosen: list[str] = field(default_factory=list)  # what it counted in a formula that is read again
    inside: int = 0  # how many of them there are
    within: list[Within] = field(default_factory=list)  # reductions within groups
    above: tuple[str, ...] = ()  # what statements further up become
    along: str = ""  # the index along which the statement goes on from its step before
    told: tuple[str, Span] | None = None  # what has been said of the first of them; then what is said of this one
    runs: dict[str, Expr] = field(default_factory=dict)  # how far indices run that no access says
    moved: dict[str, Expr] = field(default_factory=dict)  # how far, where an access has them beside themselves alone
    masked: bool = False  # a mask stands for positions
    turns: bool = False  # matrices are turned round with `'`, so that `*` is their product
    ranks: list[tuple[Expr, int, bool]] = field(default_factory=list)  # values by their axes; which are rows?
    plain: bool = False  # nothing else stands there
    grown: tuple[str, ...] = ()  # the indices of the target with one more, which it lacks
    made: Assign | None = None  # the statement that is proposed
    other: Callable[[str], Assign | None] = lambda _: None  # the proposal by another reading
    keeps: bool = False  # axes that are reduced over stay, with one element
    either: Expr | None = None  # tensors that are joined along the first axis or the last one
    alternatives: list[str] = field(default_factory=list)  # what else the statement that is proposed may stand for
    picks: dict[int, int] = field(default_factory=dict)  # where accesses begin that have a mask alone, which nothing
    # reduces so far, with its axis
    parts: dict[int, Extents] = field(default_factory=dict)  # how far slices run, by where their access begins

    def note(self, span: Span, message: str, *hints: str, code: str = "OPG201", otherwise: str = "") -> None:
        self.found.append(Found(code, message, span, hints, otherwise=otherwise))

    def say_instead(self, hint: str, other: str) -> None:
        """Say another hint in place of one that has been noted."""
        for found in self.found:
            found.hints = tuple(other if h == hint else h for h in found.hints)

    def note_unclear(self, hint: str = "") -> None:
        self.unclear = True
        last = self.found[-1]
        if hint and hint not in last.hints:
            last.hints = (*last.hints, hint)

    @abstractmethod
    def called(
        self, name: str, args: tuple[Expr, ...], named: Mapping[str, Expr | tuple[Expr, ...]], span: Span
    ) -> Expr:
        """What a call of another library means here."""

    def over_picked(self, name: str, args: tuple[Expr, ...], named: Mapping[str, object]) -> Expr | None:
        """A reduction over what a mask picks, and what a call picks by one; None for other calls."""
        if name == "masked_select" and (found := selected(args)) is not None:
            self.picks[found.name_span.start] = 0
            return found
        of = args[0] if args else None
        if not isinstance(of, Access) or of.name_span.start not in self.picks:
            return None
        made = over_picked(self.words, ALIASES.get(name, name), of, self.picks[of.name_span.start], args[1:], named)
        if made is not None:
            del self.picks[of.name_span.start]
        return made

    def by_place_again(self, of: Expr, node: Expr, order: tuple[str, ...]) -> tuple[Expr, tuple[str, ...]]:
        """What a value becomes that got the letters of the target by their places, and whose axes then change these."""
        if not any(of is n for n in self.by_place) or {*order} != {*self.left}:
            return node, order
        names = dict(zip(order, self.left, strict=True))
        self.runs = {names.get(i, i): size for i, size in self.runs.items()}
        self.by_place.append(made := reindexed(node, names))
        return made, self.left

    def takes_more(self, name: str) -> bool:
        """Whether it is a reduction of other libraries that has an argument besides what is reduced."""
        known = name in (*self.words.reductions, *self.words.functions) or self.words.knows(name)
        return name in orders.NAMES and bool(self.words.reductions) and not known

    def report(self, bag: Bag, whole: Assign | Expr | None, at: Span | None = None) -> None:
        """One diagnostic for all that was met; `whole` is what was read, if that went to the end, and is `at`."""
        if isinstance(whole, Assign):
            whole = replace(whole, value=self._respelt(whole.value))
        self.unclear |= bool(self.picks)
        first, *others = sorted(self.found, key=lambda found: found.span.start)
        hints = first.hints
        foreign, good = _of_other_libraries(self.words, whole)
        elsewhere = foreign.values()
        text = None if whole is None or self.unclear or not good else self._proposal(whole)
        if text is not None:
            general = first.message.startswith(("arguments", habits.NUMBERED)) or first.code in (
                "OPG206",
                "OPG212",
                "OPG242",
            )
            said = () if general else hints
            line = written(text, at or first.span, self.above, together=self.told is not None)
            line = by_steps(text, self.above, self.along) if self.along else line
            line = with_lines(self.words, self.within, self.made, text) if self.within else line
            if self.made is not None and (cases := by_choice(self.words, self.made)):
                line = f"a choice is a guard at the end: write {', '.join(f'`{unparse_assign(c)}`' for c in cases)}"
                said = tuple(h for h in said if h != habits.CHOICE)
            row = None if self.made is None or self.above or self.within else by_row(self.made)
            lines: tuple[str, ...] = (line,)
            if row is not None:
                each = f"for each element of the batch write `{unparse_assign(row)}`"
                lines = (each, f"or over all of the batch, too: `{text}`")
            if self.words.doubts and (other := self.other(ROWS)) is not None and unparse_assign(other) != text:
                by = listed(self.words.doubts, "and")
                lines = (*map(str, lines), f"or, where {by} lists rows: `{unparse_assign(other)}`")
            if self.either is not None and isinstance(whole, Assign) and whole.value == self.either:
                last = None if self.words.reading else self.other(LAST)
                along = habits.ALONG_EITHER
                lines = lines if last is None else (along[0].format(line), along[1].format(unparse_assign(last)))
            if self.alternatives:
                lines = (*map(str, lines), *self.alternatives)
            hints = (*said, *lines, *stored(self.words, whole), *self._seeded(text), *elsewhere)
        else:
            hints = (*hints, *(h for o in others for h in o.hints if h not in (*hints, *_GENERAL)))
            hints = (*hints, *dict.fromkeys(o.otherwise for o in (first, *others) if o.otherwise), *elsewhere)
            hints = (*hints, habits.MASKED) if self.masked else hints
            hints = (*hints, *of_its_past(whole, back=bool(self.limits))) if isinstance(whole, Assign) else hints
        related = [Label(o.span, o.label or "this too") for o in others if o.span != first.span]
        if self.told is not None and text is not None:
            bag.join(*self.told, first.span, hints)
            return
        bag.error(first.code, first.message, first.span, label=first.label, hints=hints, related=related)
        self.told = first.code, first.span

    def read_as(self, s: Assign, made: Assign) -> Assign:
        """A statement that reads values under other names, where parts of it keep the order of their axes."""
        before, after = [*nodes(s.value)], [*nodes(made.value)]
        if len(before) == len(after):
            other = {id(o): n for o, n in zip(before, after, strict=True)}
            self.results = [(other.get(id(node), node), order) for node, order in self.results]
        return made

    def _seeded(self, text: str) -> tuple[str, ...]:
        """What a line needs that draws random numbers."""
        return () if "(seed)" not in text or self.words.knows("seed") else (habits.SEEDED.format(self.words.seeded()),)

    def _respelt(self, e: Expr) -> Expr:
        """A value with what is misspelt in it, and with numbers where conditions belong: what else is wrong would hide
        them."""
        words = self.words

        def compared(e: Expr) -> Expr:
            name = e.name if isinstance(e, Name | Access) else ""
            return as_condition(e) if name in words.inputs and name not in words.masks else self._respelt(e)

        def step(node: Expr) -> Expr | None:
            if isinstance(node, Logic):
                return replace(node, operands=tuple(map(compared, node.operands)))
            if isinstance(node, Unary) and node.op == "not":
                return replace(node, operand=compared(node.operand))
            if isinstance(node, Name) and node.name in habits.CONSTANTS and not words.knows(node.name):
                return replace(node, name=habits.CONSTANTS[node.name])
            if not isinstance(node, Call | Reduction) or not words.reductions or self.words.has(node.name):
                return None
            of = words.reductions if isinstance(node, Reduction) else (*words.functions, *words.reductions)
            hints = () if node.name in habits.FUNCTIONS or words.knows(node.name) else did_you_mean(node.name, of)
            if not hints or not isinstance(hints[0], Hint):
                return None
            what, code = ("reduction", "OPG211") if isinstance(node, Reduction) else ("function", "OPG209")
            self.note(node.name_span, f"there is no {what} `{node.name}`", hints[0], code=code)
            self.found[-1].label = f"unknown {what}"
            if isinstance(node, Call) and hints[0].new not in words.functions:
                return self.called(hints[0].new, tuple(map(self._respelt, node.args)), {}, node.span)
            return self._respelt(replace(node, name=hints[0].new))

        return transform(e, step)

    def _is_of_storage(self, name: str) -> bool:
        """Whether a name is that of a dtype or a device, which is fine where it is left away."""
        foreign = name not in habits.CASTS and not self.words.knows(name)
        return name in OF_STORAGE or (foreign and habits.DTYPE.fullmatch(name) is not None)

    def _counts_behind(self, value: Expr) -> bool:
        """Whether all that `arange` counts, and that reads nothing, runs along the last axis; how far is noted."""
        for index in (c.name for c in self.counted if isinstance(c, Name)):
            self.runs[index] = self.counts[index]
            reads = (a.items for a in nodes(spelled(self.words, value)) if isinstance(a, Access))
            if any(Name(index, i.span) in items[:-1] for items in reads for i in items):
                return False
        return True

    def _aligned(self, whole: Assign) -> Aligned | None:
        """The value with its axes aligned by place, at the indices of the target; None where that is not certain."""
        parts = {**self.parts}
        made = aligned(self.words, self.results, whole.value, (*self.runs, *self.moved), parts)
        self.parts = parts
        if made is None or whole.target.items is None:
            return made
        left = tuple(
            "..." if isinstance(i, Dots) else i.name for i in whole.target.items if isinstance(i, Binder | Dots)
        )
        if [i == "..." for i in left] != [i == "..." for i in made.order]:
            return None
        names = {i: name for i, name in zip(made.order, left, strict=True) if i != name}
        return Aligned(renamed(self.words, made.node, names), left)

    def _contracted(self, target: Target, value: Expr) -> tuple[Target, Expr] | None:
        """The sides with the product of rows that is meant."""
        own = target.items is None or all(isinstance(i, Binder | Dots) for i in target.items)
        fits = own and not self.limits and (self.written or target.items is not None)
        return contracted(self.words, target, self.written, value) if fits else None

    def _proposal(self, whole: Assign | Expr) -> str | None:
        if isinstance(whole, Assign) and (isinstance(whole.value, Number) or not self._counts_behind(whole.value)):
            return None
        if not isinstance(whole, Assign):
            return None if self.parts or self.counted else unparse(whole)
        if any(isinstance(n, Name) and self._is_of_storage(n.name) for n in nodes(whole.value)):
            return None
        lined_up = None
        by_place = is_by_place(self.words, whole.value) or (bool(self.words.places) and not stated(whole.value))
        if by_place and all(isinstance(i, Binder | Dots) for i in whole.target.items or ()):
            if (lined_up := self._aligned(whole)) is None:
                return None
            whole = replace(whole, value=lined_up.node)
        meant = chosen_by(spelled(self.words, whole.value))
        value, target = over_the_rest(meant, frozenset(self.left)), whole.target
        if not are_lined_up(self.words, value):
            return None
        free = {*layout(self.words, value), *self.runs} - bound_in(value)
        if (summed := self._contracted(target, value)) is not None:
            target, value = summed
        elif target.items is None or (self.grown and {*self.grown} <= free):
            found = lined_up.order if lined_up else order_of(self.words, self.results, value, self.runs)
            items = self.grown or found
            items = in_place(self.written, items) if items and self.written else items
            if items is None:
                return None
            target = target_of(target.name, items, target.span)
        elif self.limits:
            value = limited_by(self.words, self.limits, value)
            if not self.words.results.get(target.name):
                target = replace(target, items=tuple(bounded(self.words, self.limits, i, value) for i in target.items))
        own = whole.op == "=" and target.name not in self.words.given
        target = over_batch(self.words, target, value) if own else target
        stepped = step_before(target, value) if own else value
        bound = frozenset(i.name for i in target.items or () if isinstance(i, Binder)) | read_by(target)
        if stepped is None or (self.words.reductions and is_open(self.words, stepped, bound)):
            return None
        sides = Bounds(self.words, self.parts).written(target, stepped) if self.parts else (target, stepped)
        if sides is None or (parted := apart(self.words, *sides)) is None:
            return None
        moved = {i: size for i, size in self.moved.items() if size_at(self.words, parted[1], i) is None}
        counted = numbered(self.words, *parted) if whole.op == "=" else {}
        self.alternatives += [
            habits.UNSAID.format(i) for i, size in counted.items() if size is None and i not in self.runs
        ]
        said = {i: size for i, size in counted.items() if size is not None}
        left, right = extended(self.words, {**said, **moved, **self.runs}, *parted)
        made = Assign(left, whole.op, right, whole.guard, whole.span)
        if any(n == Name(UNCLEAR, n.span) for n in (*nodes(made.value), *sizes_of(made.target))):
            return None
        remember(self.words, made)
        self.made = made
        return unparse_assign(made)


def _of_other_libraries(words: Vocabulary, whole: Assign | Expr | None) -> tuple[dict[str, str], bool]:
    """What is said of functions that are not there, and whether a line with them builds once that is done."""
    value = whole.value if isinstance(whole, Assign) else whole
    foreign = (
        [c for c in nodes(value) if isinstance(c, Call) and c.name != LIST and words.lacks(c.name)]
        if value is not None
        else []
    )
    own = {c.name: formulas.declared(c.name, len(c.args)) for c in foreign}
    more = {n: f": {habits.FUNCTIONS[n]}" for n in own if n in habits.FUNCTIONS}
    more |= {n: f": add it under `functions`: `{line}`" for n, line in own.items() if line is not None}
    return {n: f"there is no `{n}` either{more.get(n, '')}" for n in own}, None not in own.values()
