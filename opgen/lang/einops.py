"""`rearrange(x, "b t (h d) -> b h t d", h=heads)` and `x.view(B, T, heads, -1)` as the access that they are.

A dim that is taken apart is read at a sum of its parts, and parts that are put together are a quotient and a remainder.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from opgen.lang.nodes import Binder, Expr, Name, Number, Product, Reduction, Sum, Text
from opgen.lang.reshaped import VIEWS, Axes, Groups, Plan, Sizes, Turned, planned
from opgen.lang.spread import Named, Spread, bound_in, placed
from opgen.lang.vocabulary import SPARE, Vocabulary
from opgen.lang.walk import rebuild

PATTERNS = ("rearrange", "reduce", "repeat")
_GROUP = re.compile(r"\(([^()]*)\)|(\S+)")


def regrouped(
    words: Vocabulary, name: str, args: Sequence[Expr], named: Named, turned: Turned, sizes: Sizes
) -> Spread | None:
    """What a call means that regroups the axes of a value; None for any other, and where a size is not known.

    `turned` are nodes whose axes have another order than their indices, with that order.
    """
    if name not in (*PATTERNS, *VIEWS) or not args or (of := Axes.of(words, args[0], turned, sizes)) is None:
        return None
    match args[1:]:
        case (Text(value=pattern), *rest) if name in PATTERNS and pattern.count("->") == 1:
            left, right = (
                [tuple((m[1] if m[2] is None else m[2]).split()) for m in _GROUP.finditer(side)]
                for side in pattern.split("->")
            )
            given = {key: value for key, value in named.items() if not isinstance(value, tuple)}
            how = rest[0].value if rest and isinstance(rest[0], Text) else ""
            plan = Plan(_with_batch(of, left, left), _with_batch(of, left, right), given)
            return _Regrouping(words, of, plan, how).made()
        case wanted if name in VIEWS:
            view = planned(words, of, name, wanted, named)
            return None if view is None else _Regrouping(words, of, view, "").made()
        case _:
            return None


def _with_batch(of: Axes, left: Groups, side: Groups) -> Groups:
    """A side of a pattern with the axes for which `...` stands."""
    at, lacking = next((k for k, g in enumerate(left) if g == ("...",)), 0), len(of.order) - len(left) + 1
    there = [(i,) for i in of.order[at : at + lacking]]
    return [group for g in side for group in (there if g == ("...",) and g in left else [g])]


@dataclass(slots=True)
class _Regrouping:
    words: Vocabulary
    of: Axes
    plan: Plan
    how: str  # the reduction over what the right side lacks
    values: dict[str, Expr] = field(default_factory=dict)  # of each part, from the indices of the result

    def made(self) -> Spread | None:
        of, left, right = self.of, self.plan.left, self.plan.right
        parts = [p for g in left for p in g]
        if len(of.order) != len(left) or not all(p.isidentifier() or p == "..." for p in parts):
            return None
        if not all(
            g == (i,) == ("...",) or self._known(g, size) for g, i, size in zip(left, of.order, of.sizes, strict=True)
        ):
            return None
        order = tuple(i for g in right if (i := self._indexed(g)) is not None)
        gone = [p for p in parts if p not in self.values and p != "..."]
        if len(order) < len(right) or (gone and self.words.reductions.get(self.how) is not False):
            return None
        at = of.whole.span
        self.values |= {p: Name(self._letter(p), at) for p in gone}
        places = {i: self._joined(g) for i, g in zip(of.order, left, strict=True) if i != "..."}
        read = _together_again(placed(of.whole, places))
        joined = {p for g in left if len(g) > 1 for p in g}
        if gone:
            binders = tuple(Binder(n.name, self.sizes[p] if p in joined else None, at)
                            for p in gone if isinstance(n := self.values[p], Name))  # fmt: skip
            read = Reduction(self.how, binders, read, at, at)
        new = [(i, g) for i, g in zip(order, right, strict=True) if g not in left or i not in of.order]
        runs = {i: self.plan.wholes.get(g) or self._product(g) for i, g in new}
        return Spread(read, order, {i: e for i, e in runs.items() if e is not None})

    @property
    def sizes(self) -> dict[str, Expr]:
        return self.plan.sizes

    def _known(self, group: tuple[str, ...], whole: Expr | None) -> bool:
        """Whether the sizes of all parts of an axis are known: of one that is not given, what the others leave."""
        open_ones = [p for p in group if p not in self.sizes]
        if len(open_ones) == 1 and whole is not None:
            self.sizes[open_ones[0]] = self._rest(whole, [p for p in group if p in self.sizes])
        return len(group) == 1 or all(p in self.sizes for p in group)

    def _rest(self, whole: Expr, others: Sequence[str]) -> Expr:
        by = self._product(others) if others else Number(1, whole.span)
        one = by is None or by == Number(1, by.span)
        return whole if by is None or one else Product((("*", whole), ("//", by)), whole.span)

    def _product(self, group: Sequence[str]) -> Expr | None:
        factors = tuple(("*", self.sizes[p]) for p in group if p in self.sizes)
        if not factors or len(factors) < len(group):
            return None
        return factors[0][1] if len(factors) == 1 else Product(factors, self.of.whole.span)

    def _letter(self, wish: str) -> str:
        taken = {n.name for n in self.values.values() if isinstance(n, Name)} | bound_in(self.of.whole)
        fine = wish not in taken and not self.words.knows(wish) and wish not in self.words.letters
        return wish if fine else next(c for c in SPARE if c not in taken and not self.words.knows(c))

    def _indexed(self, group: tuple[str, ...]) -> str | None:
        """The index of an axis of the result, with the value that each of its parts has there."""
        if group == ("...",) and group in self.plan.left:
            return "..."
        at = self.of.whole.span
        lacking = [p for p in group if p not in self.sizes]
        if len(lacking) == 1 and (whole := self.plan.wholes.get(group)) is not None:
            self.sizes[lacking[0]] = self._rest(whole, [p for p in group if p in self.sizes])
        index: Expr = Name(self._letter(group[0]), at) if group else Number(0, at)
        after: tuple[str, ...] = ()
        for part in reversed(group):
            behind = self._product(after)
            if (after and behind is None) or (part != group[0] and part not in self.sizes):
                return None
            value = index if behind is None else Product((("*", index), ("//", behind)), at)
            self.values[part] = value if part == group[0] else Product((("*", value), ("%", self.sizes[part])), at)
            after = (part, *after)
        return index.name if isinstance(index, Name) else None

    def _joined(self, group: tuple[str, ...]) -> Expr:
        """Where parts of an axis are together."""
        first, *rest = group
        found, at = self.values[first], self.of.whole.span
        for part in rest:
            found = Sum((("+", Product((("*", found), ("*", self.sizes[part])), at)), ("+", self.values[part])), at)
        return found


def _together_again(e: Expr) -> Expr:
    """An expression with `q` for each `q // n * n + q % n` in it."""
    made = rebuild(e, _together_again)
    match made:
        case Sum(
            terms=(
                ("+", Product(factors=(("*", Product(factors=(("*", whole), ("//", size)))), ("*", by)))),
                ("+", Product(factors=(("*", again), ("%", rest)))),
            )
        ) if whole == again and size == by == rest:
            return whole
        case _:
            return made
