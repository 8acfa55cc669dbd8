"""One spelling for calls of the same value, so that they are seen to be the same and computed once.

A formula says `exp(-s/(2*g**2))`, its derivative came out as `exp(-0.5*s/g**2)`: products with the same coefficient and
the same factors are written the way that stands first, and so are sums of such products. Where a value jumps, by a
comparison or `//`, that is more than a saving: rounded otherwise, a derivative would be taken on the other side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from opgen.diff.algebra import signed_terms, split_factors
from opgen.ir.functions import FUNCTIONS
from opgen.ir.program import Program, Statement, targets
from opgen.ir.rewrite import map_scalars
from opgen.ir.scalar import Apply, Lit, Scalar, reads, transform, transform_rounded

_Powers = frozenset[tuple[Scalar, int]]
_Term = tuple[int | Fraction, _Powers, _Powers]
_Key = tuple[str, Hashable]

# Signs that jump: a place where the last bit of an operand decides has to be the same in a formula and its derivative.
_PRODUCTS = ("mul", "div", "neg")
_JUMPS = frozenset(("floordiv", "mod", "lt", "le", "gt", "ge"))


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
    """What a sum, or a call of products and quotients, comes down to; None where something could be cancelled."""
    match e:
        case Apply("add" | "sub") if reads(e):
            terms = [_term(t, negative=negative) for t, negative in signed_terms(e)]
            return None if None in terms else ("add", frozenset(Counter(terms).items()))
        case Apply(fn, args) if _is_call(e) and any(isinstance(a, Apply) and a.fn in _PRODUCTS for a in args):
            terms = [_term(a, negative=False) for a in args]
            return None if None in terms else (fn, tuple(terms))
        case _:
            return None


def _is_call(e: Apply) -> bool:
    return e.fn in FUNCTIONS and (not FUNCTIONS[e.fn].infix or (e.fn in _JUMPS and bool(reads(e))))


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
