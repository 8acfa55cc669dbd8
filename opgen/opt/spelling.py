"""One spelling for calls of the same value, so that they are seen to be the same and computed once.

A formula says `exp(-s/(2*g**2))`, its derivative came out as `exp(-0.5*s/g**2)`: products with the same coefficient and
the same factors are written the way that stands first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace
from fractions import Fraction

from opgen.diff.algebra import split_factors
from opgen.ir.functions import FUNCTIONS
from opgen.ir.program import Program
from opgen.ir.rewrite import map_scalars
from opgen.ir.scalar import Apply, Lit, Scalar, transform, transform_rounded

_Powers = frozenset[tuple[Scalar, int]]
_Key = tuple[str, int | Fraction, _Powers, _Powers]


def spell_alike(p: Program, keep: Collection[str] = ()) -> Program:
    """The program with calls of equal products written alike; statements in `keep` stay as they were written."""
    known: dict[_Key, Scalar] = {}

    def spelled(e: Scalar) -> Scalar:
        key = _key(e)
        return e if key is None else known.setdefault(key, e)

    own = [s for s in p.statements if s.target in keep]
    for s in own:
        map_scalars(s, lambda e: transform(e, spelled))
    changed = (s if s in own else map_scalars(s, lambda e: transform_rounded(e, spelled)) for s in p.statements)
    return replace(p, statements=tuple(changed))


def _key(e: Scalar) -> _Key | None:
    """What a call of a function with one argument, which is a product or quotient, comes down to."""
    match e:
        case Apply(fn, (Apply("mul" | "div" | "neg") as product,)) if fn in FUNCTIONS and not FUNCTIONS[fn].infix:
            top: list[Scalar] = []
            bottom: list[Scalar] = []
            coefficient = split_factors(product, top, bottom)
            above, below = _powers(top), _powers(bottom)
            return None if above.keys() & below.keys() else (fn, coefficient, _set(above), _set(below))
        case _:
            return None


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
