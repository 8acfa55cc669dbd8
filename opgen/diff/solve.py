"""Which points of some loops an access reaches a given element from: guarded elimination, exact for integers.

An access sends the loops to positions, and `m = position` for every axis is a system of equations. Indices are solved
for one after the other (`v = numerator // a`, where `numerator % a == 0` and `0 <= v < extent`), the largest first, so
that small ones stay as loops. Quotients and remainders of indices become unknowns of their own. Equations left without
unknowns are conditions. What is solved is unique, so summing over the loops that are left, under the conditions, meets
every point once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from opgen.diff.conditions import conjuncts, decided, is_integer
from opgen.diff.sizes import Sizes, estimate
from opgen.ir.names import Names
from opgen.ir.polynomial import Polynomial, atom, number, polynomial
from opgen.ir.program import Axis, Loop
from opgen.ir.ranges import Facts, corner, facts_of, is_nonnegative
from opgen.ir.scalar import (
    ZERO,
    Apply,
    Batch,
    Dim,
    Index,
    Lit,
    Param,
    Read,
    Scalar,
    both,
    call,
    children,
    rebuild,
    transform,
    walk,
)

_UNBOUNDED = 1 << 60
_FEW = 16  # values of an index that are tried one by one


@dataclass(frozen=True, slots=True)
class Solution:
    """Indices as scalars over the known ones and the `free` loops; valid where `guard` holds.

    `exact` lists quotients that leave no remainder under the guard, with what they divide.
    """

    values: dict[Scalar, Scalar]
    free: tuple[Loop, ...]
    guard: Scalar
    exact: tuple[tuple[Scalar, Polynomial, Polynomial], ...] = ()

    def put(self, e: Scalar) -> Scalar:
        """A scalar over the solved indices as one over the others, quotients multiplied out where they are exact."""
        return transform(substituted(e, self.values), self._multiplied)

    def _multiplied(self, e: Scalar) -> Scalar:
        if not isinstance(e, Read) or not self.exact:
            return e
        return replace(e, at=tuple(p if isinstance(p, Batch) else self._product(p) for p in e.at))

    def _product(self, position: Scalar) -> Scalar:
        p = polynomial(position)
        for quotient, numerator, divisor in self.exact:
            parts = p.split(quotient)
            whole = parts[0].divided(divisor) if parts is not None and parts[0].terms else None
            if parts is not None and whole is not None and not whole[1].terms:
                p = whole[0] * numerator + parts[1]
                position = p.scalar()
        return position


@dataclass(frozen=True, slots=True)
class _Unknown:
    """Something to solve for. `extent` None: no bound is known; `checked`: its range is a condition once solved."""

    leaf: Index
    extent: Scalar | None
    checked: bool = True
    weight: int = _UNBOUNDED


@dataclass(frozen=True, slots=True)
class _Solved:
    unknown: _Unknown
    numerator: Polynomial
    divisor: Polynomial


class _System:
    """The equations, each a polynomial that is zero, and what has been solved."""

    def __init__(self, loops: Sequence[Axis], around: Facts, active: Scalar, sizes: Sizes, names: Names) -> None:
        self.sizes = sizes
        self.names = names
        self.around = around
        self.active = tuple(conjuncts(active))
        self.taken_apart = True  # whether quotients become unknowns
        self.unknowns = [
            _Unknown(Index(a.name), a.extent, weight=max(estimate(a.extent, sizes.dims), 1)) for a in loops
        ]
        self.equations: list[Polynomial] = []
        self.solved: list[_Solved] = []
        self.conditions: list[Scalar] = []
        self.quotients: dict[tuple[Scalar, Scalar], tuple[Polynomial, Polynomial]] = {}

    # --- quotients and remainders --------------------------------------------------------------------------------

    def enter(self, p: Polynomial) -> Polynomial:
        """The polynomial with unknowns in place of quotients of unknowns."""
        for a in p.atoms():
            if isinstance(a, Apply) and a.fn in ("floordiv", "mod") and self.holds_unknown(a):
                found = self.quotient(a.args[0], a.args[1])
                if found is not None:
                    p = p.replaced(a, found[0] if a.fn == "floordiv" else found[1])
        return p

    def quotient(self, dividend: Scalar, divisor: Scalar) -> tuple[Polynomial, Polynomial] | None:
        """Unknown quotient and remainder; an equation ties them to the dividend."""
        key = (dividend, divisor)
        if key in self.quotients:
            return self.quotients[key]
        if self.holds_unknown(divisor) or not self.taken_apart:
            return None
        s, a = polynomial(divisor), polynomial(dividend)
        exact = Apply("eq", (Apply("mod", key), ZERO)) in self.active and self.is_nonzero(s)
        if not exact and not is_nonnegative(s - number(1), self.around):
            return None
        low, high = corner(a, self.around, least=True), corner(a, self.around, least=False)
        extent = None
        if low is not None and not low.terms and high is not None:
            extent = (polynomial(Apply("floordiv", (high.scalar(), divisor))) + number(1)).scalar()
        weight = _UNBOUNDED if extent is None else max(estimate(extent, self.sizes.dims), 1)
        q = self.unknown("q", extent, checked=False, weight=weight)
        r = number(0)
        if not exact:
            r = self.unknown("r", divisor, checked=True, weight=max(estimate(divisor, self.sizes.dims), 1))
        self.quotients[key] = (q, r)
        self.equations.append(self.enter(a) - s * q - r)
        return q, r

    def unknown(self, name: str, extent: Scalar | None, *, checked: bool, weight: int) -> Polynomial:
        leaf = Index(self.names.fresh(name))
        self.unknowns.append(_Unknown(leaf, extent, checked, weight))
        return atom(leaf)

    def holds_unknown(self, e: Scalar) -> bool:
        leaves = [u.leaf for u in self.unknowns]
        return any(isinstance(n, Index) and n in leaves for n in walk(e))

    def is_nonzero(self, s: Polynomial) -> bool:
        if s.constant is not None:
            return s.constant != 0
        stated = s.scalar() in self.sizes.nonzero
        return stated or is_nonnegative(s - number(1), self.around)

    # --- elimination ---------------------------------------------------------------------------------------------

    def eliminate(self) -> None:
        while True:
            found = self.mixed_radix() or self.pivot()
            if not found:
                return

    def in_unknown(self, equation: Polynomial, u: _Unknown) -> tuple[Polynomial, Polynomial] | None:
        """`(a, rest)` with `equation = a*u + rest`, `a` known and `u` nowhere else."""
        parts = equation.split(u.leaf)
        if parts is None or not parts[0].terms:
            return None
        a, rest = parts
        if any(self.holds_unknown(x) for x in a.atoms()):
            return None
        if any(x != u.leaf and u.leaf in walk(x) for x in rest.atoms()):
            return None
        return a, rest

    def mixed_radix(self) -> bool:
        """`v + E*(…) = k` with `v < E`: `v` is the remainder of `k`, and its quotient solves the rest."""
        for position, equation in enumerate(self.equations):
            for u in self.unknowns:
                if u.extent is None or not u.checked:
                    continue
                parts = self.in_unknown(equation, u)
                if parts is None or parts[0].constant not in (1, -1):
                    continue
                sign = parts[0].constant
                assert sign is not None
                rest = parts[1].times(-sign)  # u = rest
                known, unknown = self.parted(rest)
                digits = unknown.divided(polynomial(u.extent))
                if not unknown.terms or digits is None or digits[1].terms or polynomial(u.extent).constant == 1:
                    continue
                if not is_nonnegative(polynomial(u.extent) - number(1), self.around):
                    self.conditions.append(call("gt", u.extent, ZERO))
                base = known.scalar()
                self.unknowns.remove(u)
                digit = polynomial(Apply("mod", (base, u.extent)))
                self.solved.append(_Solved(_Unknown(u.leaf, None, checked=False), digit, number(1)))
                self.equations[position] = digits[0] + polynomial(Apply("floordiv", (base, u.extent)))
                self.put(u, digit, number(1))
                return True
        return False

    def parted(self, p: Polynomial) -> tuple[Polynomial, Polynomial]:
        """The terms without and with unknowns."""
        with_, without = number(0), number(0)
        for m, c in p.terms:
            term = Polynomial(((m, c),))
            if any(self.holds_unknown(a) for a in m):
                with_ = with_ + term
            else:
                without = without + term
        return without, with_

    def pivot(self) -> bool:
        choices: list[tuple[tuple[int, bool, int, int], int, _Unknown, Polynomial, Polynomial]] = []
        for k, equation in enumerate(self.equations):
            for n, u in enumerate(self.unknowns):
                parts = self.in_unknown(equation, u)
                if parts is None or not self.is_nonzero(parts[0]):
                    continue
                unit = parts[0].constant in (1, -1)
                choices.append(((-u.weight, not unit, k, n), k, u, *parts))
        if not choices:
            return False
        _, k, u, a, rest = min(choices, key=lambda c: c[0])
        del self.equations[k]
        self.unknowns.remove(u)
        if a.constant is not None and a.constant < 0:
            a, rest = -a, -rest
        self.solved.append(_Solved(u, -rest, a))
        self.put(u, -rest, a)
        return True

    def put(self, u: _Unknown, numerator: Polynomial, divisor: Polynomial) -> None:
        """Replace a solved unknown in the other equations."""
        value = quotient_of(numerator, divisor)
        for k, equation in enumerate(self.equations):
            found = equation
            parts = equation.split(u.leaf)
            if parts is not None and parts[0].terms:
                found = divisor * parts[1] + parts[0] * numerator
            if parts is None or any(u.leaf in walk(a) for a in found.atoms()):
                found = polynomial(substituted(found.scalar(), {u.leaf: value}))
            self.equations[k] = found

    # --- what is found -------------------------------------------------------------------------------------------

    def solution(self, loops: Sequence[Loop], known: Sequence[Loop], active: Scalar) -> Solution | None:
        if any(u.extent is None or _varies(u.extent) for u in self.unknowns):
            return None
        own = {u.leaf.name for u in self.unknowns}
        free: list[Loop] = [a for a in loops if not isinstance(a, Axis) or a.name in own]
        given = {a.name for a in loops if isinstance(a, Axis)}
        free += [Axis(u.leaf.name, u.extent) for u in self.unknowns if u.leaf.name not in given and u.extent]
        facts = self.sizes.facts((*known, *free))
        values: dict[Scalar, Scalar] = {}
        guards = [decided(c, facts) for c in self.conditions]
        exact: list[tuple[Scalar, Polynomial, Polynomial]] = []
        for s in reversed(self.solved):
            numerator = polynomial(substituted(s.numerator.scalar(), values))
            if s.divisor.constant != 1:
                rest = polynomial(Apply("mod", (numerator.scalar(), s.divisor.scalar())))
                guards.append(decided(call("eq", rest.scalar(), ZERO), facts))
                exact.append((Apply("floordiv", (numerator.scalar(), s.divisor.scalar())), numerator, s.divisor))
            value = polynomial(quotient_of(numerator, s.divisor)).scalar()
            values[s.unknown.leaf] = value
            if s.unknown.checked and s.unknown.extent is not None:
                guards.append(in_range(value, s.unknown.extent, facts))
        equalities = [_equality(polynomial(substituted(e.scalar(), values))) for e in self.equations]
        looked = decided(substituted(active, values), facts) if any(_looks(e) for e in equalities) else Lit(True)
        guard = _in_order(guards, tuple(conjuncts(looked)), [decided(e, facts) for e in equalities])
        return Solution(values, tuple(free), guard, tuple(exact))


def _in_order(ranges: Sequence[Scalar], active: Sequence[Scalar], equalities: Sequence[Scalar]) -> Scalar:
    """All of them, a tensor being read only where what says that its positions are in range has been looked at before.

    Those with less nested accesses come first, but the conditions of `active` stay in order, and an equality is one of
    positions that are evaluated where those hold.
    """
    keyed = [(_nesting(c), c) for c in ranges]
    deepest = 0
    for c in active:
        deepest = max(deepest, _nesting(c))
        keyed.append((deepest, c))
    keyed += [(max(_nesting(c), deepest) if _looks(c) else 0, c) for c in equalities]
    guard: Scalar = Lit(True)
    for _, c in sorted(keyed, key=lambda k: k[0]):
        guard = both(guard, c)
    return guard


def _nesting(e: Scalar) -> int:
    """How deep accesses stand inside one another."""
    return max((_nesting(c) for c in children(e)), default=0) + isinstance(e, Read)


def _varies(extent: Scalar) -> bool:
    """Whether an extent, as that of the remainder of `i % n[k]`, differs between points: no loop has such a one."""
    return any(isinstance(n, Index | Read) for n in walk(extent))


def _looks(e: Scalar) -> bool:
    return any(isinstance(n, Read) for n in walk(e))


def in_range(value: Scalar, extent: Scalar, facts: Facts) -> Scalar:
    """The condition `0 <= value < extent`, without what always holds."""
    return both(decided(call("ge", value, ZERO), facts), decided(call("lt", value, extent), facts))


def quotient_of(numerator: Polynomial, divisor: Polynomial) -> Scalar:
    if divisor.constant == 1:
        return numerator.scalar()
    return polynomial(Apply("floordiv", (numerator.scalar(), divisor.scalar()))).scalar()


def _equality(p: Polynomial) -> Scalar:
    """`p == 0` with no minus signs."""
    if p.constant is not None:
        return Lit(p.constant == 0)
    left = Polynomial(tuple((m, c) for m, c in p.terms if c > 0))
    right = Polynomial(tuple((m, -c) for m, c in p.terms if c < 0))
    return call("eq", left.scalar(), right.scalar())


def substituted(e: Scalar, values: Mapping[Scalar, Scalar]) -> Scalar:
    """Replace indices everywhere, all at once."""
    hit = values.get(e)
    return hit if hit is not None else rebuild(e, lambda a: substituted(a, values))


def solve(
    equations: Sequence[tuple[Scalar, Scalar]],
    loops: Sequence[Loop],
    known: Sequence[Loop],
    active: Scalar,
    sizes: Sizes,
    *,
    quotients: bool = True,
) -> Solution | None:
    """The points of `loops` at which every pair of scalars is equal, given the `known` indices.

    Outside of `active` nothing counts, so that equalities in it are equations as well. None: a range is unknown or
    varies, which does not happen where `quotients` are left as they are.
    """
    axes = [a for a in loops if isinstance(a, Axis)]
    names = Names([a.name for a in (*axes, *known) if isinstance(a, Axis)], first=1)
    system = _System(axes, sizes.facts((*known, *axes)), active, sizes, names)
    system.taken_apart = quotients
    for left, right in (*equations, *_given(active, axes, sizes)):
        equation = system.enter(polynomial(left) - polynomial(right))
        system.equations.append(equation)
    system.eliminate()
    return system.solution(loops, known, active)


def _given(active: Scalar, axes: Sequence[Axis], sizes: Sizes) -> Iterable[tuple[Scalar, Scalar]]:
    """Equations for the loops that hold wherever the access is evaluated."""
    parts = [c for c in conjuncts(active) if not any(isinstance(n, Read) for n in walk(c))]
    leaves = {Index(a.name) for a in axes}
    for c in parts:
        match c:
            case Apply("eq", (a, b)) if _is_linear(polynomial(a) - polynomial(b), leaves, sizes):
                yield a, b
    for axis in axes:
        only = _only_value(axis, parts)
        if only is not None:
            yield Index(axis.name), Lit(only)


def _is_linear(p: Polynomial, leaves: set[Index], sizes: Sizes) -> bool:
    """Whether an equality is one of integers that some loop stands in with factor one."""
    whole = all(is_integer(a, sizes.integers) for a in p.atoms())
    return whole and any(m[0] in leaves and c in (1, -1) for m, c in p.terms if len(m) == 1)


def _only_value(axis: Axis, parts: Sequence[Scalar]) -> int | None:
    """The one value of a short loop at which the conditions on it alone hold."""
    extent = axis.extent
    if not isinstance(extent, Lit) or not isinstance(extent.value, int) or extent.value > _FEW:
        return None
    own = [c for c in parts if {n for n in walk(c) if isinstance(n, Index)} == {Index(axis.name)}]
    own = [c for c in own if not any(isinstance(n, Dim | Param) for n in walk(c))]
    if not own:
        return None
    none = facts_of(())
    at = {v: [decided(substituted(c, {Index(axis.name): Lit(v)}), none) for c in own] for v in range(extent.value)}
    left = [v for v, found in at.items() if not any(c == Lit(False) for c in found)]
    return left[0] if len(left) == 1 and all(c == Lit(True) for c in at[left[0]]) else None
