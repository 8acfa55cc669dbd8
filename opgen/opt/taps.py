"""The positions of convolutions taken apart: along a spatial axis, and the channels of a group.

In go positions and conditions of a statement, out come their coefficients, or nothing where they have another form.
"""

from __future__ import annotations

from opgen.ir.polynomial import Polynomial, polynomial
from opgen.ir.scalar import ONE, ZERO, Apply, Index, Lit, Read, Scalar, neg, walk


def guarded(e: Scalar, conditions: list[Scalar]) -> Scalar:
    """What is summed where all conditions hold; elsewhere it is zero."""
    while isinstance(e, Apply) and e.fn == "where" and e.args[2] == ZERO:
        pending = [e.args[0]]
        while pending:
            c = pending.pop()
            if isinstance(c, Apply) and c.fn == "and":
                pending.extend(c.args)
            else:
                conditions.append(c)
        e = e.args[1]
    return e


def group(q: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar] | None:
    """`(o, width, count, c)` where a position is `o//width*count + c`."""
    terms = polynomial(q).terms
    if len(terms) != 2 or any(n != 1 for _, n in terms):
        return None
    for (m, _), (rest, _) in (terms, terms[::-1]):
        quotient = next((a for a in m if isinstance(a, Apply) and a.fn == "floordiv"), None)
        if quotient is None or len(rest) != 1 or not isinstance(rest[0], Index) or len(m) > 2:
            continue
        output, width = quotient.args
        count = next((a for a in m if a is not quotient), ONE)
        if isinstance(output, Index) and is_number(width) and is_number(count):
            return output, width, count, rest[0]
    return None


def remainder(q: Scalar) -> tuple[Scalar, Scalar] | None:
    """`(c, count)` where a position is `c % count`."""
    match q:
        case Apply("mod", (Index() as c, count)) if is_number(count):
            return c, count
    return None


def is_number(e: Scalar) -> bool:
    return not any(isinstance(n, Index | Read) for n in walk(e))


def quotient(p: Polynomial) -> tuple[Polynomial, Scalar]:
    """Numerator and divisor where a polynomial is a quotient, or one plus terms; else itself by one."""
    for a in p.atoms():
        if isinstance(a, Apply) and a.fn == "floordiv" and not is_number(a):
            parts = p.split(a)
            if parts is not None and parts[0].constant == 1 and is_number(a.args[1]):
                return parts[1] * polynomial(a.args[1]) + polynomial(a.args[0]), a.args[1]
    return p, ONE


def line(position: Scalar, first: Index, second: Index) -> tuple[Scalar, Scalar, Scalar, Scalar] | None:
    """`(a, b, start, divisor)` where a position is `(first*a + second*b + start)//divisor`."""
    numerator, divisor = quotient(polynomial(position))
    a = numerator.split(first)
    b = None if a is None else a[1].split(second)
    if a is None or b is None:
        return None
    found = (a[0].scalar(), b[0].scalar(), b[1].scalar())
    return (*found, divisor) if all(is_number(e) for e in found) else None


def solved(position: Scalar, data: Index, other: Index) -> tuple[Scalar, Scalar, Scalar] | None:
    """`(divisor, factor, start)` where a position is `(data - other*factor - start)/divisor`."""
    found = line(position, data, other)
    if found is None or found[0] not in (ONE, Lit(-1)):
        return None
    away = found[0] != ONE
    factor, start = (polynomial(e) if away else -polynomial(e) for e in found[1:3])
    return neg(found[3]) if away else found[3], factor.scalar(), start.scalar()


def divides(condition: Scalar, numerator: Polynomial, divisor: Scalar) -> bool:
    """Whether a condition says that a quotient is a whole number."""
    match condition:
        case Apply("eq", (Apply("mod", (a, d)), z)) if z == ZERO and d == divisor:
            parts = (polynomial(a) - numerator).divided(polynomial(divisor))
            return parts is not None and not parts[1].terms
    return False


def undivided(p: Polynomial, conditions: tuple[Scalar, ...]) -> Polynomial:
    """A polynomial where `x//n*n` is `x`, as a condition says so."""
    for a in p.atoms():
        match a:
            case Apply("floordiv", (x, n)) if any(divides(c, polynomial(x), n) for c in conditions):
                parts = p.split(a)
                times = None if parts is None else parts[0].divided(polynomial(n))
                if parts is not None and times is not None and not times[1].terms:
                    p = times[0] * polynomial(x) + parts[1]
    return p
