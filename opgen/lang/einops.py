"""`rearrange(x, "b t (h d) -> b h t d", h=heads)` and `x.view(B, T, heads, -1)` as the access that they are.

A dim that is taken apart is read at a sum of its parts, and parts that are put together are a quotient and a remainder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from opgen.lang.nodes import Access, Binder, Expr, Name, Number, Product, Reduction, Sum, Text
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import SPARE, Vocabulary

Groups = Sequence[tuple[str, ...]]  # of axes, each with the parts that it has
_GROUP = re.compile(r"\(([^()]*)\)|(\S+)")
_PATTERNS = ("rearrange", "reduce", "repeat")


@dataclass(frozen=True, slots=True)
class Regrouped:
    """An access with other axes, the order of its indices, and how far those run that no dim says."""

    node: Expr
    order: tuple[str, ...]
    extents: Mapping[str, Expr | None]
    start: int  # where the tensor stands


def regrouped(
    words: Vocabulary, name: str, args: Sequence[Expr], named: Mapping[str, Expr | tuple[Expr, ...]]
) -> Regrouped | None:
    """What a call means that regroups the axes of a tensor; None for any other, and where a size is not known."""
    match args:
        case (Name() as x, Text(value=pattern), *rest) if name in _PATTERNS and pattern.count("->") == 1:
            sides = [[tuple((m[1] if m[2] is None else m[2]).split()) for m in _GROUP.finditer(s)]
                     for s in pattern.split("->")]  # fmt: skip
            sizes = {key: value for key, value in named.items() if not isinstance(value, tuple)}
            how = rest[0].value if rest and isinstance(rest[0], Text) else ""
            return _Regrouping(words, x, sides[0], sides[1], sizes, how).made()
        case (Name() as x, _, *_) if name in ("view", "reshape") and not named:
            return _viewed(words, x, args[1:])
        case _:
            return None


def _viewed(words: Vocabulary, x: Name, wanted: Sequence[Expr]) -> Regrouped | None:
    """One axis taken apart, or several put together."""
    shape, sizes = words.shapes.get(x.name, ()), [unparse(e) for e in wanted]
    first = next((k for k, (a, b) in enumerate(zip(shape, sizes, strict=False)) if a != b), min(len(shape), len(sizes)))
    last = 0
    while last < min(len(shape), len(sizes)) - first and shape[-1 - last] == sizes[-1 - last]:
        last += 1
    before, after = list(words.letters.get(x.name, ())), len(shape) - last
    old, new = before[first:after], wanted[first : len(wanted) - last]
    if "..." in shape or not old or not new or (len(old) > 1 and len(new) > 1):
        return None
    outer, inner = [(i,) for i in before[:first]], [(i,) for i in before[after:]]
    if len(new) == 1:
        left = [(i,) for i in before]
        return _Regrouping(words, x, left, [*outer, tuple(old), *inner], {}, "").made()
    spare = (c for c in ("h", *SPARE) if c not in before and not words.knows(c))
    parts = (*(next(spare) for _ in new[:-1]), old[0] if not words.knows(old[0]) else next(spare))
    given = {p: e for p, e in zip(parts, new, strict=True) if unparse(e) != "-1"}
    return _Regrouping(words, x, [*outer, parts, *inner], [*outer, *((p,) for p in parts), *inner], given, "").made()


@dataclass(slots=True)
class _Regrouping:
    words: Vocabulary
    x: Name
    left: Groups
    right: Groups
    sizes: dict[str, Expr]
    how: str  # the reduction over what the right side lacks
    values: dict[str, Expr] = field(default_factory=dict)  # of each part, from the indices of the result

    def made(self) -> Regrouped | None:
        shape = self.words.shapes.get(self.x.name, ())
        parts = [p for g in self.left for p in g]
        if len(shape) != len(self.left) or "..." in (*shape, *parts) or not all(p.isidentifier() for p in parts):
            return None
        if not all(self._known(g, self._size(size)) for g, size in zip(self.left, shape, strict=True)):
            return None
        order = [self._indexed(g) for g in self.right]
        gone = [p for p in parts if p not in self.values]
        if None in order or (gone and self.words.reductions.get(self.how) is not False):
            return None
        self.values |= {p: Name(self._letter(p), self.x.span) for p in gone}
        at = self.x.span
        items = tuple(self._joined([(self.values[p], self.sizes[p]) for p in g]) for g in self.left)
        read: Expr = Access(self.x.name, items, at, at)
        joined = {p for g in self.left if len(g) > 1 for p in g}
        if gone:
            binders = tuple(Binder(n.name, self.sizes[p] if p in joined else None, at)
                            for p in gone if isinstance(n := self.values[p], Name))  # fmt: skip
            read = Reduction(self.how, binders, read, at, at)
        alone = {i.name for i in items if isinstance(i, Name)}
        extents = {i: self._product(g) for i, g in zip(order, self.right, strict=True) if i is not None}
        return Regrouped(
            read, tuple(i for i in order if i), {i: e for i, e in extents.items() if i not in alone}, at.start
        )

    def _size(self, text: str) -> Expr:
        return Number(int(text), self.x.span) if text.isdigit() else Name(text, self.x.span)

    def _known(self, group: tuple[str, ...], whole: Expr) -> bool:
        """Whether the sizes of all parts of an axis are known: of one that is not given, what the others leave."""
        open_ones = [p for p in group if p not in self.sizes]
        rest = self._product(tuple(p for p in group if p in self.sizes))
        if len(open_ones) == 1:
            one = rest == Number(1, rest.span)
            self.sizes[open_ones[0]] = whole if one else Product((("*", whole), ("//", rest)), self.x.span)
        return len(open_ones) < 2

    def _product(self, group: tuple[str, ...]) -> Expr:
        factors = tuple(("*", self.sizes[p]) for p in group)
        return factors[0][1] if len(factors) == 1 else Product(factors, self.x.span) if factors else self._size("1")

    def _letter(self, wish: str) -> str:
        taken = {n.name for n in self.values.values() if isinstance(n, Name)}
        fine = wish not in taken and not self.words.knows(wish) and wish not in self.words.letters
        return wish if fine else next(c for c in SPARE if c not in taken and not self.words.knows(c))

    def _indexed(self, group: tuple[str, ...]) -> str | None:
        """The index of an axis of the result, with the value that each of its parts has there."""
        at = self.x.span
        if not group or not all(p in self.sizes for p in group):
            return None
        index = Name(self._letter(group[0]), at)
        after: tuple[str, ...] = ()
        for part in reversed(group):
            value: Expr = index if not after else Product((("*", index), ("//", self._product(after))), at)
            self.values[part] = value if part == group[0] else Product((("*", value), ("%", self.sizes[part])), at)
            after = (part, *after)
        return index.name

    def _joined(self, parts: Sequence[tuple[Expr, Expr]]) -> Expr:
        """Where parts of an axis are together."""
        (found, _), *rest = parts
        for value, size in rest:
            found = Sum((("+", Product((("*", found), ("*", size)), self.x.span)), ("+", value)), self.x.span)
        return found
