"""Convolutions that do not look like one, written so that `opgen.opt.convolution` sees them.

A convolution hides in a sum of several products, behind windows that have a name of their own, in a scatter (a
transposed convolution adds where it should gather) and behind an index that a condition tells (the group of an output).
In goes a program, out comes the same with these statements rewritten; what becomes no convolution stays as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from opgen.diff.algebra import total
from opgen.diff.structure import Builder
from opgen.ir.names import Names
from opgen.ir.polynomial import Polynomial, number, polynomial
from opgen.ir.program import Axis, Compute, Kind, Loop, Program, Scatter, Statement, names
from opgen.ir.scalar import (
    ONE,
    ZERO,
    Apply,
    Batch,
    Index,
    Lit,
    Read,
    Scalar,
    add,
    both,
    call,
    mul,
    neg,
    rebuild,
    substitute,
    walk,
    where,
)
from opgen.opt.convolution import Known, convolution, is_positive
from opgen.opt.taps import guarded


def convolve(p: Program) -> Program:
    """Every statement that is a convolution in disguise, without it."""
    convolving = _Convolving(Builder(Names(names(p), first=1)), Known.of(p))
    for s in p.statements:
        convolving.step(s)
    return replace(p, statements=tuple(convolving.builder.statements))


def products(e: Scalar) -> list[Scalar]:
    """The terms of a sum, those under a condition among them."""
    match e:
        case Apply("add", args):
            return [t for a in args for t in products(a)]
        case Apply("sub", (a, b)):
            return [*products(a), *(neg(t) for t in products(b))]
        case Apply("neg", (a,)):
            return [neg(t) for t in products(a)]
        case Apply("where", (condition, a, b)) if b == ZERO:
            return [_under_condition(condition, t) for t in products(a)]
        case _:
            return [e]


def _under_condition(condition: Scalar, term: Scalar) -> Scalar:
    positive, negative = _unsigned(term)
    guarded_term = where(condition, positive, ZERO)
    return neg(guarded_term) if negative else guarded_term


def _unsigned(term: Scalar) -> tuple[Scalar, bool]:
    """A term without its sign, and whether it had one."""
    match term:
        case Apply("neg", (a,)):
            return a, True
        case Apply("mul", (Lit(value), *rest)) if value == -1:
            return mul(*rest), True
        case _:
            return term, False


@dataclass
class _Convolving:
    builder: Builder
    known: Known
    earlier: dict[str, Compute] = field(default_factory=dict)

    def step(self, s: Statement) -> None:
        match s:
            case Compute(op="sum"):
                self._sum(s)
            case Scatter(op="sum", kind=Kind.FLOAT):
                self._scatter(s)
            case _:
                self.builder.statements.append(s)
        if isinstance(s, Compute):
            self.earlier[s.target] = s

    def _sum(self, s: Compute) -> None:
        terms = {t: self._seen(replace(s, body=_unsigned(t)[0])) for t in products(s.body)}
        found = {t: seen for t, seen in terms.items() if seen is not None}
        if not found or (len(terms) == 1 and not _unsigned(next(iter(terms)))[1]):
            self.builder.statements.append(next(iter(found.values()), s))
            return
        sums: list[Scalar] = []
        for t, seen in found.items():
            part = self.builder.emit(f"{s.target}_part", seen.axes, seen.body, "sum", seen.over)
            sums.append(neg(part) if _unsigned(t)[1] else part)
        rest = [t for t in terms if t not in found]
        if rest:
            sums.append(self.builder.emit(f"{s.target}_rest", s.axes, total(rest), "sum", s.over))
        self.builder.statements.append(replace(s, body=total(sums), op=None, over=()))

    def _scatter(self, s: Scatter) -> None:
        gathered = _gathered(s, self.earlier, self.known, self.builder.names)
        seen = None if gathered is None else self._seen(gathered)
        if seen is None:
            self.builder.statements.append(s)
        elif self._is_zero(s.base):
            self.builder.statements.append(seen)
        else:
            added = self.builder.emit(f"{s.target}_sum", seen.axes, seen.body, "sum", seen.over)
            self.builder.statements.append(Compute(s.target, s.axes, add(s.base, added), span=s.span))

    def _is_zero(self, e: Scalar) -> bool:
        made = self.earlier.get(e.tensor) if isinstance(e, Read) else None
        return ZERO in (e, None if made is None or made.op is not None else made.body)

    def _seen(self, s: Compute) -> Compute | None:
        """A statement as the convolution that it is."""
        direct = replace(s, body=_without_windows(s, self.earlier))
        told = _told(direct, self.known)
        return next((x for x in (direct, told) if x is not None and convolution(x, self.known) is not None), None)


# --- windows ---------------------------------------------------------------------------------------------------------


def _without_windows(s: Compute, earlier: Mapping[str, Compute]) -> Scalar:
    """The body, where reading a map that only reads is reading what it reads."""

    def direct(e: Scalar) -> Scalar:
        if not isinstance(e, Read):
            return rebuild(e, direct)
        window = earlier.get(e.tensor)
        if window is None or window.op is not None or not isinstance(window.body, Read):
            return e
        places = _places(window, e, s.loops)
        return e if places is None else direct(substitute(window.body, places))

    return direct(s.body)


def _places(made: Compute, r: Read, loops: tuple[Loop, ...]) -> dict[Scalar, Scalar] | None:
    """What the axes of a statement are where it is read as a whole by loops."""
    known = {Index(a.name): a.extent for a in loops if isinstance(a, Axis)}
    places: dict[Scalar, Scalar] = {}
    for a, q in zip(made.axes, r.at, strict=True):
        if isinstance(a, Batch) or isinstance(q, Batch):
            if a != q:
                return None
        elif r.fill is not None or not isinstance(q, Index) or known.get(q) != a.extent:
            return None
        else:
            places[Index(a.name)] = q
    return places


# --- indices that a condition tells ----------------------------------------------------------------------------------


def _told(s: Compute, known: Known) -> Compute | None:
    """A sum without the index that a condition sets to the group of an output."""
    conditions: list[Scalar] = []
    inner = guarded(s.body, conditions)
    for c in conditions:
        if not isinstance(c, Apply) or c.fn != "eq":
            continue
        difference = _small(polynomial(c.args[0]) - polynomial(c.args[1]), s.loops)
        for a in s.over:
            parts = None if isinstance(a, Batch) else difference.split(Index(a.name))
            if isinstance(a, Batch) or parts is None or parts[0].constant not in (1, -1):
                continue
            value = (-parts[1] if parts[0].constant == 1 else parts[1]).scalar()
            left = [x for x in conditions if x != c]
            if _is_group(value, a, left, s.loops, known):
                body = substitute(_under(left, inner), {Index(a.name): value})
                return replace(s, body=body, over=tuple(x for x in s.over if x != a))
    return None


def _small(p: Polynomial, loops: tuple[Loop, ...]) -> Polynomial:
    """An index divided by its extent is nothing."""
    extents = {Index(a.name): a.extent for a in loops if isinstance(a, Axis)}
    for a in p.atoms():
        match a:
            case Apply("floordiv", (Index() as index, size)) if extents.get(index) == size:
                p = p.replaced(a, number(0))
    return p


def _is_group(value: Scalar, a: Axis, conditions: list[Scalar], loops: tuple[Loop, ...], known: Known) -> bool:
    """Whether `o//width` is surely a value of an index that counts groups, as a condition says that `x` is in range.

    That condition is `count*index + channel < x`, and the index runs to the last group, `(x - 1)//count`.
    """
    match value:
        case Apply("floordiv", (Index(), _)):
            pass
        case _:
            return False
    extents: dict[Scalar, Scalar] = {Index(b.name): b.extent for b in loops if isinstance(b, Axis)}
    for c in conditions:
        match c:
            case Apply("lt", (position, size)):
                parts = polynomial(position).split(Index(a.name))
                if parts is None or extents.get(parts[1].scalar()) != (count := parts[0].scalar()):
                    continue
                last = call("floordiv", (polynomial(size, known.dims) - number(1)).scalar(), count)
                if polynomial(add(last, ONE), known.dims).same(polynomial(a.extent, known.dims)):
                    return True
    return False


def _under(conditions: list[Scalar], e: Scalar) -> Scalar:
    whole: Scalar | None = None
    for c in conditions:
        whole = c if whole is None else both(whole, c)
    return e if whole is None else where(whole, e, ZERO)


# --- scatters --------------------------------------------------------------------------------------------------------


def _gathered(s: Scatter, earlier: Mapping[str, Compute], known: Known, taken: Names) -> Compute | None:
    """A scatter of products as the sum over all that is added to a place, without its base."""
    if not s.padded:
        return None
    body, loops = _with_sum(s, earlier, taken)
    own = {a.name: taken.fresh(a.name) for a in loops if isinstance(a, Axis)}
    loops = tuple(a if isinstance(a, Batch) else Axis(own[a.name], a.extent) for a in loops)
    renamed: dict[Scalar, Scalar] = {Index(old): Index(new) for old, new in own.items()}
    plain: dict[Scalar, Scalar] = {}
    moved: list[tuple[Axis, Scalar]] = []
    for axis, q in zip(s.axes, s.at, strict=True):
        if isinstance(axis, Batch) or isinstance(q, Batch):
            if axis != q:
                return None
            continue
        at = substitute(q, renamed)
        if isinstance(at, Index) and at not in plain and Axis(at.name, axis.extent) in loops:
            plain[at] = Index(axis.name)
        else:
            moved.append((axis, at))
    solved = _solved(moved, [a for a in loops if isinstance(a, Axis) and Index(a.name) not in plain], known)
    if solved is None:
        return None
    places, conditions = solved
    over = tuple(a for a in loops if isinstance(a, Axis) and Index(a.name) not in {**plain, **places})
    if (Batch() in loops) != (Batch() in s.axes):
        return None
    body = substitute(substitute(body, renamed), {**plain, **places})
    return Compute(s.target, s.axes, _under(conditions, body), "sum", over, s.kind, s.span)


def _with_sum(s: Scatter, earlier: Mapping[str, Compute], taken: Names) -> tuple[Scalar, tuple[Loop, ...]]:
    """Body and loops of a scatter; where it adds a sum as a whole, those of the sum."""
    made = earlier.get(s.body.tensor) if isinstance(s.body, Read) else None
    if made is None or made.op != "sum" or not isinstance(s.body, Read) or Batch() in made.over:
        return s.body, s.loops
    places = _places(made, s.body, s.loops)
    if places is None:
        return s.body, s.loops
    over = {a.name: taken.fresh(a.name) for a in made.over if isinstance(a, Axis)}
    places |= {Index(old): Index(new) for old, new in over.items()}
    more = tuple(Axis(over[a.name], a.extent) for a in made.over if isinstance(a, Axis))
    return substitute(made.body, places), (*s.loops, *more)


def _solved(
    moved: list[tuple[Axis, Scalar]], loops: list[Axis], known: Known
) -> tuple[dict[Scalar, Scalar], list[Scalar]] | None:
    """Every position `l*stride + rest` solved for its first index, and when that is one of its values."""
    places: dict[Scalar, Scalar] = {}
    conditions: list[Scalar] = []
    for axis, at in moved:
        p = polynomial(at)
        found = None
        for a in loops:
            parts = p.split(Index(a.name))
            if parts is not None and parts[0].terms and is_positive(parts[0].scalar(), known):
                found = a, *parts
                break
        if found is None:
            return None
        a, factor, rest = found
        stride = factor.scalar()
        offset = (polynomial(Index(axis.name)) - rest).scalar()
        place = offset if stride == ONE else call("floordiv", offset, stride)
        if stride != ONE:
            conditions.append(call("eq", call("mod", offset, stride), ZERO))
        conditions += [call("ge", place, ZERO), call("lt", place, a.extent)]
        places[Index(a.name)] = place
    mentioned = (n for e in places.values() for n in walk(e))
    return None if any(n in places for n in mentioned) else (places, conditions)
