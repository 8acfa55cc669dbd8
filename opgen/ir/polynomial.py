"""Integer polynomials over indices, sizes and params: the normal form of positions, extents and guards.

Everything that is no sum, difference or product is an opaque atom, so that every scalar has a polynomial; quotients and
remainders are taken apart as far as that is exact (`(R*c + r)//R` is `c + r//R`). Terms keep the order in which they
first stand in the scalar, so that going back gives what a person would have written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from opgen.ir.scalar import (
    ONE,
    ZERO,
    Apply,
    Batch,
    Dim,
    Index,
    Lit,
    Scalar,
    add,
    mentions,
    mul,
    neg,
    rebuild,
    sub,
)

Monomial = tuple[Scalar, ...]
_MAX_POWER = 4
_REMEMBERED = 1 << 14  # normal forms, which proofs ask for again and again
_MAX_TERMS = 64


@dataclass(frozen=True, slots=True)
class Polynomial:
    """Coefficients by monomial; a monomial is a product of atoms in a fixed order, the empty one the constant."""

    terms: tuple[tuple[Monomial, int], ...]

    def __add__(self, other: Polynomial) -> Polynomial:
        found = dict(self.terms)
        for m, c in other.terms:
            found[m] = found.get(m, 0) + c
        return _made(found)

    def __neg__(self) -> Polynomial:
        return self.times(-1)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial) -> Polynomial:
        found: dict[Monomial, int] = {}
        for m, c in self.terms:
            for n, d in other.terms:
                both = tuple(sorted((*m, *n), key=_order))
                found[both] = found.get(both, 0) + c * d
        return _made(found)

    def times(self, factor: int) -> Polynomial:
        return _made({m: c * factor for m, c in self.terms})

    def same(self, other: Polynomial) -> bool:
        return not (self - other).terms

    @property
    def constant(self) -> int | None:
        """The value, where it is a number."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    def atoms(self) -> tuple[Scalar, ...]:
        return tuple(dict.fromkeys(a for m, _ in self.terms for a in m))

    def split(self, atom: Scalar) -> tuple[Polynomial, Polynomial] | None:
        """`(c, d)` with `self = atom*c + d` and neither holding the atom; None where it stands in a power."""
        inside: dict[Monomial, int] = {}
        rest: dict[Monomial, int] = {}
        for m, c in self.terms:
            if atom in m:
                k = m.index(atom)
                left = m[:k] + m[k + 1 :]
                if atom in left:
                    return None
                inside[left] = c
            else:
                rest[m] = c
        return _made(inside), _made(rest)

    def replaced(self, atom: Scalar, value: Polynomial) -> Polynomial:
        """The polynomial with a value in place of an atom."""
        result = number(0)
        for m, c in self.terms:
            part = _made({tuple(a for a in m if a != atom): c})
            for a in m:
                part = part * value if a == atom else part
            result = result + part
        return result

    def divided(self, other: Polynomial) -> tuple[Polynomial, Polynomial] | None:
        """`(a, b)` with `self = other*a + b`, as many terms as possible in `a`; only by single terms."""
        if len(other.terms) != 1:
            return (number(1), number(0)) if self.terms and self.same(other) else None
        ((m, c),) = other.terms
        whole: dict[Monomial, int] = {}
        rest: dict[Monomial, int] = {}
        for n, d in self.terms:
            left = _without(n, m)
            if left is None or (d % c and not m):
                quotient, remainder = (d // c, d % c) if left is not None and not n else (0, d)
            elif d % c:
                quotient, remainder = 0, d
            else:
                quotient, remainder = d // c, 0
            if quotient and left is not None:
                whole[left] = whole.get(left, 0) + quotient
            if remainder:
                rest[n] = remainder
        return _made(whole), _made(rest)

    def scalar(self) -> Scalar:
        """The polynomial as an expression, terms to add before terms to take away."""
        plus = [_term(m, c) for m, c in self.terms if c > 0]
        minus = [_term(m, -c) for m, c in self.terms if c < 0]
        if not plus:
            return neg(add(*minus)) if minus else ZERO
        constant = dict(self.terms).get((), 0)
        if constant > 0 and len(plus) > 1:
            plus = [t for t in plus if not isinstance(t, Lit)] + [Lit(constant)]
        result = add(*plus)
        for t in minus:
            result = sub(result, t)
        return result


def _made(terms: Mapping[Monomial, int]) -> Polynomial:
    return Polynomial(tuple((m, c) for m, c in terms.items() if c))


def _order(e: Scalar) -> str:
    return repr(e)


def _term(m: Monomial, c: int) -> Scalar:
    return mul(Lit(c), *m) if m else Lit(c)


def _without(m: Monomial, factors: Monomial) -> Monomial | None:
    left = list(m)
    for f in factors:
        if f not in left:
            return None
        left.remove(f)
    return tuple(left)


def number(value: int) -> Polynomial:
    return _made({(): value})


def atom(e: Scalar) -> Polynomial:
    return _made({(e,): 1})


def polynomial(e: Scalar, dims: Mapping[str, Scalar | None] | None = None) -> Polynomial:
    """The normal form of a scalar; `dims` gives derived sizes that are to be written out."""
    return _normal(e, dims) if dims else _remembered(e)


@lru_cache(maxsize=_REMEMBERED)
def _remembered(e: Scalar) -> Polynomial:
    return _normal(e, None)


def _normal(e: Scalar, dims: Mapping[str, Scalar | None] | None) -> Polynomial:
    match e:
        case Lit(value) if isinstance(value, int):
            return number(int(value))
        case Dim(name) if dims and (stated := dims.get(name)) is not None:
            return polynomial(stated, dims)
        case Apply("add", args):
            result = number(0)
            for a in args:
                result = result + polynomial(a, dims)
            return _rejoined(result)
        case Apply("sub", (a, b)):
            return _rejoined(polynomial(a, dims) - polynomial(b, dims))
        case Apply("neg", (a,)):
            return -polynomial(a, dims)
        case Apply("mul", args):
            result = number(1)
            for a in args:
                result = result * polynomial(a, dims)
                if len(result.terms) > _MAX_TERMS:
                    return atom(e)
            return result
        case Apply("pow", (a, Lit(int(n)))) if 0 <= n <= _MAX_POWER:
            result = number(1)
            for _ in range(n):
                result = result * polynomial(a, dims)
            return result
        case Apply("square", (a,)):
            inner = polynomial(a, dims)
            return inner * inner
        case Apply("floordiv" | "mod" as fn, (a, b)):
            return _quotient(fn, polynomial(a, dims), polynomial(b, dims))
        case Apply():
            return atom(rebuild(e, lambda a: _inner(a, dims)))
        case _:
            return atom(e)


def _inner(e: Scalar, dims: Mapping[str, Scalar | None] | None) -> Scalar:
    """An operand of an opaque function: left as it is, but for sizes that are to be written out."""
    return polynomial(e, dims).scalar() if dims else e


def _quotient(fn: str, a: Polynomial, b: Polynomial) -> Polynomial:
    if b.constant == 0:
        return atom(Apply(fn, (a.scalar(), ZERO)))
    parts = a.divided(b)
    whole, rest = parts if parts is not None else (number(0), a)
    divisor = b.constant
    if rest.constant is not None and divisor is not None:
        more = number(rest.constant // divisor if fn == "floordiv" else rest.constant % divisor)
    elif not rest.terms:
        more = number(0)
    elif _is_remainder(rest, b):
        more = number(0) if fn == "floordiv" else rest
    else:
        more = atom(Apply(fn, (rest.scalar(), b.scalar())))
    return whole + more if fn == "floordiv" else more


def _rejoined(p: Polynomial) -> Polynomial:
    """With numbers in place of their quotients and remainders: `(c//S)*S + c%S` is `c`."""
    for m, factor in p.terms:
        match m:
            case (Apply("mod", (a, b)) as rest,):
                apart = atom(Apply("floordiv", (a, b))) * polynomial(b) + atom(rest)
                parts = dict(p.terms)
                if all(parts.get(n) == c * factor for n, c in apart.terms):
                    return _rejoined(p - (apart - polynomial(a)).times(factor))
    return p


def _is_remainder(p: Polynomial, divisor: Polynomial) -> bool:
    """Whether a polynomial is a remainder of the same division."""
    match p.terms:
        case (((Apply("mod", (_, s)),), 1),):
            return polynomial(s).same(divisor)
        case _:
            return False


def same_number(a: Scalar, b: Scalar, dims: Mapping[str, Scalar | None] | None = None) -> bool:
    """Whether two integer scalars are equal for all sizes, as far as their normal forms tell."""
    return a == b or polynomial(a, dims).same(polynomial(b, dims))


def slope(e: Scalar, index: str) -> int | None:
    """How far a number moves with an index; None where that is no constant."""
    parts = polynomial(e).split(Index(index))
    if parts is None or parts[0].constant is None or any(index in mentions(a)[0] for a in parts[1].atoms()):
        return None
    return parts[0].constant


def same_shape(
    a: Sequence[Scalar | Batch], b: Sequence[Scalar | Batch], dims: Mapping[str, Scalar | None] | None = None
) -> bool:
    """Whether two shapes agree in rank, in where the batch stands, and in every size, as far as normal forms tell."""
    if len(a) != len(b):
        return False
    for x, y in zip(a, b, strict=True):
        if isinstance(x, Batch) or isinstance(y, Batch):
            if x != y:
                return False
        elif not same_number(x, y, dims):
            return False
    return True


UNIT = polynomial(ONE)
