"""Conditions that hold everywhere, whatever values are passed: a warning.

`x != 0 or x != 9` is one, and so is `k >= 0` of an index. In: the statements as they are written, and for extents the
variants. Conditions hold everywhere if what denies each of them holds nowhere together. With nan a comparison is false,
other than `!=`: of floats only what leaves no number out, and more than that, is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from opgen.diagnostics.model import Diagnostic
from opgen.ir.operator import Variant
from opgen.lang.nodes import Access, Assign, Call, Compare, Expr, Logic, Name, Unary
from opgen.lang.unparse import respelled
from opgen.lang.walk import literal, nodes, operands
from opgen.lower.assigned import written_out
from opgen.lower.declare import Declarations
from opgen.lower.doubts import doubt
from opgen.lower.draw import is_drawn
from opgen.lower.multiples import Known, Linear, plus
from opgen.lower.never import ROUNDED, Search, Told, compares, fewest, is_same, search_in

_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_TWO = 2


def always(d: Declarations, variants: Sequence[Variant]) -> Iterator[Diagnostic]:
    """A warning for each condition that holds everywhere, at the fewest comparisons that say so."""
    for a in (s for s in d.forward if compares(s)):
        search = search_in(d, variants, a)
        either = _Either(d, search)
        for asked in _asked(a.value):
            found = either.found(asked)
            if found:
                shown = " or ".join(respelled(e) for e in found)
                of = "always true" if either.is_sure(found) else "true of every number"
                e = found[0] if len(found) == 1 else Logic("or", found, found[0].span.to(found[-1].span))
                label = "one of them always holds" if len(found) > 1 else either.why(found[0])
                message = f"`{shown}` is {of}{_chosen(a, asked, of)}"
                yield doubt("OPG286", message, e, label, *either.meant(a, found))


def _asked(e: Expr) -> Iterator[tuple[Expr, ...]]:
    """The conditions in an expression of which one is enough; one alone where no other has to hold beside it."""
    match e:
        case Logic(op="or"):
            parts = tuple(_any_of(e))
            yield parts
        case Logic():
            parts = tuple(c for c in e.operands if not isinstance(c, Compare))
        case Compare():
            yield (e,)
            parts = e.operands
        case _:
            parts = operands(e)
    for part in parts:
        yield from (p for p in _asked(part) if not (isinstance(e, Logic) and p == (part,)))


def _any_of(e: Expr) -> Iterator[Expr]:
    """The conditions of which one is enough."""
    if isinstance(e, Logic) and e.op == "or":
        for c in e.operands:
            yield from _any_of(c)
    else:
        yield e


def _chosen(a: Assign, asked: Sequence[Expr], of: str) -> str:
    """What a choice gives whose condition always holds."""
    for c in (n for n in nodes(a.value) if isinstance(n, Call) and n.name == "where" and len(n.args) == 3):
        if [id(e) for e in _any_of(c.args[0])] == [id(e) for e in asked] and of.startswith("always"):
            return f", and the choice always `{respelled(c.args[1])}`"
    return ""


@dataclass(frozen=True, slots=True)
class _Either:
    """What is known of conditions of which one is enough."""

    d: Declarations
    search: Search

    def found(self, asked: Sequence[Expr]) -> tuple[Expr, ...]:
        """The fewest of some conditions of which one holds everywhere; empty where there are none."""
        told = [t for e in asked for t in self.denied(e)]
        if some := fewest(told, self.is_everywhere):
            return tuple(e for e in asked if any(t.of is e for t in some))
        pairs = ((e, n) for e in asked for n in asked if isinstance(n, Unary) and n.op == "not" and n.operand == e)
        pair = next((p for p in pairs if not is_drawn(p[0])), ())
        return tuple(e for e in asked if any(e is p for p in pair))

    def denied(self, e: Expr) -> Iterator[Told]:
        """What is so of numbers where a condition does not hold."""
        c = written_out(e, self.search.once)
        match c:
            case Unary(op="not", operand=of):
                yield from (replace(t, of=e) for t in self.search.told(of))
            case Compare(ops=(op,)):
                yield from self.search.told_by(replace(c, ops=(_OPPOSITE[op],)), e)

    def is_everywhere(self, some: Sequence[Told]) -> bool:
        """Whether what denies conditions holds nowhere, and with nan one of them holds all the same."""
        if self.is_sure([t.of for t in some]):
            return self.search.is_never(some)
        total: Linear = {}
        for t in some:
            total = plus(total, t.fact.sum)
        numbers = [abs(t.fact.sum.get(None, Fraction(0))) for t in some]
        return {*total} == {None} and total[None] < -ROUNDED * max(numbers)

    def is_sure(self, found: Sequence[Expr]) -> bool:
        """Whether nan makes no condition false: of whole numbers, for `!=` and for `not`."""
        for e in found:
            c = written_out(e, self.search.once)
            is_safe = not isinstance(c, Compare) or c.ops == ("!=",) or self.is_whole(c)
            if not is_safe and not any(isinstance(n, Unary) and n.operand == e for n in found):
                return False
        return True

    def is_whole(self, c: Compare) -> bool:
        return all(map(self.search.whole.is_whole, c.operands))

    # --- what is said of it ------------------------------------------------------------------------------------------

    def why(self, e: Expr) -> str:
        """Why a condition holds everywhere."""
        if is_same(e):
            return "the same on both sides"
        return next(self.search.runs(e), "all values meet this")

    def meant(self, a: Assign, found: Sequence[Expr]) -> Iterator[str]:
        """What may be meant."""
        first = found[0]
        if isinstance(first, Compare) and len(found) == 1:
            yield from self.search.alone(a, first) if is_same(first) else self.but_one(first)
        elif len(found) == _TWO:
            one, other = map(respelled, found)
            if self.meets_both(found):
                yield f"if both are to hold write `{one} and {other}`"
            elif self.search.is_never([t for e in found for t in self.search.told(e)]):
                yield f"leave one of them out: `{one}` alone, or `{other}`"

    def but_one(self, e: Expr) -> Iterator[str]:
        """What leaves out an end, of an index that runs along all of it."""
        for name, factor in self.search.indices(e):
            if factor > 0:
                yield f"all but the first are `{name} > 0`"
            else:
                yield from (f"what comes up to `{n}` is `{name} <= {n}`" for n in self.beside(name))
                yield f"all but the last are `{name} < {self.search.last(name)}`"

    def beside(self, name: str) -> list[str]:
        """The other index that runs as far, if there is one."""
        lengths = self.search.lengths
        others = [n for n, size in lengths.items() if n != name and size == lengths.get(name)]
        return others if len(others) == 1 else []

    def meets_both(self, found: Sequence[Expr]) -> bool:
        """Whether some values meet both of two comparisons."""
        both = [c for c in (written_out(e, self.search.once) for e in found) if isinstance(c, Compare)]
        if len(both) < _TWO:
            return False
        if any(c.ops == ("!=",) for c in both):
            return not self.are_all(both)
        total: Linear = {}
        for c in both:
            (t,) = self.search.told_by(c, c)
            less = Fraction(t.fact.strict and self.is_whole(c))  # of whole numbers, what is above is so by 1
            total = plus(plus(total, t.fact.sum), {None: less}, -1)
        number = total.get(None, Fraction(0))
        return {*total} <= {None} and (number > 0 or (number == 0 and all(map(self.is_whole, both))))

    def are_all(self, both: Sequence[Compare]) -> bool:
        """Whether a value can be nothing but the two numbers that it is compared with: 0 and 1 of a mask."""
        of = [e for c in both for e in c.operands if literal(e) is None]
        values = sorted(v for c in both for e in c.operands if (v := literal(e)) is not None)
        if len(of) != _TWO or not isinstance(of[0], Name | Access) or values[1] - values[0] != 1:
            return False
        if of[0].name in self.d.inputs and self.d.inputs[of[0].name].kind == "bool":
            return True
        declared, (low, high) = Known(self.d), map(Fraction, values)
        return self.search.whole.is_whole(of[0]) and (
            declared.shown({of[0]: Fraction(1), None: -low}, strict=False)
            and declared.shown({of[0]: Fraction(-1), None: high}, strict=False)
        )
