"""A start that is the first element itself, `h[0] = x[0]`: what outside of the extent comes to the same.

In go the statement that goes on and the start; out comes whether its step gives that element from a value outside.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from opgen.lang.circles import Step, shift_of
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Number, Product, Sum, Unary
from opgen.lang.spread import at
from opgen.lang.unparse import unparse
from opgen.lang.walk import integer, nodes, transform
from opgen.lower.declare import Declarations

_Terms = dict[tuple[str, ...], Fraction]


def is_element(s: Assign, place: int) -> bool:
    """Whether a start reads something at the very element that it stands at."""
    old = (s.target.items or ())[place]
    return any(isinstance(a, Access) and old in a.items for a in nodes(s.value))


def comes_to_it(body: Assign, s: Assign, place: int, index: str, outside: Expr) -> bool:
    """Whether the step from a value outside gives what the start says of its element, whatever the values are."""
    old, name = (s.target.items or ())[place], body.target.name

    def step(e: Expr) -> Expr | None:
        own = isinstance(e, Access) and e.name == name
        return outside if own and isinstance(e, Access) and any(map(shift_of, e.items)) else None

    if isinstance(old, Binder | Dots):
        return False
    made = at(transform(body.value, step), index, old)
    return _terms(made) == _terms(s.value)


def sized(d: Declarations, made: Assign, s: Assign, place: int) -> Assign:
    """A statement with the element of a start in it, with the extent of its index where nothing else says that: how
    many there are of what the start reads at its own element.
    """
    items = made.target.items or ()
    own, old = items[place], (s.target.items or ())[place]
    alone = [i.name for a in nodes(made.value) if isinstance(a, Access) for i in a.items if isinstance(i, Name)]
    if not isinstance(own, Binder) or own.extent is not None or own.name in alone:
        return made
    for a in (n for n in nodes(s.value) if isinstance(n, Access)):
        for item, size in zip(a.items, d.words.shapes.get(a.name, ()), strict=False):
            if item == old and size[:1].isupper():
                bound = replace(own, extent=Name(size, own.span))
                return replace(made, target=replace(made.target, items=(*items[:place], bound, *items[place + 1 :])))
    return made


def _terms(e: Expr) -> _Terms:
    """A sum of products, by the factors of each that are no numbers."""
    match e:
        case Number(value=value):
            return {(): Fraction(value)} if value else {}
        case Unary(op="-", operand=of):
            return {m: -c for m, c in _terms(of).items()}
        case Sum(terms=terms):
            found: _Terms = {}
            for sign, x in terms:
                for m, c in _terms(x).items():
                    found[m] = found.get(m, Fraction(0)) + (c if sign == "+" else -c)
            return {m: c for m, c in found.items() if c}
        case Product(factors=factors) if all(op == "*" for op, _ in factors):
            made: _Terms = {(): Fraction(1)}
            for _, x in factors:
                both: _Terms = {}
                for m, c in made.items():
                    for n, d in _terms(x).items():
                        key = tuple(sorted((*m, *n)))
                        both[key] = both.get(key, Fraction(0)) + c * d
                made = both
            return {m: c for m, c in made.items() if c}
        case _:
            return {(unparse(e),): Fraction(1)}


def is_inside(item: Binder | Dots | Expr, step: Step) -> bool:
    """Whether an element stands at a position: one that is counted from where the recurrence begins."""
    if isinstance(item, Binder | Dots):
        return False
    if step.offset < 0:
        return (integer(item) or 0) >= 0
    return isinstance(item, Sum) and any(sign == "-" for sign, _ in item.terms)
