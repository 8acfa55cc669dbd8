"""A start that is the first element itself, `h[0] = x[0]`: what outside of the extent comes to the same.

In go the statement that goes on and the start; out comes whether its step gives that element from a value outside.
"""

from __future__ import annotations

from fractions import Fraction

from opgen.lang.circles import shift_of
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Number, Product, Sum, Unary
from opgen.lang.spread import at
from opgen.lang.unparse import unparse
from opgen.lang.walk import nodes, transform

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
