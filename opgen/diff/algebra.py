"""Scalar builders that keep derivatives exact and readable: products that select last, sums with minus signs.

Products are held as coefficient, numerator and denominator while they are built, so that `(g/n)*(2*x)` comes out as
`2*g*x/n`. A factor `where(c, a, 0)` is never multiplied by: the other factors move into its branch, because `0*inf`
would be nan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from opgen.ir.scalar import (
    INF,
    NAN,
    ZERO,
    Apply,
    Lit,
    Scalar,
    add,
    div,
    is_number,
    mul,
    neg,
    rebuild,
    sub,
    where,
)

_MANY_FACTORS = 64
_FLAT = 8  # so many terms to take away are summed first: a chain of differences nests as deep as it is long


def literal(value: int | Fraction) -> Lit:
    """A literal that is an int where it can be."""
    if type(value) is int:
        return Lit(value)
    exact = Fraction(value)
    return Lit(exact.numerator) if exact.denominator == 1 else Lit(exact)


def is_decimal(value: int | Fraction) -> bool:
    """Whether a fraction has a finite decimal expansion (printed as such)."""
    rest = value.denominator
    for p in (2, 5):
        while rest % p == 0:
            rest //= p
    return rest == 1


def negated(e: Scalar) -> Scalar | None:
    """`-e` where that removes a minus sign, else None."""
    match e:
        case Apply("neg", (arg,)):
            return arg
        case Lit(value) if is_number(e) and value < 0:
            return Lit(-value)
        case Apply("mul", (Lit() as first, *rest)) if is_number(first) and first.value < 0:
            return mul(Lit(-first.value), *rest)
        case Apply("div", (top, bottom)):
            flipped = negated(top)
            return None if flipped is None else div(flipped, bottom)
        case _:
            return None


def total(terms: Iterable[Scalar]) -> Scalar:
    """The sum, with `a - b` where a term has a minus sign and positive terms first."""
    plus: list[Scalar] = []
    minus: list[Scalar] = []
    all_terms = [t for t in terms if t != ZERO]
    if len(all_terms) == 1:
        return all_terms[0]
    for t in all_terms:
        flipped = negated(t)
        if flipped is None:
            plus.append(t)
        else:
            minus.append(flipped)
    if not plus:
        return neg(add(*minus)) if minus else ZERO
    if len(minus) > _FLAT:
        return sub(add(*plus), add(*minus))
    result = add(*plus)
    for m in minus:
        result = sub(result, m)
    return result


def in_order(terms: Sequence[Scalar]) -> Scalar:
    """The sum as it stands, with `b - a` for `-a + b` and `a - b` where terms with a minus sign are the last ones."""
    kept = [t for t in terms if t != ZERO]
    signs = [negated(t) is not None for t in kept]
    if signs[:2] == [True, False]:
        kept[:2], signs[:2] = reversed(kept[:2]), (False, True)
    return total(kept) if signs == sorted(signs) else add(*kept)


def split_factors(factor: Scalar, top: list[Scalar], bottom: list[Scalar]) -> int | Fraction:
    """Sort one factor's own factors into numerator and denominator; returns its coefficient."""
    match factor:
        case Lit(value) if is_number(factor):
            return value
        case Apply("neg", (arg,)):
            return -split_factors(arg, top, bottom)
        case Apply("mul", args):
            coefficient: int | Fraction = 1
            for a in args:
                coefficient *= split_factors(a, top, bottom)
            return coefficient
        case Apply("div", (a, b)):
            under: list[Scalar] = []
            over: list[Scalar] = []
            below = split_factors(b, under, over)
            if below == 0:  # stays the quotient it is, infinite or not a number
                top.append(factor)
                return 1
            coefficient = split_factors(a, top, bottom)
            top += over
            bottom += under
            return coefficient if below == 1 else Fraction(coefficient) / below
        case _:
            top.append(factor)
            return 1


