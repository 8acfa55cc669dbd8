"""Notation of PyTorch, NumPy and Python, read as what it means here: so a message can hold the very line to write.

Nodes in, nodes out. Whatever is met is a mistake all the same, noted with where it stands; one that has no counterpart
leaves the statement without a proposal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from opgen.diagnostics.model import Bag, Label, Span
from opgen.lang import habits, orders
from opgen.lang.circles import step_before
from opgen.lang.foreign import (
    CONSTANTS,
    TURNED,
    bare,
    called,
    is_product,
    layout,
    lettered,
    over_the_rest,
    product_of,
    renamed,
    spelled,
    transposed,
    written,
)
from opgen.lang.lexer import Token
from opgen.lang.limits import under_limit
from opgen.lang.nodes import (
    Access,
    Assign,
    Binder,
    Call,
    Dots,
    Expr,
    Name,
    Number,
    Reduction,
    Target,
    Unary,
)
from opgen.lang.orders import through_order
from opgen.lang.products import reindexed
from opgen.lang.slices import SPARE, Bounds, Extents, Item, Slice, along_new_axes, is_open, read_at, sizes, stands
from opgen.lang.subscripts import target_of
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import integer, nodes, transform

KEYWORDS = (*habits.AXES, "min", "max", "input", "other", "exponent", "p", "dtype", "unbiased", "correction", "out")


@dataclass(frozen=True, slots=True)
class Arguments:
    """What stands in the parentheses of a call; an axis may be a list of numbers."""

    given: tuple[Expr, ...]
    named: Mapping[str, Expr | tuple[Expr, ...]]
    at: Span | None  # the first named one
    end: Span


@dataclass(slots=True)
class _Found:
    code: str
    message: str
    span: Span
    hints: tuple[str, ...]
    label: str = ""
    otherwise: str = ""  # a hint for where no line can be proposed


@dataclass(slots=True)
class Idioms:
    """The foreign notation of one statement."""

    words: Vocabulary
    left: tuple[str, ...] = ()  # the indices of its target
    target: str = "y"
    found: list[_Found] = field(default_factory=list)
    unclear: bool = False  # something in it has no counterpart
    limits: dict[str, str] = field(default_factory=dict)  # an index that another one goes up to, with that one
    results: list[tuple[Expr, tuple[str, ...]]] = field(default_factory=list)  # nodes whose indices have an order
    bound: list[str] = field(default_factory=list)  # indices of the reductions around what is read
    parts: dict[int, Extents] = field(default_factory=dict)  # how far slices run, by where their access begins

    def note(self, span: Span, message: str, *hints: str, code: str = "OPG201", otherwise: str = "") -> None:
        self.found.append(_Found(code, message, span, hints, otherwise=otherwise))

    # --- what the parser meets ---------------------------------------------------------------------------------------

    def member(self, of: Expr, word: str, at: Span, arguments: Arguments | None) -> Expr:
        """`x.sum(dim=-1)`, `x.T`, `torch.exp(x)`, `math.pi`."""
        span = of.span.to(at)
        message = f"`{span.text}` is not part of the formula language"
        if not isinstance(of, Name | Access) or "\n" in span.text:
            span, message = at, f"`.{word}` is not part of the formula language"
        if self._is_module(of):
            if arguments is None:
                if word.lower() not in CONSTANTS:
                    return Name(word, of.span.to(at))
                self.note(span, message, f"it is called `{word.lower()}`")
                return Name(word.lower(), span)
            self.note(span, message, "functions have no prefix")
            return self._called(word, arguments.given, arguments.named, span)
        if arguments is not None and word in habits.METHODS:
            self.note(span, message, habits.METHODS[word])
            self.unclear = True
            return of
        if arguments is not None:
            self.note(span, message, "a function stands before what it is applied to")
            return self._called(word, (of, *arguments.given), arguments.named, span)
        self.note(span, message, *([habits.ATTRIBUTES[word]] if word in habits.ATTRIBUTES else ()))
        if word in TURNED and (turned := transposed(self.words, of, 2 if word == "T" else None)) is not None:
            self.results.append(turned)
            return turned[0]
        if word in ("real", "imag"):
            return Call(word, (of,), span, span)
        if word != "values":
            self.note_unclear(habits.NO_ATTRIBUTES)
        return of

    def member_at(self, of: Name, word: str, at: Span, items: tuple[Expr | Dots, ...], span: Span) -> Access:
        """`x.T[i, j]`: the positions in what is turned round are those of `x` in another order."""
        hints = [habits.ATTRIBUTES[word]] if word in habits.ATTRIBUTES else []
        self.note(of.span.to(at), f"`{of.name}.{word}` is not part of the formula language", *hints)
        if word in TURNED and len(items) > 1:
            items = (*items[:-2], items[-1], items[-2])
        else:
            self.note_unclear(habits.NO_ATTRIBUTES)
        return Access(of.name, items, span, of.span)

    def access(self, name: Token, items: Sequence[Item], span: Span) -> Access:
        """An access that may have slices."""
        plain = tuple(i for i in items if not isinstance(i, Slice))
        slices = [i for i in items if isinstance(i, Slice)]
        whole = [n.name for n in plain if isinstance(n, Name) and n.name not in (*self.left, *self.bound)]
        self.unclear |= any(self.words.letters.get(n, ()) not in ((), ("...",)) for n in whole)  # at another's elements
        if not slices:
            return Access(name.text, plain, span, name.span)
        stretched = any(i == Name("None", span) for i in plain)
        general = habits.NO_AXIS if stretched else habits.SLICE
        self.note(slices[0].span, "a slice is not part of the formula language", habits.POSITION, otherwise=general)
        if stretched:
            lined_up = along_new_axes(items, self.left)
            self.unclear |= lined_up is None
            return Access(name.text, lined_up or plain, span, name.span)
        found = read_at(self.words, name.text, items, self.left, self.bound, span)
        if found is None:
            self.unclear = True
            return Access(name.text, plain, span, name.span)
        self.parts[name.span.start] = found[1]
        return Access(name.text, found[0], span, name.span)

    def size(self, of: Expr, axis: Expr, span: Span) -> Expr:
        """`x.shape[0]`, `x.size(0)`, `len(x)`: the name of a dim."""
        self.note(span, f"`{span.text}` is not part of the formula language", habits.SIZE)
        shape = self.words.shapes.get(of.name, ()) if isinstance(of, Name) else ()
        place = integer(axis)
        if place is None or not -len(shape) <= place < len(shape) or shape[place] == "...":
            self.unclear = True
            return of
        return Name(shape[place], span)

    def prefix_alone(self, e: Expr) -> Expr:
        """What was read so far, where nothing follows."""
        if isinstance(e, Name) and e.name not in CONSTANTS and "." in e.span.text and self._is_module(e):
            casts = e.name in habits.CASTS
            other = habits.NO_DTYPES if habits.DTYPE.fullmatch(e.name) else habits.NO_ATTRIBUTES
            hint = f"write `{e.name}`" if casts else other
            self.note(e.span, f"`{e.span.text}` is not part of the formula language", hint)
            self.unclear |= not casts
        return e

    def call(self, name: str, at: Span, arguments: Arguments) -> Expr | None:
        """A call with an axis, or of a reduction without an index; None for any other."""
        reduces = name in self.words.reductions and (name not in self.words.functions or len(arguments.given) == 1)
        if arguments.at is not None:
            hint = f"an axis is named by its index: {habits.example(name)}"
            self.note(arguments.at, "arguments are positional", hint)
        elif reduces:
            message = f"`{name}` reduces over an index that is not named"
            self.note(at, message, f"name the index in brackets: {habits.example(name)}", code="OPG206")
        else:
            return self._function(name, at, arguments)
        return self._called(name, arguments.given, arguments.named, at)

    def _function(self, name: str, at: Span, arguments: Arguments) -> Expr | None:
        """A function that has another name here; None where it is none of another library."""
        known = not self.words.functions or name in self.words.functions or name in self.words.reductions
        if name == "len" and not known and len(arguments.given) == 1:
            return self.size(arguments.given[0], Number(0, at), at.to(arguments.end))
        if known or self.words.knows(name) or not arguments.given:
            return None
        if not self.takes_more(name) and called(self.words, name, arguments.given, {}, self.left) is None:
            return None
        hints = (habits.FUNCTIONS[name],) if name in habits.FUNCTIONS else ()
        self.note(at, f"there is no function `{name}`", *hints, code="OPG209")
        return self._called(name, arguments.given, {}, at)

    def _has(self, function: str) -> bool:
        words = self.words
        return not words.functions or function in words.functions or function in words.reductions

    def without_indices(self, s: Assign) -> None:
        """Tensors with named dims that stand bare, in a statement that is fine otherwise."""
        everything = [*nodes(s.value)]
        indices = {i.name for a in everything if isinstance(a, Access) for i in a.items if isinstance(i, Name)}
        indices.update(
            b.name for r in everything if isinstance(r, Reduction) for b in r.binders if isinstance(b, Binder)
        )
        if any(isinstance(c, Call) and not self._has(c.name) for c in everything):
            return  # that comes first
        for name in {n.name: n for n in reversed([*bare(self.words, s.value)])}.values():
            if name.name in indices or name.name in self.left:
                continue  # an index that hides it
            read = f"{name.name}[{', '.join(self.words.letters[name.name])}]"
            self.note(
                name.span, f"`{name.name}` has named dims and is read without indices", f"write `{read}`", code="OPG242"
            )
            shape = self.words.shapes.get(name.name)
            self.found[-1].label = "" if shape is None else f"has shape [{', '.join(shape)}]"

    def takes_more(self, name: str) -> bool:
        """Whether it is a reduction of other libraries that has an argument besides what is reduced."""
        words = self.words
        known = name in words.reductions or name in words.functions or words.knows(name)
        return name in orders.NAMES and bool(words.reductions) and not known

    def reduction(self, e: Reduction, more: Expr | None) -> Expr:
        """A reduction by index whose name is another one here."""
        words = self.words
        meant = None
        if words.reductions and e.name not in words.reductions and not words.knows(e.name):
            meant = renamed(words, e)
        axis = e.binders[0] if e.binders else None
        if meant is not None or self.takes_more(e.name):
            hints = (habits.FUNCTIONS[e.name],) if e.name in habits.FUNCTIONS else ()
            self.note(e.name_span, f"there is no reduction `{e.name}`", *hints, code="OPG211")
        if meant is None and self.takes_more(e.name):
            self._in_order(e.name, e.body, axis.name if isinstance(axis, Binder) else None, more)
        return meant or (replace(e, further=more) if e.name in words.further else e)

    def limited(self, name: str, items: Sequence[Expr | Dots], body: Expr, span: Span) -> Expr | None:
        """`sum[j <= i](…)` over what another index limits, or `sum[1](…)` over an axis; None where all is well."""
        reduced = self.words.reductions.get(name) is not None
        found = under_limit(name, items, body, {*self.left} - {*self.words.names}, span) if reduced else None
        if found is not None:
            condition, made = found
            self.note(condition.span, "a reduction binds plain indices", "a limit is a condition", code="OPG246")
            own, limit = condition.operands[0].span.text, condition.operands[1]
            self.limits.update({n.name: own for n in nodes(limit) if isinstance(n, Name) and n.name in self.left})
            return made
        match item := items[0] if len(items) == 1 else None:
            case Number() | Unary() if reduced:
                self.note(item.span, "a reduction binds plain indices", "an axis is named by its index", code="OPG246")
                return self._called(name, (body,), {"dim": item}, span)
            case _:
                return None

    def _bounded(self, item: Binder | Dots | Expr, value: Expr) -> Binder | Dots | Expr:
        """An index of the target that only limits another one, with the extent of that one."""
        if not isinstance(item, Binder) or item.extent is not None or item.name not in self.limits:
            return item
        places = [(a, i.name, k) for a in nodes(value) if isinstance(a, Access) for k, i in enumerate(a.items)
                  if isinstance(i, Name)]  # fmt: skip
        if any(name == item.name for _, name, _ in places):
            return item
        over = self.limits[item.name]
        sizes = [self.words.shapes[a.name][k] for a, name, k in places if name == over and a.name in self.words.shapes]
        return replace(item, extent=Name(sizes[0], item.span)) if sizes else item

    def _in_order(self, name: str, of: Expr, axis: str | None, more: Expr | None) -> None:
        made = through_order(self.words, name, spelled(self.words, of), axis, more, self.target, self.left)
        self.note_unclear(made or "")

    def product(self, a: Expr, b: Expr, at: Span) -> Expr:
        self.note(at, "`@` is not an operator of the formula language", habits.PRODUCT)
        return self._called("matmul", (a, b), {}, a.span.to(b.span))

    def note_unclear(self, hint: str = "") -> None:
        self.unclear = True
        last = self.found[-1]
        if hint and hint not in last.hints:
            last.hints = (*last.hints, hint)

    def _is_module(self, e: Expr) -> bool:
        return (
            isinstance(e, Name) and not self.words.knows(e.name)
            and (e.name in habits.MODULES or "." in e.span.text or (e.name[:1].isupper() and len(e.name) > 1))
        )  # fmt: skip

    def _called(
        self, name: str, args: tuple[Expr, ...], named: Mapping[str, Expr | tuple[Expr, ...]], span: Span
    ) -> Expr:
        if name == "size" and len(args) == 2:
            self.found.pop()
            return self.size(args[0], args[1], span)
        meant = called(self.words, name, args, named, (*self.left, *self.bound), self.results)
        if is_product(name):
            self.results = [r for r in self.results if not any(r[0] is a for a in args)]
        if meant is None and self.takes_more(name) and args:
            self._in_order(name, args[0], None, args[1] if len(args) > 1 else None)
        if meant is None:
            self.note_unclear(product_of(self.words, name, args) or habits.FUNCTIONS.get(name, ""))
            return Name(name, span)
        if meant.order is None:
            return meant.node
        node, order = lettered(meant.node, meant.order, self.left)
        self.results.append((node, order))
        return node

    # --- what is said about it ---------------------------------------------------------------------------------------

    def report(self, bag: Bag, whole: Assign | Expr | None, at: Span | None = None) -> None:
        """One diagnostic for all that was met; `whole` is what was read, if that went to the end, and is `at`."""
        first, *others = sorted(self.found, key=lambda found: found.span.start)
        hints = first.hints
        elsewhere = self._of_other_libraries(whole)
        text = None if whole is None or self.unclear or elsewhere else self._proposal(whole)
        if text is not None:
            general = first.message.startswith("arguments") or first.code in ("OPG206", "OPG242")
            hints = (*(() if general else hints), written(text, at or first.span))
        else:
            hints = (*hints, *dict.fromkeys(o.otherwise for o in (first, *others) if o.otherwise), *elsewhere)
        related = [Label(o.span, o.label or "this too") for o in others if o.span != first.span]
        bag.error(first.code, first.message, first.span, label=first.label, hints=hints, related=related)

    def _of_other_libraries(self, whole: Assign | Expr | None) -> tuple[str, ...]:
        """What is said of functions that are not there and have no counterpart: no line with them would build."""
        value = whole.value if isinstance(whole, Assign) else whole
        called = () if value is None else (c.name for c in nodes(value) if isinstance(c, Call))
        foreign = dict.fromkeys(n for n in called if not self._has(n) and not self.words.knows(n))
        more = {n: f": {habits.FUNCTIONS[n]}" for n in foreign if n in habits.FUNCTIONS}
        return tuple(f"there is no `{n}` either{more.get(n, '')}" for n in foreign)

    def _proposal(self, whole: Assign | Expr) -> str | None:
        if not isinstance(whole, Assign):
            return None if self.parts else unparse(whole)
        value, target = over_the_rest(spelled(self.words, whole.value), frozenset(self.left)), whole.target
        if target.items is None:
            items = self._order(value)
            if items is None:
                return None
            target = target_of(target.name, items, target.span)
        elif self.limits:
            target = replace(target, items=tuple(self._bounded(i, value) for i in target.items))
        stepped = step_before(target, value) if whole.op == "=" else value
        bound = frozenset(i.name for i in target.items or () if isinstance(i, Binder))
        if stepped is None or (self.words.reductions and is_open(self.words, stepped, bound)):
            return None
        sides = Bounds(self.words, self.parts).written(target, stepped) if self.parts else (target, stepped)
        apart = None if sides is None else self._apart(*sides)
        if apart is None:
            return None
        made = Assign(apart[0], whole.op, apart[1], whole.guard, whole.span)
        self._remember(made)
        return unparse_assign(made)

    def _remember(self, s: Assign) -> None:
        """Read the target further down as the proposal has it."""
        items = s.target.items or ()
        read = tuple("..." if isinstance(i, Dots) else i.name for i in items if isinstance(i, Dots | Binder))
        if items and len(read) == len(items):
            self.words.letters.setdefault(s.target.name, read)
            sizes(self.words, s)

    def _apart(self, target: Target, value: Expr) -> tuple[Target, Expr] | None:
        """The sides with other letters for indices that are called like a tensor or a param; None where one stands."""
        words = self.words
        bound = [b for r in nodes(value) if isinstance(r, Reduction) for b in r.binders if isinstance(b, Binder)]
        bound += [i for i in target.items or () if isinstance(i, Binder)]
        names = {b.name for b in bound}
        clashing = [n for n in names - {*self.left} if words.knows(n) or n in words.letters or n == target.name]
        if any(stands(value, n) for n in clashing):
            return None
        spare = (c for c in SPARE if not (c in names or words.knows(c) or c in words.letters or c == target.name))
        other = dict(zip(sorted(clashing), spare, strict=False))
        items = tuple(
            replace(i, name=other.get(i.name, i.name)) if isinstance(i, Binder) else i for i in target.items or ()
        )
        return replace(target, items=None if target.items is None else items), reindexed(value, other)

    def _order(self, value: Expr) -> tuple[str, ...] | None:
        """The indices of a target that has none written; None where their order is not clear."""
        items = layout(self.words, value)
        if not self.results:
            return items
        order = self.results[0][1]
        made = [spelled(self.words, node) for node, _ in self.results]
        found = [*nodes(value)]
        if any(other != order for _, other in self.results) or not all(of in found for of in made):
            return None
        rest = iter(order)
        beside = layout(self.words, transform(value, lambda n: Number(0, n.span) if n in made else None))
        return order if set(items) == set(order) and all(i in rest for i in beside) else None
