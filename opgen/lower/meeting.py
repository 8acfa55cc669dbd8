"""Pairs of elements of one dim of which those with themselves divide by zero, divisions by an index, which begins at 0,
or by an input that is not passed: warnings.

A sum over all pairs of particles holds each with itself, whose distance is 0. What `where` chooses is looked at where
its condition compares the two indices, `i <= j`; any other is not: it is lazy, and may be how such a pair is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from opgen.diagnostics.model import Diagnostic, Severity
from opgen.ir.operator import Variant
from opgen.ir.program import Axis, Compute, Given, Program
from opgen.ir.scalar import ZERO, Apply, Dim, Index, Lit, Read, Scalar, substitute
from opgen.lang.nodes import Access, Assign, Binder, Call, Compare, Expr, Name, Number, Product, Reduction, Sum
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.walk import names_read, nodes, statement_at, transform
from opgen.lower.declare import Declarations

_ZERO, _ONE, _INF, _NAN = "0", "1", "inf", "nan"
_SAID = {_INF: "this divides by 0", _NAN: "this is nan"}
_SUMS = ("sum", "mean")
_KEEPING = (None, "sum", "mean", "max", "min", "norm")  # of zeros they give 0
_HOMOGENEOUS = ("neg", "abs", "square", "sqrt", "sin", "tan", "tanh", "relu", "expm1", "log1p", "cbrt", "sign")

_OF_EQUALS = {"le": True, "ge": True, "eq": True, "lt": False, "gt": False, "ne": False}  # comparisons of equal indices
_STRICT = {"<=": "<", ">=": ">"}


def meeting(d: Declarations, variants: Sequence[Variant]) -> Iterator[Diagnostic]:
    """A warning for each statement that a pair of an element with itself makes nan or infinite."""
    told: set[int] = set()
    for v in variants:
        for s, at, value in _lost(v.program):
            if s.span is not None and s.span.start not in told:
                told.add(s.span.start)
                yield from _told(d, v, s, at, value)


def _told(d: Declarations, v: Variant, s: Compute, at: Sequence[str], value: str) -> Iterator[Diagnostic]:
    match at:
        case [first, second]:
            yield _warning(d, s, (first, second), value)
        case [index]:
            yield _first(d, s, index, value)
        case _:
            yield from _missing(d, v, s, value)


def _missing(d: Declarations, v: Variant, s: Compute, value: str) -> Iterator[Diagnostic]:
    """A divisor, or what a logarithm is taken of, that is 0 where an optional input is not passed."""
    absent = [g.name for g in v.conditions if isinstance(g, Given) and not g.present and g.name not in d.absent]
    own = None if s.span is None else statement_at(d.forward, s.span)
    name = next((n for n in absent if own is not None and n in names_read(own.value)), None)
    if name is None or s.span is None:
        return
    lost = "nan" if value == _NAN else "infinite"
    message = f"where `{name}` is not passed it reads as 0, and this is {lost}"
    hints = (
        f"say what it reads as: `{name}: {{…, absent: 1}}`",
        f"or write a statement for each case, behind `if given({name})` and `if not given({name})`",
    )
    yield Diagnostic("OPG272", message, s.span, f"nothing without `{name}`", hints=hints, severity=Severity.WARNING)


def _warning(d: Declarations, s: Compute, at: tuple[str, ...], value: str) -> Diagnostic:
    assert s.span is not None
    first, second = at
    message = f"where `{first}` and `{second}` are equal, {_SAID[value]}"
    kept = "or keep the divisor from 0: `max(…, eps)`, or a small number added to it"
    hints = (_left_out(d, s, at), *((kept,) if value == _NAN else ()))  # by a small number, what is not 0 is huge
    return Diagnostic("OPG261", message, s.span, "0 in the divisor there", hints=hints, severity=Severity.WARNING)


def _first(d: Declarations, s: Compute, index: str, value: str) -> Diagnostic:
    """A division by an index, or by what is made of it and numbers."""
    assert s.span is not None

    def later(e: Expr) -> Expr | None:
        """With the index counted from 1."""
        one = Number(1, e.span)
        match e:
            case Name(name=name) if name == index:
                return Sum((("+", e), ("+", one)), e.span)
            case Sum(terms=(("+", Name(name=name)), ("+", Number(value=n)))) if name == index:
                return Sum((e.terms[0], ("+", Number(n + 1, e.span))), e.span)
            case _:
                return None

    def sized(e: Expr) -> Expr | None:
        """With the size of the dim of that letter."""
        return Name(index.upper(), e.span) if e == Name(index, e.span) else None

    own = statement_at(d.forward, s.span)
    from_1 = "" if own is None else _divided(own, index, later)
    size = "" if own is None or not _is_along(s, index) else _divided(own, index, sized)
    hints = [f"write `{from_1}`"] if from_1 else []
    if size:
        way = f"for the size of the dim, `{index.upper()}`, write `{size}`"
        first = any(isinstance(a, Axis) and a.name == index for a in s.over)  # whose number of terms may be meant
        hints = [way, *(f"or, counted from 1, {h}" for h in hints)] if first else [*hints, f"or {way}"]
    hints.append(f"or say what holds there: `where({index} > 0, …, …)`")
    message = f"where `{index}` is 0, {_SAID[value]}"
    label = f"`{index}` counts from 0"
    return Diagnostic("OPG262", message, s.span, label, hints=tuple(hints), severity=Severity.WARNING)


def _divided(own: Assign, index: str, step: Callable[[Expr], Expr | None]) -> str:
    """A statement with another divisor where that is made of an index and numbers; empty where there is none."""

    def moved(e: Expr) -> Expr | None:
        if not isinstance(e, Product) or not any(op == "/" and _made_of(x, index) for op, x in e.factors):
            return None
        factors = ((op, transform(x, step if op == "/" and _made_of(x, index) else moved)) for op, x in e.factors)
        return replace(e, factors=tuple(factors))

    made = replace(own, value=transform(own.value, moved))
    return "" if made == own else unparse_assign(made)


def _is_along(s: Compute, index: str) -> bool:
    """Whether an index runs over the dim of its letter."""
    return any(isinstance(a, Axis) and a.name == index and a.extent == Dim(index.upper()) for a in (*s.axes, *s.over))


def _made_of(e: Expr, index: str) -> bool:
    """Is a divisor made of an index and numbers?"""
    names = {n.name for n in nodes(e) if isinstance(n, Name)}
    return index in names and not any(isinstance(n, Access | Reduction) for n in nodes(e))


def _left_out(d: Declarations, s: Compute, at: tuple[str, ...]) -> str:
    """The formula without the pairs of an element with itself."""
    span = s.span
    assert span is not None
    own = (a.value for a in d.forward if a.span.start <= span.start and span.end <= a.span.end)
    other = Compare((Name(at[0], span), Name(at[1], span)), ("!=",), span)

    def chosen(body: Expr) -> Expr:
        if (strict := _strict(body, at)) is not None:
            return strict
        return Call("where", (other, body, Number(0, span)), span, span)

    for value in own:
        for r in (n for n in nodes(value) if isinstance(n, Reduction) and n.name == s.op):
            names = [b.name for b in r.binders if isinstance(b, Binder)]
            if r.span.start >= span.start and r.span.end <= span.end and {*names} & {*at}:
                return f"leave those out: `{unparse(replace(r, body=chosen(r.body)))}`"
        if s.op is None and not isinstance(value, Access | Name):
            return f"choose what holds there: `{unparse(chosen(value))}`"
    return f"leave those out: `where({at[0]} != {at[1]}, …, 0)`"


def _strict(e: Expr, at: tuple[str, ...]) -> Expr | None:
    """`where(i <= j, …, 0)` without those that are equal, `where(i < j, …, 0)`; None for anything else."""
    match e:
        case Call(name="where", args=(Compare(operands=(Name(name=a), Name(name=b)), ops=(op,)) as asked, *rest)):
            strict = replace(asked, ops=(_STRICT[op],)) if op in _STRICT and {a, b} == {*at} else None
            return None if strict is None else replace(e, args=(strict, *rest))
        case _:
            return None


def _lost(p: Program) -> Iterator[tuple[Compute, tuple[str, ...], str]]:
    """The statements with a value that no other makes good, each with two of its indices and what it is there."""
    pairs = _Pairs()
    results = {o.value for o in p.outputs}
    for s in p.statements:
        if not isinstance(s, Compute):
            continue
        loops = [a for a in (*s.axes, *s.over) if isinstance(a, Axis)]
        over = {a.name for a in s.over if isinstance(a, Axis)}
        always = pairs.at(s.body)
        if always in (_NAN, _INF):
            yield s, (), always
            continue
        for a in loops:
            value = pairs.at(substitute(s.body, {Index(a.name): ZERO}))
            if value in (_NAN, _INF) and (s.target in results or (a.name in over and s.op in _SUMS)):
                yield s, (a.name,), value
        for a, b in combinations(dict.fromkeys(loops), 2):
            if a.extent != b.extent:
                continue
            value = pairs.at(substitute(s.body, {Index(b.name): Index(a.name)}))
            reduced = bool(over & {a.name, b.name})
            if (value == _NAN and (reduced or s.target in results)) or (value == _INF and reduced and s.op in _SUMS):
                yield s, (a.name, b.name), value
            elif value not in ("", _ONE) and not reduced and s.op in _KEEPING:
                axes = [x.name if isinstance(x, Axis) else "" for x in s.axes]
                pairs.known.setdefault(s.target, {})[axes.index(a.name), axes.index(b.name)] = value


@dataclass(slots=True)
class _Pairs:
    """What tensors are where two of their positions are equal, as far as it is certain."""

    known: dict[str, dict[tuple[int, int], str]] = field(default_factory=dict)

    def at(self, e: Scalar) -> str:
        """What an expression is: 0, 1, infinite, nan, or empty where it may be anything."""
        match e:
            case Lit(value):
                return _ZERO if value == 0 else _ONE if value == 1 else ""
            case Read(tensor, at, None):
                own = self.known.get(tensor, {})
                return next((v for (m, n), v in own.items() if at[m] == at[n]), "")
            case Apply("sub", (a, b)) if a == b:
                return self.at(a) if self.at(a) == _NAN else _ZERO
            case Apply("add" | "sub" | "hypot", args):
                values = [self.at(a) for a in args]
                lost = next((v for v in (_NAN, _INF) if v in values), "")
                rest = [v for v in values if v != _ZERO]
                return lost or (_ZERO if not rest else _ONE if rest == [_ONE] and e.fn == "add" else "")
            case Apply("mul", args):
                values = [self.at(a) for a in args]
                if _NAN in values or {_ZERO, _INF} <= {*values}:
                    return _NAN
                return next((v for v in (_ZERO, _INF) if v in values), "")
            case Apply("div", (a, b)):
                above, below = self.at(a), self.at(b)
                return _quotient(above, below)
            case Apply("pow", (a, Lit(value))) if value:
                own_value = self.at(a)
                return own_value if value > 0 else _quotient("", own_value)
            case Apply("rsqrt" | "reciprocal", (a,)):
                return _quotient("", self.at(a))
            case Apply("log" | "log2" | "log10", (a,)) if self.at(a) in (_ZERO, _ONE):
                return _ZERO if self.at(a) == _ONE else _INF
            case Apply("where", (Apply(fn, (Index(a), Index(b))), yes, no)) if a == b and fn in _OF_EQUALS:
                return self.at(yes if _OF_EQUALS[fn] else no)
            case Apply(fn, (a,)) if fn in _HOMOGENEOUS:
                return self.at(a) if self.at(a) in (_ZERO, _NAN) else ""
            case _:
                return ""


def _quotient(above: str, below: str) -> str:
    if _NAN in (above, below):
        return _NAN
    if below == _ZERO:
        return _NAN if above == _ZERO else _INF
    return above if below in ("", _ONE) else ""
