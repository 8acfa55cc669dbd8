"""Quotients and remainders of whole numbers that are 0 everywhere: warnings.

`i//D` is 0 where `i` runs to `D`, and so is `1//2`; whole numbers leave nothing by 1. In: the statements as they are
written, and for extents the variants.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from opgen.diagnostics.model import Diagnostic
from opgen.ir import text
from opgen.ir.formula import CONSTANTS
from opgen.ir.operator import Variant
from opgen.ir.program import Axis, Compute, Scatter
from opgen.ir.scalar import Apply, Batch, Index, walk
from opgen.lang.nodes import (
    Access,
    Assign,
    Binder,
    Call,
    Compare,
    Dots,
    Expr,
    Logic,
    Name,
    Number,
    Power,
    Product,
    Reduction,
    Sum,
    Unary,
)
from opgen.lang.unparse import respelled
from opgen.lang.walk import integer, literal, nodes, statement_at
from opgen.lower.assigned import assigned_once
from opgen.lower.declare import Declarations
from opgen.lower.domain import is_at_least
from opgen.lower.doubts import doubt

_OF_WHOLE = ("abs", "min", "max", "clamp", "sign", "square")  # which give whole numbers of whole numbers
_COUNTS = ("count", "argmax", "argmin", "any", "all")
_KEEPING = ("sum", "prod", "max", "min", "cumsum", "cumprod")


def quotients(d: Declarations, variants: Sequence[Variant]) -> Iterator[Diagnostic]:
    """A warning for `i//D` where `i` runs to `D`: it is 0; and for `1//2`."""
    told: set[int] = set()
    places = in_positions(d)
    yield from of_literals(d, places)
    for s in (s for v in variants for s in v.program.statements if isinstance(s, Compute | Scatter)):
        lengths = {a.name: a.extent for a in s.loops if isinstance(a, Axis)}
        at = () if isinstance(s, Compute) else (p for p in s.at if not isinstance(p, Batch))
        whole = (n for e in (s.body, *at) for n in walk(e) if isinstance(n, Apply) and n.fn == "floordiv")
        pairs = ((a.name, b) for a, b in (n.args for n in whole) if isinstance(a, Index))
        own = None if s.span is None else statement_at(d.forward, s.span)
        for name in (name for name, size in pairs if lengths.get(name) == size):
            for p in (n for n in _written(own) if isinstance(n, Product)) if own is not None else ():
                above, below = _first_quotient(p)
                if below is None or above != Name(name, p.span) or below.span.start in told:
                    continue
                told.add(below.span.start)
                size = respelled(below)
                block = f"the number of a block is a quotient by its size, which is less than `{size}`"
                instead = block if id(p) in places else None
                yield _zero(p, f"is 0 everywhere: `{name}` runs from 0 to {size} - 1", instead)


def _written(a: Assign) -> Iterator[Expr]:
    """All expressions of a statement, those on its left first."""
    items = (i for i in a.target.items or () if not isinstance(i, Binder | Dots))
    return (n for e in (*items, a.value) for n in nodes(e))


def in_positions(d: Declarations) -> frozenset[int]:
    """The expressions in positions, where no fraction can stand, and in what is assigned to names that are read."""
    found: set[int] = set()
    stack = [i for a in d.forward for e in nodes(a.value) if isinstance(e, Access) for i in e.items]
    stack += [i for a in d.forward for i in a.target.items or () if not isinstance(i, Binder)]
    while stack:
        item = stack.pop()
        for e in nodes(item) if not isinstance(item, Dots) and id(item) not in found else ():
            found.add(id(e))
            if isinstance(e, Name | Access):
                stack += [a.value for a in d.forward if a.target.name == e.name]
    return frozenset(found)


def of_literals(d: Declarations, places: Container[int]) -> Iterator[Diagnostic]:
    """A warning for `1//2`, and for `3//2` as an exponent."""
    every = [e for a in d.forward for e in nodes(a.value)]
    exponents = [e.exponent for e in every if isinstance(e, Power)]
    for p in (e for e in every if isinstance(e, Product)):
        above, below = _first_quotient(p)
        a, b = literal(above), None if below is None else literal(below)
        if a and b and a % b and (not a // b or any(p is e for e in exponents)):
            yield _zero(p, f"is {a // b}: `//` rounds down", "" if id(p) in places else None)
        elif isinstance(below, Name) and isinstance(a, int) and id(p) not in places and (why := _by_more(d, a, below)):
            yield _zero(p, f"is 0 {why}: `//` rounds down")


def _by_more(d: Declarations, a: int, below: Name) -> str:
    """Where a size or an integer param is above a number, so that this divided by it is 0; empty where that is open.

    1 divided by a size is told wherever that is more, and by a param if its default is.
    """
    is_size, param = below.name in d.known_dims(), d.params.get(below.name)
    if a <= 0 or (not is_size and (param is None or param.type != "int")):
        return ""
    if param is not None and is_at_least(below.name, param, a + 1):
        return f"everywhere, since `{below.name}` is above {a}"
    default = [literal(e) or 0 for e in d.defaults.get(below.name, ())]
    return f"wherever `{below.name}` is above 1" if a == 1 and (is_size or (default and default[0] > 1)) else ""


def _first_quotient(p: Product) -> tuple[Expr, Expr | None]:
    """The first factor, and what it is divided by; a later one is divided together with those before it."""
    (_, above), (op, below) = p.factors[:2]
    return above, below if op == "//" else None


def _zero(p: Product, why: str, instead: str | None = None) -> Diagnostic:
    """What is said of the quotient that a product begins with, whose sign is as close as the next one.

    `instead`: what is said in place of the fraction that may be meant.
    """
    quotient = Product(p.factors[:2], p.factors[0][1].span.to(p.factors[1][1].span))
    above, below = (respelled(e) for _, e in quotient.factors)
    line, end = p.span.source.text, quotient.span.end
    is_close = "//" not in line[quotient.span.start : end].split() or (len(p.factors) > 2 and not line[end].isspace())
    fraction = f"for a fraction write `{above}{'/' if is_close else ' / '}{below}`"
    hints = (fraction if instead is None else instead,) if instead != "" else ()
    return doubt("OPG275", f"`{above} // {below}` {why}", quotient, "a whole number", *hints)


# --- numbers from 0 to 1 that are rounded down ---


_DOWN = ("floor", "int", "trunc")


def rounded_draws(d: Declarations) -> Iterator[Diagnostic]:
    """A warning for `int(uniform(seed))`, which is 0: what is drawn is less than 1."""
    for a in d.forward:
        told: set[int] = set()
        for e in nodes(a.value):
            drawn = _rounded_down(e)
            if drawn is None or id(drawn) in told:
                continue
            told.add(id(drawn))
            message = f"`{respelled(e)}` is 0 everywhere: `{respelled(drawn)}` is less than 1"
            count, seed = _choices(d, a, e), respelled(drawn.args[0])
            below = f"for an integer from 0 to `{count} - 1` write `integer({seed}, {count})`"
            yield doubt("OPG275", message, e, "rounded down", below if count else _other_draw(d, a, e, seed))


def _rounded_down(e: Expr) -> Call | None:
    """What is drawn by `uniform` and then rounded down."""
    if not isinstance(e, Call) or e.name not in _DOWN or len(e.args) != 1:
        return None
    (of,) = e.args
    return of if isinstance(of, Call) and of.name == "uniform" and len(of.args) == 1 else _rounded_down(of)


def _other_draw(d: Declarations, a: Assign, e: Expr, seed: str) -> str:
    """The integers that are meant where a value is no position: two for a sign, or so many as it is multiplied by."""
    for p in (n for n in nodes(a.value) if isinstance(n, Product) and len(n.factors) == 2):
        others = [f for op, f in p.factors if op == "*" and f is not e]
        if len(others) != 1 or not any(f is e for _, f in p.factors):
            continue
        times = others[0]
        if integer(times) == 2 and any(_is_less_1(n, p) for n in nodes(a.value)):
            return f"for 0 or 1 write `integer({seed}, 2)`"
        is_param = isinstance(times, Name) and times.name in d.params and d.params[times.name].type == "int"
        if is_param or (integer(times) or 0) > 1:
            shown = respelled(times)
            return f"for an integer from 0 to `{shown} - 1` write `integer({seed}, {shown})` in place of the product"
    return f"an integer from 0 on is `integer({seed}, …)`, with how many there are"


def _is_less_1(e: Expr, p: Product) -> bool:
    """`p - 1`, or `1 - p`."""
    match e:
        case Sum(terms=(("+", a), ("-", b))):
            return (a is p and literal(b) == 1) or (b is p and literal(a) == 1)
        case _:
            return False


def _choices(d: Declarations, a: Assign, e: Expr) -> str:
    """How long the axis is at which a value is a position, itself or by its name; empty where there is none."""
    reads = [r for s in d.forward for r in nodes(s.value) if isinstance(r, Access)]
    sizes = {
        text.position(size)
        for r in reads if len(r.items) == len(d.shapes.get(r.name, ()))
        for i, size in zip(r.items, d.shapes[r.name], strict=True)
        if i is e or (a.value is e and isinstance(i, Access | Name) and i.name == a.target.name)
    }  # fmt: skip
    return sizes.pop() if len(sizes) == 1 else ""


# --- remainders by 1 -------------------------------------------------------------------------------------------------


def remainders(d: Declarations) -> Iterator[Diagnostic]:
    """A warning for `k[n] % 1`, and for the fraction of `k[n]`, where `k` holds whole numbers."""
    whole = Whole(d, assigned_once(d))
    for a in d.forward:
        for e in nodes(a.value):
            match e:
                case Product():
                    yield from _by_1(a, e, whole)
                case Call(name="remainder" | "fmod", args=(of, one)) if literal(one) == 1 and whole.is_whole(of):
                    yield _none_left(e, of)
                case Call(name="frac", args=(of,)) if whole.is_whole(of):
                    yield _none_left(e, of)


def _by_1(a: Assign, p: Product, whole: Whole) -> Iterator[Diagnostic]:
    """What is said of a remainder in a product, which is that of all before it."""
    for k, (op, one) in enumerate(p.factors):
        before = p.factors[:k]
        if op == "%" and literal(one) == 1 and all(o != "/" and whole.is_whole(e) for o, e in before):
            of = Product(before, before[0][1].span.to(before[-1][1].span)) if k > 1 else before[0][1]
            rest = Product(p.factors[: k + 1], of.span.to(one.span))
            by = _scale(a, p, k)
            if by is None or not whole.is_whole(by):
                yield _none_left(rest, of)
                continue
            written = respelled(rest, (one, f"({respelled(by)})" if isinstance(by, Product) else _factor(by)))
            yield _none_left(rest, of, f"for a number below `{respelled(by)}` write `{written}`")


def _scale(a: Assign, p: Product, k: int) -> Expr | None:
    """What a remainder is multiplied by, and nothing else: `buckets` of `(hash % 1)*buckets`."""
    behind = p.factors[k + 1 :]
    around = [q.factors for q in nodes(a.value) if isinstance(q, Product) and any(e is p for _, e in q.factors)]
    if around and not behind and all(op == "*" for op, _ in around[0]):
        behind = tuple(f for f in around[0] if f[1] is not p)
    return behind[0][1] if len(behind) == 1 and behind[0][0] == "*" else None


def _factor(e: Expr) -> str:
    """An expression as a factor, in brackets where it needs them."""
    return f"({respelled(e)})" if isinstance(e, Sum | Compare | Logic) else respelled(e)


def _none_left(e: Expr, of: Expr, *hints: str) -> Diagnostic:
    """What is said of a fraction of a whole number."""
    message = f"`{respelled(e)}` is 0 everywhere: a whole number has no fraction"
    if not hints:
        hints = (f"for the fraction of a quotient write `{_factor(of)}/… % 1`, for its remainder `{_factor(of)} % …`",)
    return doubt("OPG275", message, e, "a remainder by 1", *hints)


@dataclass(frozen=True, slots=True)
class Whole:
    """Which expressions are integers, as far as that is plain to see."""

    d: Declarations
    once: Mapping[str, Assign]

    def is_whole(self, e: Expr) -> bool:
        """Whether an expression is an integer wherever it stands."""
        match e:
            case Number(value=value):
                return isinstance(value, int)
            case Name(name=name) | Access(name=name):
                return self.holds_whole(e, name)
            case Unary() | Compare() | Logic():
                return not isinstance(e, Unary) or e.op == "not" or self.is_whole(e.operand)
            case Sum(terms=parts):
                return all(self.is_whole(t) for _, t in parts)
            case Product(factors=parts):
                return all(op != "/" and self.is_whole(f) for op, f in parts)
            case Power(base=base, exponent=exponent):
                return self.is_whole(base) and (integer(exponent) or -1) >= 0
            case Call(name=name, args=args):
                if name not in ("int", "where", *_OF_WHOLE):
                    return False
                return name == "int" or all(map(self.is_whole, args[1:] if name == "where" else args))
            case Reduction(name=name, body=body):
                return name in _COUNTS or (name in _KEEPING and self.is_whole(body))
            case _:
                return False

    def divisor(self, e: Expr) -> Expr | None:
        """The literal or size by which an integer is divided that leaves `e`; None for anything else."""
        match e:
            case Product(factors=(*before, ("%", by))) if all(op != "/" and self.is_whole(f) for op, f in before):
                is_size = isinstance(by, Name) and by.name in self.d.sizes
                return by if is_size or (integer(by) or 0) > 1 else None
            case _:
                return None

    def holds_whole(self, e: Name | Access, name: str) -> bool:
        """Whether a name stands for integers: a dim or an index does."""
        if name in self.d.inputs:
            return self.d.inputs[name].kind in ("int", "bool") and self.d.inputs[name].dtype != "seed"
        if name in self.d.params:
            return self.d.params[name].type in ("int", "bool")
        if name in self.once:
            others = {n: a for n, a in self.once.items() if n != name}
            return Whole(self.d, others).is_whole(self.once[name].value)
        return isinstance(e, Name) and name not in self.d.targets() and name not in CONSTANTS
