"""Places that move along with an index by a step, as the ends of slices do: `2*p:2*p + 2` and `p*s:(p + 1)*s`."""

from __future__ import annotations

from opgen.lang.nodes import Expr, Name, Number, Product, Sum, Unary
from opgen.lang.walk import nodes


def multiplied_out(e: Expr | None) -> Expr | None:
    """An end of a slice with `(p + 1)*s` as `p*s + s`."""
    return None if e is None else _out(e)


def _out(e: Expr) -> Expr:
    match e:
        case Unary(op="-", operand=operand):
            return Unary("-", _out(operand), e.span)
        case Sum(terms=terms):
            return Sum(tuple((sign, _out(t)) for sign, t in terms), e.span)
        case Product(factors=(("*", Sum(terms=terms)), ("*", step))) if not isinstance(step, Sum):
            return Sum(tuple((sign, _times(t, step, e)) for sign, t in terms), e.span)
        case Product(factors=(("*", step), ("*", Sum(terms=terms)))):
            return Sum(tuple((sign, _times(step, t, e)) for sign, t in terms), e.span)
        case _:
            return e


def _times(a: Expr, b: Expr, at: Expr) -> Expr:
    one = Number(1, at.span)
    return b if a == one else a if b == one else Product((("*", a), ("*", b)), at.span)


def step_along(place: Expr, index: str) -> tuple[Expr, Expr] | None:
    """The one term of a place that moves with an index, and by how much it does."""
    terms = place.terms if isinstance(place, Sum) else (("+", place),)
    moving = [(sign, t) for sign, t in terms if any(isinstance(n, Name) and n.name == index for n in nodes(t))]
    match moving:
        case [("+", Name() as term)]:
            return term, Number(1, term.span)
        case [("+", Product(factors=(("*", Name(name=name)), ("*", step))) as term)] if name == index:
            pass
        case [("+", Product(factors=(("*", step), ("*", Name(name=name)))) as term)] if name == index:
            pass
        case _:
            return None
    return (term, step) if isinstance(step, Name) or (isinstance(step, Number) and step.value > 0) else None
