"""What values positions can have: interval bounds of integer polynomials, and accesses that cannot leave their tensor.

Everything is for all sizes at once: a fact counts only if it holds whatever the dims and params are. Inside a loop its
extent is at least one, which is where most proofs start. A proof that does not succeed proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from opgen.ir.polynomial import Polynomial, atom, number, polynomial
from opgen.ir.program import Axis, Compute, Loop, Program, Recurrence, Scatter, Shape, Statement
from opgen.ir.scalar import Apply, Batch, Dim, Index, Param, Position, Read, Scalar, reads, walk

_DEPTH = 24


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known inside some loops: how far indices run, atoms that are at least one, or zero, and integers."""

    extents: Mapping[str, Polynomial]
    positive: tuple[Scalar, ...]
    nonnegative: tuple[Scalar, ...] = ()
    dims: Mapping[str, Scalar | None] = field(default_factory=dict)
    integers: frozenset[str] = frozenset()  # params and tensors
    assumed: tuple[Polynomial, ...] = ()  # not negative where the conditions around hold
    shown: dict[Polynomial, bool] = field(default_factory=dict, init=False, repr=False, compare=False)  # asked before


def facts_of(
    loops: Iterable[Loop],
    dims: Mapping[str, Scalar | None] | None = None,
    nonnegative: Iterable[Scalar] = (),
    integers: frozenset[str] = frozenset(),
    positive: Iterable[Scalar] = (),
) -> Facts:
    """What holds at any point of the loops; `dims` are derived sizes, `nonnegative` atoms that are sizes elsewhere."""
    axes = [a for a in loops if isinstance(a, Axis)]
    extents = {a.name: polynomial(a.extent) for a in axes}
    ones = [m[0] for e in extents.values() if len(e.terms) == 1 for m, c in e.terms if len(m) == 1 and c > 0]
    return Facts(extents, tuple(dict.fromkeys((*positive, *ones))), tuple(nonnegative), dims or {}, integers)


def is_nonnegative(p: Polynomial, facts: Facts) -> bool:
    """Whether a polynomial is provably at least zero."""
    found = facts.shown.get(p)
    if found is None:
        found = facts.shown[p] = _proved(p, facts)
    return found


def _proved(p: Polynomial, facts: Facts) -> bool:
    if _nonnegative(p, facts, _DEPTH):
        return True
    expanded = polynomial(p.scalar(), facts.dims)
    return not expanded.same(p) and _nonnegative(expanded, facts, _DEPTH)


def _nonnegative(p: Polynomial, facts: Facts, depth: int) -> bool:
    if _surely(p, facts, depth):
        return True
    alone = replace(facts, assumed=()) if facts.assumed else facts
    return any(_surely(p - a, alone, depth) for a in facts.assumed)


def _surely(p: Polynomial, facts: Facts, depth: int) -> bool:
    low = _lower(p, facts, depth)
    if low is None:
        return False
    for a in low.atoms():
        if a in facts.positive:
            low = low.replaced(a, atom(a) + number(1))
    return all(c > 0 and all(_is_size(a, facts) for a in m) for m, c in low.terms)


def _is_size(a: Scalar, facts: Facts) -> bool:
    return isinstance(a, Dim) or a in facts.positive or a in facts.nonnegative


def _lower(p: Polynomial, facts: Facts, depth: int) -> Polynomial | None:
    """A lower bound without indices and quotients."""
    variable = next((a for a in p.atoms() if _is_variable(a, facts)), None)
    if variable is None:
        return p
    parts = p.split(variable)
    if parts is None or depth == 0:
        return None
    factor, rest = parts
    if _nonnegative(factor, facts, depth - 1):
        term = _least(variable, factor, facts, depth)
    elif _nonnegative(-factor, facts, depth - 1):
        term = _most(variable, factor, facts, depth)
    else:
        return None
    return None if term is None else _lower(rest + term, facts, depth - 1)


def _is_variable(a: Scalar, facts: Facts) -> bool:
    match a:
        case Index(name):
            return name in facts.extents
        case Apply("floordiv" | "mod" | "min" | "max" | "clamp"):
            return True
        case _:
            return False


def _least(a: Scalar, factor: Polynomial, facts: Facts, depth: int) -> Polynomial | None:
    """A lower bound of `factor*a` for a factor that is not negative."""
    match a:
        case Index():
            return number(0)
        case Apply("mod", (_, s)) if _positive(s, facts, depth):
            return number(0)
        case Apply("floordiv", (inner, s)) if _positive(s, facts, depth):
            if _nonnegative(polynomial(inner) - polynomial(s), facts, depth - 1):
                return factor
            return number(0) if _nonnegative(polynomial(inner), facts, depth - 1) else None
        case Apply("clamp", (_, low, high)):
            ordered = _nonnegative(polynomial(high) - polynomial(low), facts, depth - 1)
            return factor * polynomial(low) if ordered else None
        case Apply("max", args):
            known = [b for b in map(polynomial, args) if _nonnegative(b, facts, depth - 1)]
            return factor * known[0] if known else None
        case Apply("min", args) if all(_nonnegative(polynomial(b), facts, depth - 1) for b in args):
            return number(0)
        case _:
            return None


