"""Conditions that hold nowhere, whatever values are passed: a warning.

`j <= i and j > i` is one, and so are `rel[i] > rel[i]` and `k < 0` of an index. In: the statements as they are written,
and for extents the variants. A comparison is a sum that is at least 0, or above it; it holds nowhere together with
others if their sum is known to be less, for several of them by the domains of params as well: one alone may ask for
what a domain says. With nan every one of them is false; what asks for it (`x != x`) is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, pairwise

from opgen.diagnostics.model import Diagnostic
from opgen.ir import text
from opgen.ir.operator import Variant
from opgen.ir.polynomial import number, polynomial
from opgen.ir.scalar import Scalar
from opgen.lang.nodes import Access, Assign, Call, Compare, Expr, Logic, Name, Number, Reduction, Sum, Text, Unary
from opgen.lang.unparse import respelled
from opgen.lang.walk import integer, literal, nodes, transform
from opgen.lower.assigned import assigned_once, written_out
from opgen.lower.between import Between, Ends
from opgen.lower.declare import Declarations
from opgen.lower.doubts import doubt
from opgen.lower.draw import is_drawn
from opgen.lower.multiples import Fact, Known, Linear, multiples, plus
from opgen.lower.other_index import elsewhere, ends, extents
from opgen.lower.whole_numbers import Whole

_TOGETHER = 3  # so many comparisons at once
_MANY = 12  # more than so many are not looked at
ROUNDED = Fraction(1, 100)  # so close numbers may be one in a narrow dtype


def compares(a: Assign) -> bool:
    """Whether a statement has any condition."""
    return any(isinstance(n, Compare | Logic) for n in nodes(a.value))


def search_in(d: Declarations, variants: Sequence[Variant], a: Assign) -> Search:
    """What is known in a statement."""
    once, lengths = assigned_once(d), extents(variants, a)
    whole = Whole(d, once)
    known = Known(d, ends=ends(a, lengths), declared=False, whole=whole)
    return Search(once, whole, known, lengths, Between(d, once, known))


def never(d: Declarations, variants: Sequence[Variant]) -> Iterator[Diagnostic]:
    """A warning for each condition that holds nowhere, at the fewest comparisons that say so."""
    for a in (s for s in d.forward if compares(s)):
        search = search_in(d, variants, a)
        for asked in _asked(a.value):
            found = search.contradiction(asked)
            if found:
                shown = " and ".join(respelled(e) for e in found)
                message = f"`{shown}` is never true{_chosen(a, asked)}"
                e = found[0] if len(found) == 1 else Logic("and", found, found[0].span.to(found[-1].span))
                yield doubt("OPG283", message, e, search.label(found), *search.meant(a, asked, found))


def _asked(e: Expr) -> Iterator[tuple[Expr, ...]]:
    """The conditions in an expression, each as those that hold where it does."""
    inner: set[int] = set()
    for n in nodes(e):
        if id(n) in inner or not isinstance(n, Compare | Logic) or (isinstance(n, Logic) and n.op != "and"):
            continue
        found = (n,) if isinstance(n, Compare) else tuple(_all_of(n))
        inner |= {id(c) for c in nodes(n) if isinstance(c, Logic)} if isinstance(n, Logic) else set()
        inner |= {id(c) for c in found}
        yield found


def _all_of(e: Expr) -> Iterator[Expr]:
    """The conditions that hold where one does."""
    if isinstance(e, Logic) and e.op == "and":
        for c in e.operands:
            yield from _all_of(c)
    else:
        yield e


def _chosen(a: Assign, asked: tuple[Expr, ...]) -> str:
    """What a choice gives whose condition never holds."""
    for c in (n for n in nodes(a.value) if isinstance(n, Call) and n.name == "where" and len(n.args) == 3):
        if [id(e) for e in _all_of(c.args[0])] == [id(e) for e in asked]:
            return f", and the choice always `{respelled(c.args[2])}`"
    return ""


@dataclass(frozen=True, slots=True)
class Told:
    """What a comparison says, and whether that is so of the numbers themselves, not of what they are rounded to."""

    of: Expr
    fact: Fact
    exact: bool


@dataclass(frozen=True, slots=True)
class Search:
    """What is known in a statement."""

    once: Mapping[str, Assign]
    whole: Whole
    known: Known
    lengths: Mapping[str, Scalar]  # of indices
    between: Between

    def contradiction(self, asked: Sequence[Expr]) -> tuple[Expr, ...]:
        """The fewest of some conditions that never hold together; empty where there are none."""
        told = [t for e in asked for t in self.told(e)]
        if found := fewest(told, self.is_never) or fewest(told, self.is_never_allowed):
            return tuple(e for e in asked if any(t.of is e for t in found))
        if apart := [e for e in asked if isinstance(e, Compare) and self.is_apart(e)]:
            return (apart[0],)
        denied = ((e, n) for e in asked for n in asked if isinstance(n, Unary) and n.op == "not" and n.operand == e)
        pair = next((p for p in denied if not is_drawn(p[0])), ())
        return tuple(e for e in asked if any(e is p for p in pair))

    def is_apart(self, c: Compare) -> bool:
        """Whether the numbers that one side lies between exclude what is asked of it, as `sigmoid(x) > 1`."""
        for (left, right), op in zip(pairwise(c.operands), c.ops, strict=True):
            a, b = self.between.ends(left), self.between.ends(right)
            low, high = (a, b) if op[0] == "<" else (b, a)  # low < high is asked
            if op in ("<", "<=", ">", ">=") and _is_past(low, high, strict=len(op) == 1):
                return True
            if op == "==" and (_is_past(a, b, strict=False) or _is_past(b, a, strict=False)):
                return True
        return False

    def told(self, e: Expr) -> Iterator[Told]:
        """What a condition says of numbers, perhaps by a name."""
        for c in _all_of(written_out(e, self.once)):
            if isinstance(c, Compare):
                yield from self.told_by(c, e)

    def told_by(self, c: Compare, of: Expr) -> Iterator[Told]:
        """What each pair of a chain of comparisons says."""
        for (left, right), op in zip(pairwise(c.operands), c.ops, strict=True):
            sides = [written_out(e, self.once) for e in (left, right)]
            if any(isinstance(e, Text) or is_drawn(e) for e in sides) or op == "!=":
                continue
            exact = all(map(self.is_exact, sides))
            a, b = (multiples(e, self.once) if exact else _opaque(e) for e in sides)
            if op in ("<", "<=", "=="):
                yield Told(of, _above(b, a, strict=op == "<", exact=exact), exact)
            if op in (">", ">=", "=="):
                yield Told(of, _above(a, b, strict=op == ">", exact=exact), exact)

    def is_never(self, some: Sequence[Told]) -> bool:
        """Whether sums of which each is at least 0, or above it, cannot be so together."""
        total: Linear = {}
        for t in some:
            total = plus(total, t.fact.sum)
        strict, exact = any(t.fact.strict for t in some), all(t.exact for t in some)
        if strict or exact:
            return self.known.shown(plus({}, total, -1), strict=not strict)
        numbers = [abs(t.fact.sum.get(None, Fraction(0))) for t in some]
        return {*total} == {None} and total[None] < -ROUNDED * max(numbers)

    def is_never_allowed(self, some: Sequence[Told]) -> bool:
        """Whether sums cannot be so together for what domains allow of params, though each of them can."""
        within = replace(self, known=replace(self.known, declared=True, inputs=False))
        several = len({id(t.of) for t in some}) > 1
        return several and within.is_never(some) and not any(within.is_never((t,)) for t in some)

    def is_exact(self, e: Expr) -> bool:
        """Whether an expression is a whole number, of indices, sizes, params and remainders, which nothing rounds."""
        names = {Name(n, e.span) for n in self.once}
        rests = transform(e, lambda n: Number(0, n.span) if self.whole.divisor(n) is not None else None)
        read = (isinstance(n, Access | Call | Reduction) or n in names for n in nodes(rests))
        return not any(read) and self.whole.is_whole(e)

    # --- what is said of it ------------------------------------------------------------------------------------------

    def label(self, found: Sequence[Expr]) -> str:
        """Why something never holds."""
        if len(found) > 1:
            return "no values meet both" if len(found) == 2 else "no values meet all of them"
        if is_same(found[0]):
            return "the same on both sides"
        return next(self.runs(found[0]), None) or next(self.lies(found[0]), "no values meet this")

    def runs(self, e: Expr) -> Iterator[str]:
        """How far an index or a remainder runs that is compared."""
        for name, _ in self.indices(e):
            yield f"`{name}` runs from 0 to `{self.last(name)}`"
        for rest, _, last in self.remainders(e):
            yield f"`{rest}` runs from 0 to `{last}`"

    def lies(self, e: Expr) -> Iterator[str]:
        """Between which numbers something lies that is compared with a number."""
        for side in e.operands if isinstance(e, Compare) and len(e.operands) == 2 and self.is_apart(e) else ():
            found = self.between.ends(side)
            if literal(side) is None and found.low is not None and found.high is not None:
                yield f"`{respelled(side)}` lies between {found.low} and {found.high}"

    def meant(self, a: Assign, asked: Sequence[Expr], found: Sequence[Expr]) -> Iterator[str]:
        """What may be meant."""
        first = found[0]
        if isinstance(first, Compare) and len(found) == 1:
            yield from self.alone(a, first)
        elif len(found) == 2:
            told = [t for e in found for t in self.told(e)]
            one, other = map(respelled, found)
            either = f"{one} or {other}" if len(asked) == len(found) else f"({one} or {other})"
            is_all = len(told) < 2 or (len(told) == 2 and self.is_never([*map(_denied, told)]))
            turned = (shown for e in found for shown, other in self.turned(e) if not self.excludes(found, e, other))
            yield from (f"with the other sign write `{shown}`" for shown in turned)
            alone = f"leave one of them out: `{one}` alone, or `{other}`"
            yield alone if is_all else f"if either will do write `{either}`"

    def turned(self, e: Expr) -> Iterator[tuple[str, Compare]]:
        """A comparison with a sum of two in it, as it is with the other sign of the second, a number or a param."""
        if not isinstance(e, Compare):
            return
        for side in e.operands:
            match side:
                case Sum(terms=(first, (sign, Number() | Name() as second))) if self.is_number(second):
                    written, one, last = respelled(side), respelled(first[1]), respelled(second)
                    other = "-" if sign == "+" else "+"
                    between = written.removeprefix(one).removesuffix(last)
                    shown = respelled(e, (side, one + between.replace(sign, other) + last))
                    made = replace(side, terms=(first, (other, second)))
                    parts: Iterator[Expr] = (made if part is side else part for part in e.operands)
                    yield shown, replace(e, operands=tuple(parts))

    def is_number(self, e: Expr) -> bool:
        """Whether it is a number or a param."""
        return isinstance(e, Number) or (isinstance(e, Name) and e.name in self.known.d.params)

    def excludes(self, found: Sequence[Expr], e: Expr, other: Expr) -> bool:
        """Whether conditions never hold together with another one in place of one of them."""
        told = [t for c in found for t in self.told(other if c is e else c)]
        return bool(fewest(told, self.is_never) or fewest(told, self.is_never_allowed))

    def alone(self, a: Assign, c: Compare) -> Iterator[str]:
        """What may be meant by a comparison that never holds by itself."""
        if is_same(c):
            left, right = c.operands
            moved = elsewhere(a, left, self.lengths)
            if moved:
                turned = respelled(c, (left, moved), (right, respelled(left)))
                yield f"write `{respelled(c, (right, moved))}`, or `{turned}`"
        for name, factor in self.indices(c):
            which, place = ("last", self.last(name)) if factor > 0 else ("first", "0")
            yield f"the {which} one is `{name} == {place}`"
        for rest, by, last in self.remainders(c):
            yield f"multiples of {by} are `{rest} == 0`, and those in front of them `{rest} == {last}`"

    def remainders(self, e: Expr) -> Iterator[tuple[str, str, str]]:
        """The remainder that is compared with one thing: what it is of what, and the greatest."""
        c = written_out(e, self.once)
        for rest in c.operands if isinstance(c, Compare) and len(c.operands) == 2 else ():
            if (by := self.whole.divisor(rest)) is not None:
                last = (integer(by) or 0) - 1
                yield respelled(rest), respelled(by), str(last) if last >= 0 else f"{respelled(by)} - 1"

    def indices(self, e: Expr) -> Iterator[tuple[str, Fraction]]:
        """The index that a comparison is of, if it is one of whole numbers and of no other index, with its factor."""
        told = [*self.told(e)]
        sums = (item for t in told for item in t.fact.sum.items())
        found = [(k.name, factor) for k, factor in sums if isinstance(k, Name) and k.name in self.known.ends]
        if len(told) == len(found) == 1 and told[0].exact:
            yield found[0]

    def last(self, index: str) -> str:
        """The last value of an index."""
        return text.scalar((polynomial(self.lengths[index]) - number(1)).scalar())


def fewest(told: Sequence[Told], is_found: Callable[[Sequence[Told]], bool]) -> Sequence[Told]:
    """The fewest of what is told by conditions that are `is_found` together; empty where there are none.

    What a name alone says is told where that is assigned.
    """
    for count in range(1, _TOGETHER + 1) if len(told) <= _MANY else ():
        for some in combinations(told, count):
            is_here = isinstance(some[0].of, Compare) or len({id(t.of) for t in some}) > 1
            if is_here and is_found(some):
                return some
    return ()


def is_same(e: Expr) -> bool:
    """Whether a comparison is of something with itself."""
    return isinstance(e, Compare) and len(e.operands) == 2 and e.operands[0] == e.operands[1]


def _is_past(a: Ends, b: Ends, *, strict: bool) -> bool:
    """Whether a number is never below another one, or (not `strict`) not even equal to it."""
    if a.low is None or b.high is None:
        return False
    return a.low >= b.high if strict else a.low > b.high


def _denied(t: Told) -> Told:
    """That a comparison is false, nan aside."""
    less = plus({}, t.fact.sum, -1)
    return replace(t, fact=Fact(plus(less, {None: Fraction(t.exact)}, -1), strict=not t.fact.strict and not t.exact))


def _opaque(e: Expr) -> Linear:
    """What is taken as it is, a literal aside: sums of floats are rounded."""
    value = literal(e)
    return {e: Fraction(1)} if value is None else {None: Fraction(value)} if value else {}


def _above(a: Linear, b: Linear, *, strict: bool, exact: bool) -> Fact:
    """That `a` is at least `b`, or above it: by 1 if both are whole numbers."""
    away = plus(a, b, -1)
    return Fact(plus(away, {None: Fraction(1)}, -1), strict=False) if strict and exact else Fact(away, strict)