def signed_terms(e: Scalar, negative: bool = False) -> Iterator[tuple[Scalar, bool]]:
    """The terms of a sum, and which of them are subtracted."""
    match e:
        case Apply("add", args):
            for a in args:
                yield from signed_terms(a, negative)
        case Apply("sub", (a, b)):
            yield from signed_terms(a, negative)
            yield from signed_terms(b, not negative)
        case Apply("neg", (a,)):
            yield from signed_terms(a, not negative)
        case _:
            yield e, negative


def _selecting(top: list[Scalar]) -> int | None:
    """The position of a factor with a branch that is zero."""
    for k, f in enumerate(top):
        if _has_zero_branch(f):
            return k
    return None


def _has_zero_branch(e: Scalar) -> bool:
    return isinstance(e, Apply) and e.fn == "where" and any(b == ZERO or _has_zero_branch(b) for b in e.args[1:])


def product(*factors: Scalar) -> Scalar:
    """The product; branches that are zero stay zero whatever the other factors are."""
    top: list[Scalar] = []
    bottom: list[Scalar] = []
    coefficient: int | Fraction = 1
    for f in factors:
        coefficient *= split_factors(f, top, bottom)
        if coefficient == 0:
            return ZERO
    k = _selecting(top)
    if k is None:
        return quotient(coefficient, top, bottom)
    chosen = top.pop(k)
    assert isinstance(chosen, Apply)
    condition, a, b = chosen.args
    rest = quotient(coefficient, top, bottom)
    taken = ZERO if a == ZERO else assume(product(rest, a), condition, holds=True)
    other = ZERO if b == ZERO else assume(product(rest, b), condition, holds=False)
    return where(condition, taken, other)


def quotient(coefficient: int | Fraction, top: list[Scalar], bottom: list[Scalar]) -> Scalar:
    """`coefficient*top/bottom` with common factors cancelled and the coefficient where it reads best."""
    for f in list(bottom):
        if f in top and f not in (INF, NAN):
            top.remove(f)
            bottom.remove(f)
    sign = -1 if coefficient < 0 else 1
    size = sign * coefficient
    upper: int | Fraction = size
    lower = 1
    if not is_decimal(size):
        upper, lower = size.numerator, size.denominator
    if upper.denominator > 1 and upper.numerator == 1 and not top:
        upper, lower = 1, upper.denominator
    if sign < 0 and upper != 1:
        sign, upper = 1, -upper
    numerator = _powers([literal(upper), *top])
    result = div(numerator, _powers([literal(lower), *bottom])) if bottom or lower != 1 else numerator
    return neg(result) if sign < 0 else result


def _powers(items: list[Scalar]) -> Scalar:
    """A product in which a repeated factor is a power; numbers are multiplied, powers of numbers left as they are."""
    if len(items) > _MANY_FACTORS:
        return mul(*items)
    exponents: dict[Scalar, int] = {}
    for f in items:
        base, exponent = f, 1
        if isinstance(f, Apply) and f.fn == "pow" and isinstance(f.args[1], Lit) and type(f.args[1].value) is int:
            base, exponent = f.args[0], f.args[1].value
        if exponent < 1 or is_number(base):
            base, exponent = f, 1
        exponents[base] = exponents.get(base, 0) + exponent
    return mul(*(_raised(b, n) for b, n in exponents.items()))


def _raised(base: Scalar, exponent: int) -> Scalar:
    """A power that a product is made of: a number comes once, a power of a number as often as it was a factor."""
    return base if exponent == 1 else Apply("pow", (base, Lit(exponent)))


def assume(e: Scalar, condition: Scalar, *, holds: bool) -> Scalar:
    """`e` where `condition` is known: choices by the same condition are decided."""
    match e:
        case Apply("where", (c, a, b)) if c == condition:
            return assume(a if holds else b, condition, holds=holds)
        case Apply("where", (Apply("not", (c,)), a, b)) if c == condition:
            return assume(b if holds else a, condition, holds=holds)
        case Apply():
            return rebuild(e, lambda a: assume(a, condition, holds=holds))
        case _:
            return e
