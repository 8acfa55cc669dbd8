"""One spelling for calls of the same value, so that they are seen to be the same and computed once.

A formula says `exp(-s/(2*g**2))`, its derivative came out as `exp(-0.5*s/g**2)`: products with the same coefficient and
the same factors are written the way that stands first, and so are sums of such products.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from opgen.diff.algebra import signed_terms, split_factors
from opgen.ir.functions import FUNCTIONS
from opgen.ir.program import Program, Statement, targets
from opgen.ir.rewrite import map_scalars
from opgen.ir.scalar import Apply, Lit, Scalar, reads, transform, transform_rounded

_Powers = frozenset[tuple[Scalar, int]]
_Term = tuple[int | Fraction, _Powers, _Powers]
_Key = tuple[str, frozenset[tuple[_Term, int]]]


def spell_alike(p: Program, first: Sequence[Statement] = ()) -> Program:
    """The program with calls of equal products written alike, as they are in `first`; those statements stay so."""
    known: dict[_Key, Scalar] = {}

    def spelled(e: Scalar) -> Scalar:
        key = _key(e)
        return e if key is None else known.setdefault(key, e)

    for s in first:
        map_scalars(s, lambda e: transform(e, spelled))
    own = {t for s in first for t in targets(s)}
    changed = (s if s.target in own else map_scalars(s, lambda e: transform_rounded(e, spelled)) for s in p.statements)
    return replace(p, statements=tuple(changed))


def _key(e: Scalar) -> _Key | None:
    """What a sum, or a call of a function with one argument that is a product or quotient, comes down to."""
    match e:
        case Apply("add" | "sub") if reads(e):
            fn, terms = "add", [_term(t, negative=negative) for t, negative in signed_terms(e)]
        case Apply(fn, (Apply("mul" | "div" | "neg") as product,)) if fn in FUNCTIONS and not FUNCTIONS[fn].infix:
            terms = [_term(product, negative=False)]
        case _:
            return None
    found = Counter(t for t in terms if t is not None)
    return (fn, frozenset(found.items())) if found.total() == len(terms) else None


def _term(e: Scalar, *, negative: bool) -> _Term | None:
    """A product by its coefficient and factors; None where one could be cancelled."""
    top: list[Scalar] = []
    bottom: list[Scalar] = []
    coefficient = split_factors(e, top, bottom)
    above, below = _powers(top), _powers(bottom)
    if above.keys() & below.keys():
        return None
    return -coefficient if negative else coefficient, _set(above), _set(below)


def _powers(factors: Iterable[Scalar]) -> Counter[Scalar]:
    """How often each factor stands in a product."""
    found: Counter[Scalar] = Counter()
    for f in factors:
        base, power = _power(f)
        found[base] += power
    return found


def _set(powers: Counter[Scalar]) -> _Powers:
    return frozenset(powers.items())


def _power(e: Scalar) -> tuple[Scalar, int]:
    match e:
        case Apply("pow", (base, Lit(int(n)))) if not isinstance(n, bool) and n > 0:
            return base, n
        case Apply("square", (base,)):
            return base, 2
        case _:
            return e, 1