def _most(a: Scalar, factor: Polynomial, facts: Facts, depth: int) -> Polynomial | None:
    """A lower bound of `factor*a` for a factor that is not positive: the largest `a`."""
    match a:
        case Index(name):
            return factor * (facts.extents[name] - number(1))
        case Apply("mod", (_, s)) if _positive(s, facts, depth):
            return factor * (polynomial(s) - number(1))
        case Apply("floordiv", (inner, s)) if _positive(s, facts, depth):
            whole = factor.divided(polynomial(s))
            if whole is not None and not whole[1].terms:
                return whole[0] * polynomial(inner)
            beyond = polynomial(inner) - polynomial(s)
            if _nonnegative(beyond, facts, depth - 1):  # the quotient of that is one less, and at most that
                return factor * (beyond + number(1))
            return factor * polynomial(inner) if _nonnegative(polynomial(inner), facts, depth - 1) else None
        case Apply("clamp", (_, low, high)):
            ordered = _nonnegative(polynomial(high) - polynomial(low), facts, depth - 1)
            return factor * polynomial(high) if ordered else None
        case Apply("min", args):
            return factor * polynomial(args[-1])
        case _:
            return None


def _positive(s: Scalar, facts: Facts, depth: int) -> bool:
    return _nonnegative(polynomial(s) - number(1), facts, depth - 1)


def corner(p: Polynomial, facts: Facts, *, least: bool) -> Polynomial | None:
    """The least or largest value of a polynomial over all indices, which it takes at a corner of the loops."""
    for a in p.atoms():
        if not isinstance(a, Index):
            continue
        parts = p.split(a)
        if a.name not in facts.extents or parts is None:
            return None
        factor, rest = parts
        if is_nonnegative(factor, facts):
            at_end = not least
        elif is_nonnegative(-factor, facts):
            at_end = least
        else:
            return None
        return corner(rest + factor * (facts.extents[a.name] - number(1)) if at_end else rest, facts, least=least)
    opaque = any(isinstance(n, Index | Read) for a in p.atoms() for n in walk(a))
    return None if opaque else p


def inside(position: Scalar, extent: Scalar, facts: Facts, known: Sequence[Polynomial] = ()) -> bool:
    """Whether a position is provably in `[0, extent)`; `known` are further polynomials that are not negative."""
    p, size = polynomial(position), polynomial(extent)
    if isinstance(position, Index) and facts.extents.get(position.name) == size:
        return True
    return _shown(p, facts, known) and _shown(size - p - number(1), facts, known)


def _shown(p: Polynomial, facts: Facts, known: Sequence[Polynomial]) -> bool:
    """Whether a polynomial is at least zero, or at least one that is."""
    return is_nonnegative(p, facts) or any(p.same(k) or is_nonnegative(p - k, facts) for k in known)


def nonnegative_where(condition: Scalar) -> tuple[Polynomial, ...]:
    """Polynomials over integers that are not negative where a condition holds."""
    match condition:
        case Apply("and", args):
            return tuple(p for a in args for p in nonnegative_where(a))
        case Apply("not", (Apply("or", args),)):
            return tuple(p for a in args for p in nonnegative_where(Apply("not", (a,))))
        case Apply("not", (Apply(fn, (a, b)),)) if fn in _OPPOSITE:
            return nonnegative_where(Apply(_OPPOSITE[fn], (a, b)))
        case Apply("gt" | "ge" as fn, (a, b)):
            return (polynomial(a) - polynomial(b) - number(fn == "gt"),)
        case Apply("lt" | "le" as fn, (a, b)):
            return (polynomial(b) - polynomial(a) - number(fn == "lt"),)
        case Apply("eq", (a, b)):
            difference = polynomial(a) - polynomial(b)
            return (difference, -difference)
        case _:
            return ()


_OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "ne": "eq"}


def sizes_of(p: Program) -> tuple[Scalar, ...]:
    """The params that are surely not negative: extents of loops (a negative one is an error), or by their domain."""
    if not p.params:
        return ()
    found: dict[Scalar, None] = dict.fromkeys(Param(a.name) for a in p.params if a.positive)
    for s in p.statements:
        for loops in loops_in(s):
            found.update((a.extent, None) for a in loops if isinstance(a, Axis) and isinstance(a.extent, Param))
    return tuple(found)


def positive_params(p: Program) -> tuple[Scalar, ...]:
    """The params that are at least one by their domain."""
    return tuple(Param(a.name) for a in p.params if a.positive)


def divisors(p: Program, found: Iterable[Scalar]) -> tuple[Scalar, ...]:
    """What whole numbers in some expressions are divided by and may be 0, for all that sizes and domains tell."""
    facts = facts_of((), derived_sizes(p), positive=positive_params(p))
    every = (n.args[1] for e in found for n in walk(e) if isinstance(n, Apply) and n.fn in ("floordiv", "mod"))
    return tuple(e for e in dict.fromkeys(every) if not is_nonnegative(polynomial(e) - number(1), facts))


def loops_in(s: Statement) -> tuple[tuple[Loop, ...], ...]:
    """The loop nests of a statement."""
    if isinstance(s, Recurrence):
        return tuple(step.loops for step in s.steps)
    return (s.axes, s.loops)


def derived_sizes(p: Program) -> dict[str, Scalar | None]:
    return {d.name: d.value for d in p.dims}


def in_range(p: Program, s: Compute | Scatter, r: Read) -> bool:
    """Whether an access of a statement provably stays in its tensor, so that it needs no check."""
    loops = s.axes if isinstance(s, Scatter) and r in reads(s.base) else s.loops
    facts = facts_of(loops, derived_sizes(p), sizes_of(p), positive=positive_params(p))
    return within(r.at, p.shape_of(r.tensor), facts)


def within(at: Sequence[Position], shape: Shape, facts: Facts, known: Sequence[Polynomial] = ()) -> bool:
    """Whether all positions are provably in range; `known` are further polynomials that are not negative."""
    pairs = zip(at, shape, strict=True)
    return all(isinstance(q, Batch) or isinstance(n, Batch) or inside(q, n, facts, known) for q, n in pairs)
