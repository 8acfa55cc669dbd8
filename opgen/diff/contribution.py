"""From the cotangent of a body to the cotangent of a tensor it reads: the transpose of an access.

Four forms, in order of preference. An access by distinct plain indices is a renaming: the cotangent has those axes and
every other loop is summed. An access whose loops all stand alone at some position, with other positions that are
gathered or fixed, becomes a selection (`where(c == t[n], …, 0)`), which needs no atomics. Positions that can be solved
for the loops are gathered (`opgen.diff.gather`). Everything else scatters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, reduce

from opgen.diff.algebra import assume, product
from opgen.diff.conditions import conjuncts
from opgen.diff.gather import gathered
from opgen.diff.sizes import Sizes
from opgen.ir.arithmetic import either, negation_of
from opgen.ir.names import Names
from opgen.ir.polynomial import number, polynomial
from opgen.ir.program import Axis, Compute, Loop, Scatter, Shape
from opgen.ir.ranges import Facts, is_nonnegative, within
from opgen.ir.scalar import (
    BATCH,
    ONE,
    TRUE,
    ZERO,
    Apply,
    Batch,
    Dim,
    Index,
    Lit,
    Position,
    Read,
    Scalar,
    both,
    call,
    children,
    substitute,
    walk,
    where,
)

NO_SIZES = Sizes()


@lru_cache(maxsize=256)
def _chooses(body: Scalar) -> bool:
    """Whether some part of a body is evaluated under a condition only; asked once for each of its accesses."""
    return any(isinstance(n, Apply) and n.fn == "where" for n in walk(body))


@dataclass(frozen=True, slots=True)
class Selection:
    """A cotangent that is zero except where `axis` is at `position`; there it is `value`."""

    axis: Axis
    position: Scalar
    value: Scalar


@dataclass(frozen=True, slots=True)
class Contribution:
    """A statement that carries a share of a tensor's cotangent, and what is known about its form."""

    statement: Compute | Scatter
    selection: Selection | None = None


def transpose(
    target: str,
    access: Read,
    shapes: Mapping[str, Shape],
    loops: tuple[Loop, ...],
    value: Scalar,
    body: Scalar,
    sizes: Sizes = NO_SIZES,
    *,
    forced: bool = False,
) -> Contribution:
    """The statement that carries `value`, given over `loops`, to the axes of the tensor that `body` accesses.

    `shapes` are those of all tensors that the body reads. `forced`: never a scatter (which a step of a recurrence
    cannot be).
    """
    shape = shapes[access.tensor]
    by_name = {a.name: a for a in loops if isinstance(a, Axis)}
    plain: list[Loop | None] = []
    for position, size in zip(access.at, shape, strict=True):
        axis = _plain_axis(position, size, by_name)
        plain.append(None if axis in plain else axis)
    covered = tuple(a for a in plain if a is not None)
    rest = tuple(a for a in loops if a not in covered)
    whole = len(covered) == len(shape)
    names = Names([*by_name], first=1)
    axes = tuple(a or Axis(names.fresh(_letter(s)), _scalar(s)) for a, s in zip(plain, shape, strict=True))
    if whole and not rest:
        return Contribution(Compute(target, covered, value))
    active = activity(body, access) if _chooses(body) else TRUE
    if not rest and not forced:
        asked = TRUE if active == TRUE else _asked(access.at, active, shapes, sizes.facts(loops))
        return _selected(target, access, plain, axes, value, asked)
    if not whole or active != TRUE:
        made = gathered(target, access, axes, loops, value, active, sizes, forced=forced or whole)
        if made is not None:
            return Contribution(made)
    if whole:
        return Contribution(Compute(target, covered, value, "sum", rest))
    return Contribution(_scatter(target, access, axes, loops, value, active))


def _plain_axis(position: Position, size: Scalar | Batch, by_name: dict[str, Axis]) -> Loop | None:
    if isinstance(position, Batch):
        return BATCH
    if isinstance(position, Index) and by_name[position.name].extent == size:
        return by_name[position.name]
    return None


def _scalar(size: Scalar | Batch) -> Scalar:
    assert not isinstance(size, Batch)
    return size


def _letter(size: Scalar | Batch) -> str:
    return size.name.lower() if isinstance(size, Dim) else "i"


def _asked(at: tuple[Position, ...], active: Scalar, shapes: Mapping[str, Shape], facts: Facts) -> Scalar:
    """What of `active`, under which an access is evaluated, tells where its positions can be computed at all.

    A part that is the same at all points asks only for what is.
    """
    parts = (part for p in at if not isinstance(p, Batch) for part in walk(p))
    unsure = [e for part in parts for e in _unsure(part, shapes, facts)]
    if not unsure:
        return TRUE
    if any(map(_moves, unsure)):
        return active
    whole: Scalar = TRUE
    return reduce(both, (c for c in conjuncts(active) if not _moves(c)), whole)


