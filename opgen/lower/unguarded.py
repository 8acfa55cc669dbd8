"""Reads under a condition that does not concern the end at which they leave their tensor: `where(i >= 1, u[i + 1], 0)`.

In goes a position with the conditions around it. It is a mistake where the last point of the ranges, or the first one,
takes the branch and leaves the tensor for all sizes from 2 on: of size 1, there may be no such point. Out comes, too,
the statement whose condition says the other end as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from opgen.ir.polynomial import Polynomial, atom, number, polynomial
from opgen.ir.ranges import Facts, is_nonnegative
from opgen.ir.scalar import Apply, Dim, Index, Lit, Scalar, walk
from opgen.lang.nodes import Call, Logic
from opgen.lang.unparse import respelled, unparse, unparse_target
from opgen.lang.walk import nodes, statement_at
from opgen.lower.earlier import less, shift
from opgen.lower.scope import Check, Frame, IndexInfo

_MOST = 4  # indices whose ends are tried together
_Point = Mapping[str, Polynomial]


def unguarded(f: Frame, c: Check, facts: Facts) -> bool:
    """Whether a position that is read under conditions certainly leaves its tensor where they hold."""
    infos = dict((*c.indices, *c.reach))
    position, last = polynomial(c.position), polynomial(c.extent) - number(1)
    if c.always or not c.indices or len(infos) > _MOST or not _is_plain(c.position):
        return False
    for point in _corners(infos):
        at = _at(position, point)
        outside = is_nonnegative(number(-1) - at, facts) or is_nonnegative(at - last - number(1), facts)
        if outside and all(_holds(p, point, facts) for p in c.path):
            return all(_nonnegative(x, facts) for x in point.values())
    return False


def asked_further(f: Frame, c: Check) -> tuple[str, ...]:
    """The statement whose condition around a read also says that it is inside; none where it stands under no other."""
    s, by = statement_at(f.decl.forward, c.span), shift(c)
    if s is None or not by or s.op != "=" or c.always:
        return ()
    calls = [n for n in nodes(s.value) if isinstance(n, Call) and n.name == "where" and len(n.args) == 3]
    around = [n for n in calls if n.args[1].span.start <= c.span.start and c.span.end <= n.args[1].span.end]
    if not around:
        return ()
    index, condition = c.indices[0][1].name, around[-1].args[0]
    inside = f"{index} < {unparse(less(c, by))}" if by > 0 else f"{index} >= {-by}"
    own = respelled(condition)
    both = f"({own}) and {inside}" if isinstance(condition, Logic) and condition.op == "or" else f"{own} and {inside}"
    guard = "" if s.guard is None else f" if {respelled(s.guard)}"
    line = f"{unparse_target(s.target)} = {respelled(s.value, (condition, both))}{guard}"
    return (f"let the condition around it say so: `{line}`",)


def _corners(infos: Mapping[str, IndexInfo]) -> Iterator[_Point]:
    """The points at which each index is the first one or the last one."""
    ends = [
        (number(0), polynomial(i.extent) - number(1)) if i.extent is not None else (number(0),) for i in infos.values()
    ]
    for chosen in product(*ends):
        yield dict(zip(infos, chosen, strict=True))


def _at(p: Polynomial, point: _Point) -> Polynomial:
    for name, value in point.items():
        p = p.replaced(Index(name), value)
    return p


def _is_plain(e: Scalar) -> bool:
    """Whether an integer is made of indices and sizes alone, by sums and products."""
    return all(isinstance(n, Index | Dim) or _is_sum(n) or (isinstance(n, Lit) and _whole(n)) for n in walk(e))


def _is_sum(e: Scalar) -> bool:
    return isinstance(e, Apply) and e.fn in ("add", "sub", "mul", "neg")


def _whole(e: Lit) -> bool:
    return isinstance(e.value, int) and not isinstance(e.value, bool)


def _nonnegative(p: Polynomial, facts: Facts) -> bool:
    """Whether a polynomial over sizes is not negative where each of them is 2 at least."""
    for a in p.atoms():
        if isinstance(a, Dim) and a in facts.positive:
            p = p.replaced(a, atom(a) + number(1))
    return is_nonnegative(p, facts)


def _holds(condition: Scalar, point: _Point, facts: Facts, *, wanted: bool = True) -> bool:
    """Whether a condition certainly holds at a point, or certainly not where that is `wanted`."""
    match condition:
        case Lit(value=value):
            return bool(value) is wanted
        case Apply("not", (a,)):
            return _holds(a, point, facts, wanted=not wanted)
        case Apply("and" | "or" as fn, args):
            each = (_holds(a, point, facts, wanted=wanted) for a in args)
            return all(each) if (fn == "and") is wanted else any(each)
        case Apply(fn, (a, b)) if fn in _COMPARED and _is_plain(a) and _is_plain(b):
            less = _at(polynomial(a) - polynomial(b), point)
            return _is_so(fn if wanted else _COMPARED[fn], less, facts)
        case _:
            return False


_COMPARED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


def _is_so(fn: str, p: Polynomial, facts: Facts) -> bool:
    """Whether a difference compares with 0 like that."""
    match fn:
        case "ge" | "gt":
            return _nonnegative(p - number(fn == "gt"), facts)
        case "le" | "lt":
            return _nonnegative(-p - number(fn == "lt"), facts)
        case "eq":
            return not p.terms
        case _:
            return _nonnegative(p - number(1), facts) or _nonnegative(-p - number(1), facts)
