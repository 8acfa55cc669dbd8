"""Matching scalars against formulas with variables, up to the order of terms and factors.

A pattern is a table formula whose parameters are the variables. `exp(-x)` matches `exp(z)` with `x = -z`. A pattern
that is a sum (or a product) also matches some of the terms (or factors) of a longer one; the rest is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from opgen.diff.algebra import negated, product, quotient, split_factors, total
from opgen.ir.scalar import Apply, Lit, Param, Scalar, children, is_number, substitute, transform

Binding = dict[Scalar, Scalar]

_SUMS = ("add", "sub")
_PRODUCTS = ("mul", "div")
_PLAIN = (*_SUMS, *_PRODUCTS, "neg")
_ARITHMETIC = (*_PLAIN, "pow")
_MANY = 12  # operands of a sum or product that is still searched


@lru_cache(maxsize=1 << 16)
def functions_in(e: Scalar) -> frozenset[str]:
    """The functions a scalar calls, arithmetic aside."""
    return functions_at_root(e).union(*(functions_in(a) for a in children(e)))


@lru_cache(maxsize=1 << 16)
def functions_at_root(e: Scalar) -> frozenset[str]:
    """The functions a scalar is a sum, product or power of: those that a pattern has there, it must have too."""
    if not isinstance(e, Apply):
        return frozenset()
    inner = [functions_at_root(a) for a in e.args] if e.fn in _ARITHMETIC else []
    return frozenset(() if e.fn in _PLAIN else (e.fn,)).union(*inner)


def rewrite(pattern: Scalar, replacement: Scalar, e: Scalar) -> Scalar | None:
    """`e` with the pattern at its root replaced, or None."""
    match pattern:
        case Apply(fn) if fn in _SUMS:
            return _rewrite_sum(pattern, replacement, e)
        case Apply(fn) if fn in _PRODUCTS:
            return _rewrite_product(pattern, replacement, e)
        case _:
            found = next(unify(pattern, e, {}), None)
            return None if found is None else _filled(replacement, found)


def _filled(replacement: Scalar, found: Binding) -> Scalar:
    """What stands in place of a match; minus minus is plus."""
    return transform(substitute(replacement, found), _unsigned)


def _unsigned(e: Scalar) -> Scalar:
    match e:
        case Apply("neg", (Apply("neg", (inner,)),)):
            return inner
        case _:
            return e


def terms_of(e: Scalar) -> list[Scalar]:
    """The terms of a sum, signs included."""
    match e:
        case Apply("add", args):
            return [t for a in args for t in terms_of(a)]
        case Apply("sub", (a, b)):
            return [*terms_of(a), *(_negate(t) for t in terms_of(b))]
        case _:
            return [e]


def _negate(e: Scalar) -> Scalar:
    flipped = negated(e)
    return product(Lit(-1), e) if flipped is None else flipped


def _rewrite_sum(pattern: Scalar, replacement: Scalar, e: Scalar) -> Scalar | None:
    if not (isinstance(e, Apply) and e.fn in _SUMS):
        return None
    wanted, terms = terms_of(pattern), terms_of(e)
    if not len(wanted) <= len(terms) <= _MANY or _numbers(wanted) > _numbers(terms):
        return None
    for sign in (1, -1):
        mine = terms if sign > 0 else [_negate(t) for t in terms]
        for found, rest in _choose(wanted, mine, {}):
            made = _filled(replacement, found)
            result = [*rest, made]
            return total(result if sign > 0 else [_negate(t) for t in result])
    return None


def _numbers(terms: Sequence[Scalar]) -> int:
    return sum(isinstance(t, Lit) for t in terms)


def _rewrite_product(pattern: Scalar, replacement: Scalar, e: Scalar) -> Scalar | None:
    if not (isinstance(e, Apply) and e.fn in (*_PRODUCTS, "pow")):
        return None
    coefficient, top, bottom = factors_of(e)
    unit, wanted_top, wanted_bottom = factors_of(pattern)
    if len(top) + len(bottom) > _MANY or len(wanted_top) > len(top) or len(wanted_bottom) > len(bottom):
        return None
    for partial, rest_bottom in _choose(wanted_bottom, bottom, {}):
        for found, rest_top in _choose(wanted_top, top, partial):
            made = _filled(replacement, found)
            below = quotient(1, [], list(rest_bottom))
            return product(quotient(Fraction(coefficient) / unit, [], []), *rest_top, made, below)
    return None


@lru_cache(maxsize=1 << 16)
def factors_of(e: Scalar) -> tuple[int | Fraction, tuple[Scalar, ...], tuple[Scalar, ...]]:
    """The coefficient of a product, and its other factors above and below."""
    top: list[Scalar] = []
    bottom: list[Scalar] = []
    return split_factors(e, top, bottom), tuple(top), tuple(bottom)


def _choose(
    wanted: Sequence[Scalar], have: Sequence[Scalar], known: Binding
) -> Iterator[tuple[Binding, Sequence[Scalar]]]:
    """Ways to match every wanted operand with a different one of those at hand, and what is left."""
    if not wanted:
        yield known, have
        return
    for k, candidate in enumerate(have):
        for found in unify(wanted[0], candidate, known):
            yield from _choose(wanted[1:], [*have[:k], *have[k + 1 :]], found)


def unify(pattern: Scalar, e: Scalar, known: Binding) -> Iterator[Binding]:
    """The bindings of the variables under which the pattern is `e`."""
    match pattern:
        case Param():
            if pattern not in known:
                yield {**known, pattern: e}
            elif known[pattern] == e:
                yield known
        case Lit():
            if is_number(e) and isinstance(e, Lit) and e.value == pattern.value:
                yield known
        case Apply("neg", (inner,)):
            yield from unify(inner, _negate(e), known)
        case Apply(fn, args) if fn in _SUMS:
            yield from _unify_sum(pattern, e, known)
        case Apply(fn) if fn in _PRODUCTS:
            yield from _unify_product(pattern, e, known)
        case Apply(fn, args):
            if isinstance(e, Apply) and e.fn == fn and len(e.args) == len(args):
                yield from _unify_all(args, e.args, known)
        case _:
            if pattern == e:
                yield known


def _unify_all(patterns: Sequence[Scalar], args: Sequence[Scalar], known: Binding) -> Iterator[Binding]:
    if not patterns:
        yield known
        return
    for found in unify(patterns[0], args[0], known):
        yield from _unify_all(patterns[1:], args[1:], found)


def _unify_sum(pattern: Scalar, e: Scalar, known: Binding) -> Iterator[Binding]:
    wanted, terms = terms_of(pattern), terms_of(e)
    if len(terms) > _MANY:
        return
    spare = [t for t in wanted if isinstance(t, Param) and t not in known]
    if spare and len(terms) > len(wanted):
        # A bare variable takes what the other terms leave over.
        fixed = [t for t in wanted if t is not spare[-1]]
        for found, rest in _choose(fixed, terms, known):
            yield {**found, spare[-1]: total(rest)}
        return
    for found, rest in _choose(sorted(wanted, key=lambda t: isinstance(t, Param)), terms, known):
        if not rest:
            yield found


def _unify_product(pattern: Scalar, e: Scalar, known: Binding) -> Iterator[Binding]:
    coefficient, top, bottom = factors_of(e)
    unit, wanted_top, wanted_bottom = factors_of(pattern)
    if len(top) + len(bottom) > _MANY or coefficient != unit:
        return
    for partial, rest_bottom in _choose(wanted_bottom, bottom, known):
        if rest_bottom:
            continue
        for found, rest_top in _choose(wanted_top, top, partial):
            if not rest_top:
                yield found