def _unsure(part: Scalar, shapes: Mapping[str, Shape], facts: Facts) -> Iterator[Scalar]:
    """Positions of an access that may be out of range, and divisors that may be zero."""
    match part:
        case Read(tensor, at, None):
            pairs = zip(at, shapes[tensor], strict=True)
            yield from (p for p, size in pairs if isinstance(p, Scalar) and not within((p,), (size,), facts))
        case Apply("floordiv" | "mod", (_, divisor)):
            if not is_nonnegative(polynomial(divisor) - number(1), facts):
                yield divisor


def _moves(e: Scalar) -> bool:
    """Whether a value is made of indices or of what tensors hold."""
    return any(isinstance(x, Index | Read) for x in walk(e))


def _selected(
    target: str, access: Read, plain: list[Loop | None], axes: tuple[Loop, ...], value: Scalar, active: Scalar
) -> Contribution:
    """A choice of one place; where `active` does not hold, positions cannot be computed."""
    chosen = [
        (axis, position)
        for position, known, axis in zip(access.at, plain, axes, strict=True)
        if known is None and isinstance(axis, Axis) and not isinstance(position, Batch)
    ]
    condition = active
    for c in conjuncts(active):
        value = assume(value, c, holds=True)
    for axis, position in chosen:
        condition = both(condition, call("eq", Index(axis.name), position))
    only = Selection(*chosen[0], product(where(active, ONE, ZERO), value)) if len(chosen) == 1 else None
    return Contribution(Compute(target, axes, product(where(condition, ONE, ZERO), value)), only)


def _scatter(
    target: str, access: Read, axes: tuple[Loop, ...], loops: tuple[Loop, ...], value: Scalar, active: Scalar
) -> Scatter:
    """Positions are only meaningful where the access is evaluated; elsewhere a zero goes to position 0."""
    whole = [BATCH, *(Index(a.name) for a in loops if isinstance(a, Axis) and a in axes)]
    at = tuple(p if p in whole or isinstance(p, Batch) else where(active, p, ZERO) for p in access.at)
    value = product(where(active, ONE, ZERO), value)
    padded = access.fill is not None or active != TRUE
    return Scatter(target, axes, loops, at, value, padded=padded)


def activity(e: Scalar, access: Read) -> Scalar:
    """The condition under which evaluating `e` evaluates the access."""
    match e:
        case Read() if e == access:
            return Lit(True)
        case Apply("where", (condition, a, b)):
            chosen = both(condition, activity(a, access))
            other = both(negation_of(condition), activity(b, access))
            return either_of(activity(condition, access), either_of(chosen, other))
        case Apply("and" | "or", (first, *rest)):
            found, reached = activity(first, access), first
            for c in rest:  # evaluated only where those before it leave the result open
                left = reached if e.fn == "and" else negation_of(reached)
                found = either_of(found, both(left, activity(c, access)))
                reached = both(reached, c) if e.fn == "and" else either(reached, c)
            return found
        case _:
            found = Lit(False)
            for c in children(e):
                found = either_of(found, activity(c, access))
            return found


def either_of(a: Scalar, b: Scalar) -> Scalar:
    """Either of two conditions; one that holds wherever the other does stands alone, as does what both hold with."""
    of_a, of_b = tuple(conjuncts(a)), tuple(conjuncts(b))
    only_a, only_b = [c for c in of_a if c not in of_b], [c for c in of_b if c not in of_a]
    if not only_a or not only_b:
        return a if not only_a else b
    if len(only_a) == len(only_b) == 1 and only_a[0] == negation_of(only_b[0]):
        everywhere: Scalar = TRUE
        return reduce(both, (c for c in of_a if c in of_b), everywhere)
    return either(a, b)


def renamed_contribution(c: Contribution, axes: tuple[Loop, ...]) -> Contribution:
    """A map or reduction with other names for its axes."""
    if not isinstance(c.statement, Compute):
        return c
    chosen = c.selection
    if chosen is not None:
        mapping = {
            a.name: b.name
            for a, b in zip(c.statement.axes, axes, strict=True)
            if isinstance(a, Axis) and isinstance(b, Axis)
        }
        axis = Axis(mapping[chosen.axis.name], chosen.axis.extent)
        chosen = Selection(axis, rename(chosen.position, mapping), rename(chosen.value, mapping))
    return Contribution(renamed(c.statement, axes), chosen)


def renamed(s: Compute, axes: tuple[Loop, ...]) -> Compute:
    """A statement with other names for its axes; its own reduction indices step aside where they would be captured."""
    taken = Names((a.name for a in axes if isinstance(a, Axis)), first=1)
    mapping = {a.name: b.name for a, b in zip(s.axes, axes, strict=True) if isinstance(a, Axis) and isinstance(b, Axis)}
    over: list[Loop] = []
    for a in s.over:
        if isinstance(a, Batch):
            over.append(a)
        elif a in s.axes:
            over.append(axes[s.axes.index(a)])
        else:
            mapping[a.name] = taken.fresh(a.name)
            over.append(Axis(mapping[a.name], a.extent))
    return replace(s, axes=axes, body=rename(s.body, mapping), over=tuple(over))


def rename(e: Scalar, mapping: dict[str, str]) -> Scalar:
    """Replace index names, all at once."""
    return substitute(e, {Index(a): Index(b) for a, b in mapping.items() if a != b})
