"""Reductions within groups, as other libraries take them: a function of values and of the group that each is in.

In go the parts of such a call, out come the statements that say the same with scatters, and what is read in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import (
    Access,
    Assign,
    Binder,
    Call,
    Compare,
    Dots,
    Expr,
    Name,
    Number,
    Power,
    Product,
    Sum,
    Target,
    Text,
)
from opgen.lang.products import reindexed
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.vocabulary import SPARE, Vocabulary
from opgen.lang.walk import integer, nodes

_SCATTERS = {"sum": ("0", "+="), "max": ("-inf", "max="), "min": ("inf", "min="), "prod": ("1", "*=")}
_PREFIXES = ("scatter_", "segment_", "unsorted_segment_", "global_")
_ALIASES = {"add": "sum", "mul": "prod"}
KEPT = ("softmax", "log_softmax")  # give a value for each element, not for each group


@dataclass(frozen=True, slots=True)
class Within:
    """What stands in front of a statement, what it reads in place of the reduction, and the indices of that."""

    lines: tuple[str, ...]
    value: Expr
    order: tuple[str, ...]
    declared: str  # what these statements need besides
    why: str = "within groups it is made of scatters"
    total: str = ""  # the name of the one scatter, where the value is no more than a read of it by group


@dataclass(frozen=True, slots=True)
class ByGroups:
    """A reduction within groups under the name that it has elsewhere, and what is said of that."""

    reduction: str
    message: str
    code: str


def is_group(words: Vocabulary, e: Expr | Dots | None = None, left: Sequence[str] = ()) -> bool:
    """Whether an expression is an input of integers, read or bare, by which elements are told apart."""
    return isinstance(e, Name | Access) and e.name in words.integers and e.name not in left


def without_axis(args: Sequence[Expr]) -> Sequence[Expr]:
    """The arguments of `scatter_add(0, ids, x)`, which begin with an axis, as others have them: values, then groups."""
    return (args[2], args[1]) if len(args) > 2 and integer(args[0]) == 0 else args


def by_groups(
    words: Vocabulary, name: str, args: Sequence[Expr], left: Sequence[str], reduce: object = None
) -> ByGroups | None:
    """Which reduction a function of values and of their groups is: `softmax(x, batch)`, `segment_sum(x, ids)`.

    `reduce`: the word for it where a call has one.
    """
    if len(args) < 2 or not is_group(words, args[1], left):
        return None
    if name in words.reductions and name not in words.functions:
        return ByGroups(name, f"`{name}` takes one expression, and no groups beside it", "OPG201")
    plain = next((name.removeprefix(p).removesuffix("_pool") for p in _PREFIXES if name.startswith(p)), "")
    plain = reduce.value if name == "scatter" and isinstance(reduce, Text) else plain
    plain = _ALIASES.get(plain, plain)
    if plain not in words.reductions or not words.lacks(name):
        return None
    return ByGroups(plain, f"there is no function `{name}`", "OPG209")


def with_lines(words: Vocabulary, within: Sequence[Within], made: Assign | None, text: str) -> str:
    """The hint to write a statement behind those that it needs; `made` is what its text says.

    What is a scatter and no more has the name of the target; one whose shape is declared needs no start.
    """
    first, lines = within[0], list(dict.fromkeys(line for w in within for line in w.lines))
    declared = next((w.declared for w in within if w.declared), "")
    own_order = made is not None and unparse(made.value) == unparse(first.value) == _read_like(made.target, first.total)
    if made is not None and first.total and len(within) == 1 and own_order:
        own = [made.target.name + line.removeprefix(first.total) for line in lines]
        own = own[1:] if made.target.name in words.results else own
        return f"{first.why}: write {', '.join(f'`{line}`' for line in own)}{declared}"
    return f"{first.why}: write {', '.join(f'`{line}`' for line in lines)}, and then `{text}`{declared}"


def _read_like(target: Target, name: str) -> str:
    """A tensor at the indices of a target, in their order."""
    at = target.span
    items = (Name(i.name, at) if isinstance(i, Binder) else i for i in target.items or ())
    return unparse(Access(name, tuple(items), at, at))


def in_general(name: str, group: Expr) -> str:
    """The hint for a reduction within groups for which no statements can be proposed."""
    at = unparse(group)
    more = "" if isinstance(group, Access) else "[n]"
    return f"within groups `{name}` is made of scatters, such as `total[{at}{more}] += …`, and a read at `{at}{more}`"


def within_groups(
    words: Vocabulary, name: str, body: Expr, group: Expr, left: Sequence[str], index: str | None, target: str
) -> Within | None:
    """A reduction of `body` over those elements that have the same `group`; None where something is not clear.

    `left`: the indices of the target, where they are written; `index`: the one that is reduced over, where it is.
    """
    assert isinstance(group, Name | Access)
    if (
        isinstance(body, Access)
        and name in KEPT
        and any(unparse(group) == unparse(i) for i in body.items if not isinstance(i, Dots))
    ):
        return _picked(words, name, body, unparse(group))
    whole = spelled(words, body)
    own = [index] if index else [*words.letters.get(group.name, ())]
    if isinstance(group, Access):
        own = [i.name if isinstance(i, Name) else "..." for i in group.items]
    each = layout(words, whole)
    free = each if each or name in KEPT else tuple(own)  # a number is the same for each element
    if not left and isinstance(group, Name) and index is None and name not in KEPT:
        if not own or "..." in (*own, *free) or not {*own} <= {*free}:
            return None
        groups = _Groups(words, name, whole, group.name, own, free, (), target)
        left = groups.along(groups.letter())  # a value for each group
    if left and len(left) == len(each) and not {*own} & {*left} and (name in KEPT or isinstance(body, Name)):
        other = dict(zip(free, left, strict=True))  # the target has letters of its own
        if not any(i in left for i in free) and "..." not in (*free, *left):
            whole, free, own = reindexed(whole, other), tuple(left), [other.get(i, i) for i in own]
    if not own or "..." in own or len({*own}) < len(own) or not {*own} <= {*free}:
        return None
    return _Groups(words, name, whole, group.name, own, free, left, target).made()


def _picked(words: Vocabulary, name: str, body: Access, at: str) -> Within | None:
    """The element of a whole that the positions pick: `log_softmax[t[n]](x[n, t[n]])`, which has no groups in it."""
    items = ["..." if isinstance(i, Dots) else unparse(i) for i in body.items]
    letters = words.letters.get(body.name, ())
    if len(letters) != len(items) or any(not (i in (at, "...") or i.isidentifier()) for i in items):
        return None
    place = items.index(at)
    index = next(i for i in (letters[place], *SPARE) if i not in items and not words.knows(i))
    whole = ", ".join(index if i == at else i for i in items)
    made = f"{name}_{body.name}"
    line = f"{made}[{whole}] = {name}[{index}]({body.name}[{whole}])"
    why = f"for one element of `{name}`, name them all"
    return Within((line,), replace(body, name=made), layout(words, body), "", why)


@dataclass(slots=True)
class _Groups:
    words: Vocabulary
    name: str
    body: Expr
    group: str
    own: list[str]  # indices of the elements of a group
    free: tuple[str, ...]  # those of the body
    left: Sequence[str]
    target: str
    lines: list[str] = field(default_factory=list)

    def made(self) -> Within | None:
        read = self._place()
        letter = self.letter()
        known = self._end()
        end = known or next(d for d in ("G", "GROUPS") if not self.words.knows(d))
        sizes = {i: self._size(i) for i in self.free if i not in self.own and i != "..."}
        if read is None or None in sizes.values():
            return None
        binders: list[Binder | Dots | Expr] = []
        for i in self.along(letter):
            size = end if i == letter else sizes.get(i)
            binders.append(
                Dots(self.body.span) if size is None else Binder(i, Name(size, self.body.span), self.body.span)
            )
        value = self._value(tuple(binders), read)
        if value is None:
            return None
        declared = "" if known else f", with `dims: {{{end}: num_groups}}` and `params: {{num_groups: int}}`"
        by_group = read != self._at() and self.name in _SCATTERS
        total = value.name if by_group and isinstance(value, Access) else ""
        return Within(
            tuple(self.lines), value, tuple(self.left) if read != self._at() else self.free, declared, total=total
        )

    def _end(self) -> str | None:
        """How many groups there are: by their domain, the shape of the target, or the one dim that a param gives."""
        words = self.words
        shape, along = words.results.get(self.target, ()), self.along("")
        if self.group in words.ends:
            return words.ends[self.group]
        if len(shape) == len(along) and shape[along.index("")].isidentifier():
            return shape[along.index("")]
        given = {size for own in words.shapes.values() for size in own}
        free = [d for d, by in words.sizes.items() if by in words.names and d not in given]
        return free[0] if len(free) == 1 else None

    def _place(self) -> Expr | None:
        """Where the result of a group is read: by the element, or by the group where the target has its index."""
        if not self.left or {*self.own} <= {*self.left}:
            return self._at()
        others = [i for i in self.left if i not in self.free]
        return Name(others[0], self.body.span) if len(others) == 1 and not {*self.own} & {*self.left} else None

    def _at(self) -> Expr:
        at = self.body.span
        return Access(self.group, tuple(Name(i, at) for i in self.own), at, at)

    def letter(self) -> str:
        end = self._end() or "G"
        taken = (*self.free, *self.own, *self.words.letters, self.target)
        wishes: tuple[str, ...] = (*([end.lower()] if end.isalpha() else []), "g", *SPARE)
        return next(c for c in wishes if c not in taken and not self.words.knows(c))

    def _size(self, index: str) -> str | None:
        for a in (n for n in nodes(self.body) if isinstance(n, Access)):
            shape = self.words.shapes.get(a.name, ())
            for item, size in zip(a.items, shape if len(shape) == len(a.items) else (), strict=False):
                if isinstance(item, Name) and item.name == index and size != "...":
                    return size
        return None

    def along(self, place: str) -> list[str]:
        """The indices of the body with one place for the group in place of its elements."""
        first = next(k for k, i in enumerate(self.free) if i in self.own)
        rest = [i for i in self.free if i not in self.own]
        before = [i for i in self.free[:first] if i not in self.own]
        return [*before, place, *rest[len(before) :]]

    def _read(self, name: str, place: Expr) -> Access:
        at = self.body.span
        items = tuple(place if i == "" else Dots(at) if i == "..." else Name(i, at) for i in self.along(""))
        return Access(name, items, at, at)

    def _named(self, wish: str) -> str:
        text = self.body.span.source.text
        said = "".join(c if c.isalnum() or c == "_" else " " for c in text).split()
        taken = (*self.words.letters, *said)
        name = next(
            n for n in (wish, *(f"{wish}{k}" for k in range(2, 99))) if n not in taken and not self.words.knows(n)
        )
        self.words.letters[name] = ()
        return name

    def _each(self, wish: str, value: Expr) -> Access:
        """A statement for each element, and a read of it."""
        at, name = self.body.span, self._named(wish)
        items = tuple(Dots(at) if i == "..." else Name(i, at) for i in self.free)
        bound = tuple(i if isinstance(i, Dots) else Binder(i.name, None, at) for i in items)
        self.lines.append(unparse_assign(Assign(Target(name, bound, at, at), "=", value, None, at)))
        return Access(name, items, at, at)

    def _scattered(self, wish: str, kind: str, binders: tuple[Binder | Dots | Expr, ...], value: Expr) -> str:
        """The statements that reduce a value within groups; the name of the result."""
        at, name = self.body.span, self._named(wish)
        start, op = _SCATTERS[kind]
        target = unparse_assign(Assign(Target(name, binders, at, at), "=", Name(start, at), None, at))
        self.lines += [target, f"{unparse(self._read(name, self._at()))} {op} {unparse(value)}"]
        return name

    def _value(self, binders: tuple[Binder | Dots | Expr, ...], read: Expr) -> Expr | None:
        at = self.body.span
        zero, one = Number(0, at), Number(1, at)
        match self.name:
            case "sum" | "max" | "min" | "prod":
                return self._read(self._scattered("total", self.name, binders, self.body), read)
            case "count" | "any":
                chosen = Call("where", (self.body, one, zero), at, at)
                total = self._read(self._scattered("total", "sum", binders, chosen), read)
                return total if self.name == "count" else Compare((total, zero), (">",), at)
            case "norm":
                total = self._read(self._scattered("total", "sum", binders, Power(self.body, Number(2, at), at)), read)
                return Call("sqrt", (total,), at, at)
            case "mean":
                total = self._read(self._scattered("total", "sum", binders, self.body), read)
                count: Expr = self._read(self._scattered("number", "sum", binders, one), read)
                if read != self._at():  # a group may be empty
                    count = Call("max", (count, one), at, at)
                return Product((("*", total), ("/", count)), at)
            case "softmax" | "log_softmax" | "logsumexp":
                plain = isinstance(self.body, Access) and [*layout(self.words, self.body)] == [
                    i.name if isinstance(i, Name) else "..." for i in self.body.items
                ]
                score = self.body if plain else self._each("score", self.body)
                top = self._scattered("top", "max", binders, score)
                less = Sum((("+", score), ("-", self._read(top, self._at()))), at)
                part: Expr = Call("exp", (less,), at, at)
                if self.name == "softmax":
                    part = self._each("part", part)
                total = self._read(self._scattered("total", "sum", binders, part), read)
                log = Call("log", (total,), at, at)
                if self.name == "softmax":
                    return Product((("*", part), ("/", total)), at)
                first = less.terms if self.name == "log_softmax" else (("+", self._read(top, read)),)
                return Sum((*first, ("-" if self.name == "log_softmax" else "+", log)), at)
            case _:
                return None
