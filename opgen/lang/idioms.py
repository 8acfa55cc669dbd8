"""Notation of PyTorch, NumPy and Python, read as what it means here: so a message can hold the very line to write.

Nodes in, nodes out. Whatever is met is a mistake all the same, noted with where it stands; one that has no counterpart
leaves the statement without a proposal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from opgen.diagnostics.model import Span
from opgen.lang import by_library, habits, library, orders
from opgen.lang.aligned import is_crossed
from opgen.lang.beside import Arguments, meant_by
from opgen.lang.capitals import in_small_letters
from opgen.lang.counted import counted_by
from opgen.lang.foreign import TURNED, called, is_product, lettered, product_of, renamed
from opgen.lang.formulas import CALLS, substituted
from opgen.lang.groups import by_groups, in_general, is_group, within_groups, without_axis
from opgen.lang.joins import JOINING, STACKING, joined, side_by_side, without_lists
from opgen.lang.layout import CONSTANTS, access_at, spelled
from opgen.lang.lexer import Token
from opgen.lang.limits import under_limit
from opgen.lang.listed_components import in_call
from opgen.lang.named_first import spread_named
from opgen.lang.new_axes import along_new_axes, are_parted, is_whole, lined_up_from_behind, stretched
from opgen.lang.nodes import Access, Assign, Binder, Call, Compare, Dots, Expr, Logic, Name, Number, Reduction, Unary
from opgen.lang.notes import OF_STORAGE, Notes
from opgen.lang.ordered import note_order
from opgen.lang.picked_by_masks import is_mask
from opgen.lang.prefixes import CALLED, hint_of, is_dotted, is_module, is_unknown, leads_on, takes, with_dots
from opgen.lang.running import DIRECTIONS
from opgen.lang.scans import step_of_scan
from opgen.lang.slices import Item, Slice, grown, read_at
from opgen.lang.spread import Named, Spread
from opgen.lang.statistics import OF_TWO, rank, statistic
from opgen.lang.subscripts import component
from opgen.lang.turned import turned_round
from opgen.lang.unnamed import with_indices
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import CLASSES
from opgen.lang.walk import integer, nodes


@dataclass(slots=True)
class Idioms(Notes):
    """The foreign notation of one statement."""

    def member(self, of: Expr, word: str, at: Span, arguments: Arguments | None, *, further: bool = False) -> Expr:
        """`x.sum(dim=-1)`, `x.T`, `torch.exp(x)`, `math.pi`; `further`: another dot follows."""
        span = of.span.to(at)
        message = f"`{span.text}` is not part of the formula language"
        if not isinstance(of, Name | Access) or "\n" in span.text:
            span, message = at, f"`.{word}` is not part of the formula language"
        if arguments is not None and (own := with_dots(self.words, of, word, arguments)) is not None:
            self.note(span, message, own[1])
            return self.called(own[0], own[2].given, own[2].named, span)
        module = further and leads_on(word) if arguments is None else takes(word, arguments.given)
        if is_module(self.words, of) or (module and is_unknown(self.words, of, (*self.left, *self.bound))):
            if arguments is None:
                if word.lower() not in CONSTANTS:
                    return Name(word, of.span.to(at))
                self.note(span, message, f"it is called `{word.lower()}`")
                return Name(word.lower(), span)
            self.note(span, message, "functions have no prefix")
            crossed = any(is_crossed(self.words, self.results, a) for a in arguments.given)
            text = None if arguments.named or crossed else substituted(word, arguments.given)
            if text is not None and (found := self.again(text, self)) is not None:
                return found
            return self.called(word, arguments.given, arguments.named, span)
        if arguments is not None and word in habits.METHODS:
            self.note(span, message, habits.METHODS[word])
            self.unclear = True
            return of
        if arguments is not None:
            self.note(span, message, hint_of(word, arguments))
            return self.called(word, (of, *arguments.given), arguments.named, span)
        if (part := component(self.words, of, word, span)) is not None:
            self.note(span, message, "a component is read by its position")
            return part
        told = habits.of_attribute(word, span.text.partition(".")[0], self.left)
        self.note(span, message, *told)
        if word in TURNED and (turned := turned_round(self, of, word)) is not None:
            return turned
        if word in CALLED:
            return Call(CALLED[word], (of,), span, span)
        if word in OF_STORAGE:
            return Name(word, span)  # which is fine where it is left away
        if word == "indices" and (places := orders.places_of(of)) is not None:
            return places
        if word != "values":
            self.note_unclear(*told or (habits.NO_ATTRIBUTES,))
        return of

    def member_at(self, of: Name, word: str, at: Span, items: tuple[Expr | Dots, ...], span: Span) -> Expr:
        """`x.T[i, j]`: the positions in what is turned round are those of `x` in another order; `z.real[n]`."""
        hints = [habits.ATTRIBUTES[word]] if word in habits.ATTRIBUTES else []
        self.note(of.span.to(at), f"`{of.name}.{word}` is not part of the formula language", *hints)
        if word in TURNED and len(items) > 1:
            items = (*items[:-2], items[-1], items[-2])
        elif word not in ("real", "imag"):
            self.note_unclear(habits.NO_ATTRIBUTES)
        read = Access(of.name, items, span, of.span)
        return Call(word, (read,), span, span) if word in ("real", "imag") else read

    def access(self, name: Token, items: Sequence[Item], span: Span) -> Access:
        """An access that may have slices."""
        items = tuple(i if isinstance(i, Slice) else self.position(i) for i in items)
        plain = tuple(i for i in items if not isinstance(i, Slice))
        masks = [i for i in plain if is_mask(self.words, i, self.left)]
        self.masked |= bool(masks)
        if len(masks) == 1 and all(i is masks[0] or is_whole(i) for i in items):
            self.picks[name.span.start] = items.index(masks[0])
            if len(items) > 1:
                at = next(i.span for i in items if isinstance(i, Slice))
                self.note(at, "a slice is not part of the formula language", habits.POSITION)
            return Access(name.text, plain, span, name.span)
        self.unclear |= any(isinstance(i, Compare | Logic) for i in items)  # a mask, which is told where it is lowered
        slices = [i for i in items if isinstance(i, Slice)]
        self.unclear |= are_parted(items)
        whole = [n.name for n in plain if isinstance(n, Name) and n.name not in (*self.left, *self.bound)]
        self.unclear |= any(self.words.letters.get(n, ()) not in ((), ("...",)) for n in whole)  # at another's elements
        new_axes = any(i == Name("None", span) for i in plain) and not self.words.knows("None")
        if not slices and not (new_axes and name.text in self.words.letters):
            return Access(name.text, plain, span, name.span)
        general = habits.NO_AXIS if new_axes else self.behind or habits.SLICE
        at = slices[0].span if slices else span
        self.note(at, "a slice is not part of the formula language", habits.POSITION, otherwise=general)
        if new_axes:
            lined_up = along_new_axes(self.words, name.text, items, self.left) or lined_up_from_behind(
                self.words, name.text, items, self.left
            )
            self.unclear |= lined_up is None
            return Access(name.text, lined_up or plain, span, name.span)
        found = read_at(self.words, name.text, items, self.left, self.bound, span)
        if found is None:
            self.unclear = True
            return Access(name.text, plain, span, name.span)
        self.parts[name.span.start] = found[1]
        more = grown(self.words, self.left, self.bound, found)
        if more and self.plain and not self.inside and not self.results:
            self.grown = more
        return Access(name.text, found[0], span, name.span)

    def position(self, item: Item) -> Item:
        """An item of an access: of a bare tensor of integers its elements, of `arange(N)` the index of that dim."""
        words = self.words
        if any(item is counted for counted in self.counted):
            self.counted = [c for c in self.counted if c is not item]
            return item
        free = isinstance(item, Name) and item.name not in (*self.left, *self.bound)
        if not free or not isinstance(item, Name) or item.name not in words.integers:
            return item
        letters = words.letters.get(item.name, ())
        if letters in ((), ("...",)):
            return item
        read = access_at(item.name, letters, item)
        message = f"`{item.name}` has named dims and is read without indices"
        self.note(item.span, message, f"write `{unparse(read)}`", code="OPG242")
        return read

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
        own = (*CONSTANTS, *OF_STORAGE)
        if isinstance(e, Name) and e.name not in own and is_dotted(e.span.text) and is_module(self.words, e):
            casts = e.name in habits.CASTS
            other = habits.NO_DTYPES if habits.DTYPE.fullmatch(e.name) else habits.NO_ATTRIBUTES
            hint = f"write `{e.name}`" if casts else other
            self.note(e.span, f"`{e.span.text}` is not part of the formula language", hint)
            self.unclear |= not casts and other is habits.NO_ATTRIBUTES
        return e

    def call(self, name: str, at: Span, arguments: Arguments) -> Expr | None:
        """A call with an axis, or of a reduction without an index; None for any other."""
        reduce, given = arguments.named.get("reduce"), without_axis(arguments.given)
        if (by := by_groups(self.words, name, given, self.left, reduce)) is not None:
            self.note(at, by.message, code=by.code)
            return self._within(by.reduction, given[0], given[1], None)
        if (meant := side_by_side(name, arguments.given, at)) is not None:
            self.note(at, f"`{name}` takes no list", "numbers stand side by side")
            return meant
        reduces = name in self.words.reductions and (name not in self.words.functions or len(arguments.given) == 1)
        if arguments.at is not None and not self.words.lacks(name):
            other = habits.BY_INDEX.format(habits.example(name)) if reduces else habits.NO_SUCH.format(name)
            axis = reduces and arguments.at.text in habits.AXES and arguments.at.text not in habits.KEEPING
            self.note(arguments.at, habits.NUMBERED if axis else "arguments are positional", otherwise=other)
        elif reduces:
            message = f"`{name}` reduces over an index that is not named"
            self.note(at, message, f"name the index in brackets: {habits.example(name)}", code="OPG206")
            arguments = replace(arguments, given=with_indices(self.words, arguments.given, (*self.left, *self.bound)))
        else:
            return self._function(name, at, arguments)
        return self.called(name, arguments.given, arguments.named, at)

    def grouped(self, name: str, items: Sequence[Expr | Dots], body: Expr) -> Expr | None:
        """`softmax[dst[e]](s[e])`, a reduction within groups; None where it is none."""
        if len(items) != 1 or isinstance(items[0], Dots) or not is_group(self.words, items[0], self.left):
            return None
        self.note(items[0].span, habits.PLAIN, code="OPG246")
        return self._within(name, body, items[0], None)

    def _within(self, name: str, body: Expr, group: Expr, index: str | None) -> Expr:
        meant = within_groups(self.words, name, body, group, self.left, index, self.target)
        self.found[-1].otherwise = in_general(name, group)
        if meant is None:
            self.unclear = True
            return body
        self.within.append(meant)
        self.results.append((meant.value, meant.order))
        return meant.value

    def _function(self, name: str, at: Span, arguments: Arguments) -> Expr | None:
        """A function that has another name here; None where it is none of another library."""
        known = not self.words.functions or name in self.words.functions or name in self.words.reductions
        if name == "len" and not known and len(arguments.given) == 1:
            return self.size(arguments.given[0], Number(0, at), at.to(arguments.end))
        drawn = name in habits.DRAWS and name not in CALLS  # which is told where it is lowered
        if known or drawn or self.words.knows(name) or not arguments.given:
            return None
        given = arguments.given, arguments.named
        own_axes = self.spread_of(name, *given)
        meant = own_axes or called(self.words, name, *given, self.left)
        if name in ("arange", "range") and counted_by(self.words, arguments.given) is not None:
            self.note(at, f"there is no function `{name}`", code="OPG209", otherwise=habits.FUNCTIONS[name])
            return self.called(name, arguments.given, {}, at)
        written_out = self.written_out(name, arguments.given, arguments.named)
        if not self.takes_more(name) and meant is None and written_out is None and not arguments.named:
            return None
        hint = habits.FUNCTIONS.get(name, "")
        known = written_out is not None or own_axes is not None
        known |= meant is not None and hint.startswith(habits.WRITTEN)
        hints, otherwise = ((hint,), "") if hint and not known else ((), hint)
        self.note(at, f"there is no function `{name}`", *hints, code="OPG209", otherwise=otherwise)
        return self.called(name, arguments.given, arguments.named, at)

    def in_small_letters(self, s: Assign) -> Assign:
        """A statement whose indices are spelt like dims, as it is meant."""
        made, found = in_small_letters(self.words, s)
        for name, span in found.items():
            hint = f"the name of an index starts with a lower-case letter: `{name.lower()}`"
            self.note(span, f"`{name}` is spelt like a dim", hint, code="OPG241")
        self.left = tuple(i.lower() if i in found else i for i in self.left)
        return made

    def beside(self, e: Reduction, arguments: Arguments) -> Expr:
        """A reduction with arguments beside its body, the first of which follows the comma `arguments.at`."""
        assert arguments.at is not None
        told = e.name in habits.FUNCTIONS and self.words.lacks(e.name) and renamed(self.words, e) is None
        if told and e.name not in OF_TWO:
            return self.reduction(e)
        if arguments.given and is_group(self.words, arguments.given[0]):
            self.note(arguments.at, f"the body of `{e.name}[…]` is one expression")
            binder = e.binders[0] if len(e.binders) == 1 else None
            return self._within(e.name, e.body, arguments.given[0], binder.name if isinstance(binder, Binder) else None)
        meant, hints = meant_by(self.words, e, arguments, (*self.left, *self.bound))
        self.note(arguments.at, f"the body of `{e.name}[…]` is one expression", *hints)
        self.found[-1].label = "leave this away" if meant is e else ""
        self.unclear |= meant is None
        return meant or e

    def reduction(self, e: Expr, more: Expr | None = None, beside: Arguments | None = None) -> Expr:
        """A reduction by index whose name is another one here, or that has more than a body."""
        if isinstance(e, Reduction) and beside is not None and not self.takes_more(e.name):
            e = self.beside(e, beside)
        if not isinstance(e, Reduction):
            return e
        words = self.words
        foreign = words.reductions and not (e.name in words.reductions or words.knows(e.name))
        meant = (step_of_scan(words, e, self.target, self.left) or renamed(words, e)) if foreign else None
        axis = e.binders[0] if e.binders else None
        if meant is not None or self.takes_more(e.name):
            hints = (habits.FUNCTIONS[e.name],) if e.name in habits.FUNCTIONS else ()
            self.note(e.name_span, f"there is no reduction `{e.name}`", *hints, code="OPG211")
        if meant is None and self.takes_more(e.name):
            rest, given = ([] if more is None else [more]), axis.name if isinstance(axis, Binder) else None
            rest, named = ([*rest, *beside.given], beside.named) if beside is not None else (rest, {})
            note_order(self, e.name, e.body, given, rest, named)
        return meant or (replace(e, further=more) if e.name in words.further else e)

    def limited(self, name: str, items: Sequence[Expr | Dots], body: Expr, span: Span) -> Expr | None:
        """`sum[j <= i](…)` over what another index limits, or `sum[1](…)` over an axis; None where all is well."""
        reduced = self.words.reductions.get(name) is not None
        bound = (*self.left, *self.bound)
        found = under_limit(self.words, name, items, body, bound, span) if reduced else None
        if found is not None:
            body_hint = "" if found.clear else f"write it in the body: `{unparse(found.reduction)}`"
            general = found.otherwise or body_hint
            self.note(found.span, habits.PLAIN, found.told, code="OPG246", otherwise=general)
            self.unclear |= not found.clear
            read = [n for limit in found.limits for n in nodes(limit) if isinstance(n, Name)]
            self.limits |= {n.name: found.index.name for n in read if n.name in self.left}
            return found.reduction
        match item := items[0] if len(items) == 1 else None:
            case Number() | Unary() if reduced:
                self.note(item.span, habits.PLAIN, "an axis is named by its index", code="OPG246")
                return self.called(name, (body,), {"dim": item}, span)
            case _:
                return None

    def product(self, a: Expr, b: Expr, at: Span) -> Expr:
        self.note(at, "`@` is not an operator of the formula language", habits.PRODUCT)
        return self.called("matmul", (a, b), {}, a.span.to(b.span))

    def written_out(self, name: str, args: tuple[Expr, ...], named: Named) -> str | None:
        own = statistic(self.words, name, args, named) or (None if named else rank(self.words, name, args))
        return own or library.formula(self.words, name, args, named, each=bool(self.left or self.inside))

    def spread_of(
        self, name: str, args: tuple[Expr, ...], named: Mapping[str, Expr | tuple[Expr, ...]]
    ) -> Spread | None:
        """What a call means whose result has axes of its own; None for any other."""
        if not self.words.lacks(name) and not {*named} & {*DIRECTIONS}:
            return None
        args, named = without_lists(name, args, named)
        if name in (*JOINING, *STACKING):
            if any(is_crossed(self.words, self.results, a) for a in args):
                return None
            return joined(self.words, name, args, named, self.left, self.parts, self.results)
        made = spread_named(self, name, args, named)
        return None if made is not None and made.is_loose(self.words) else made

    def spread_out(self, made: Spread, args: tuple[Expr, ...]) -> Expr:
        within = {i: e for i, e in self.runs.items() if i in made.order}  # of what it is made of
        either = made.either
        made = replace(made, runs={**within, **made.runs})
        own, made = made, made.along(self.left)
        self.by_place += [made.node] if made is not own else []
        self.either = made.node if either else None
        self.runs |= made.runs
        if any(size == Name(CLASSES, size.span) for size in made.runs.values()) and not self.words.knows(CLASSES):
            self.alternatives.append(habits.COUNTED)
        if self.plain and not self.inside and {*self.left} < {*made.order} == {*self.left, *made.runs}:
            self.grown = made.order
        inner = [n for a in args for n in (*nodes(a), *nodes(spelled(self.words, a)))]
        for a in (n for n in inner if isinstance(n, Access)):
            self.parts.pop(a.name_span.start, None)  # told by what is made of it
        self.results = [r for r in self.results if r[0] not in inner]
        self.results.append((made.node, made.order))
        return made.node

    def called(
        self, name: str, args: tuple[Expr, ...], named: Mapping[str, Expr | tuple[Expr, ...]], span: Span
    ) -> Expr:
        name, args, named = by_library.said(name, *without_lists(name, args, named), span)
        name = name.removesuffix("_") if self.words.lacks(name) else name
        if name in ("sort", "argsort") and args and ("descending" in named or len(args) == len(("x", "dim", "down"))):
            down, args, named = orders.ascending(args, named)
            placed = self.called(name, (Unary("-", args[0], span), *args[1:]) if down else args, named, span)
            return Unary("-", placed, span) if down and name == "sort" else placed
        if name == "size" and len(args) == 2:
            self.found.pop()
            return self.size(args[0], args[1], span)
        if name in ("arange", "range") and (counts := counted_by(self.words, args)) is not None:
            self.counted.append(counts[0])
            self.counts[counts[0].name] = counts[2]
            return counts[1]
        if (picked := self.over_picked(name, args, named)) is not None:
            return picked
        if args and (read := stretched(self.words, name, args, self.left)) is not None:
            return read
        crossed = any(is_crossed(self.words, self.results, a) for a in args)
        if (made := self.spread_of(name, args, named)) is not None:
            return self.spread_out(made, args)
        meant = called(self.words, name, args, named, (*self.left, *self.bound), self.results)
        if meant is not None and meant.axes:
            kept = self.keeps or any(k in habits.KEEPING and v != Name("False", span) for k, v in named.items())
            self.words.axes.append((meant.node, meant.axes if kept else tuple(i for i in meant.axes if i)))
        if is_product(name) or (meant is not None and meant.order is not None):
            inner = [n for a in args for n in (*nodes(a), *nodes(spelled(self.words, a)))]
            self.results = [r for r in self.results if r[0] not in inner]
        ordered = meant is None and self.takes_more(name) and bool(args) and not crossed
        if ordered and note_order(self, name, args[0], None, args[1:], named):
            return Name(name, span)
        text = self.written_out(name, args, named) if meant is None and not crossed else None
        if text is not None and (found := self.again(text, self)) is not None:
            self.counted = [c for c in self.counted if not any(c is a for a in args)]
            return found
        if meant is None:
            listed = in_call(self.words, args) or product_of(self.words, name, args)
            self.note_unclear(listed or habits.of_function(name.lower()))
            return Name(name, span)
        if meant.order is None:
            return meant.node
        node, order = lettered(meant.node, meant.order, self.left)
        node, order = self.by_place_again(args[0], node, order)
        self.results.append((node, order))
        if is_product(name) and self.plain and not self.inside and {*self.left} < {*order}:
            self.grown = (*self.left, *(i for i in order if i not in self.left))
        return node
