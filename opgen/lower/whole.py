"""Positions, dims and extents are integers: what to write for a float in their place.

A quotient of integers is written with `//`; any other float is rounded, and then it is an integer.
"""

from __future__ import annotations

from dataclasses import replace

from opgen.diagnostics.model import Hint, Span
from opgen.diagnostics.suggest import listed
from opgen.ir.program import Kind
from opgen.lang.nodes import Access, Binder, Call, Dots, Expr, Name, Number, Product, Reduction, Sum, Unary
from opgen.lang.unparse import bracketed, unparse, unparse_assign
from opgen.lang.walk import names_read, nodes, statement_at, transform
from opgen.lower.kinds import ARTICLES, numeric
from opgen.lower.missing import only_float
from opgen.lower.scope import BAD, Frame, Typed

_ROUNDED = ("floor", "ceil", "trunc", "round")
_SIZES = ("a dim", "an extent")
_QUOTIENT = "`/` gives a float, and `//` the integer quotient"
_KEEPING = ("min", "max", "clamp", "abs", "relu", "square")  # of integers they give one


def integer(f: Frame, t: Typed, e: Expr, what: str) -> Typed:
    """The value of an expression if it is an integer, or a mistake."""
    t = numeric(t)
    if t.kind is None or t.kind is Kind.INT:
        return t
    of_float = t.kind is Kind.FLOAT and what in _SIZES and not isinstance(e, Name)
    if of_float and (name := only_float(f, e)):
        if is_told(f, name):
            return BAD
        hints = declared_float(f, name)
    else:
        hints = _hints(f, e, what) if t.kind is Kind.FLOAT else ()
        if what == "a position" and (line := _with_extents(f, e)):
            hints = (_QUOTIENT, line)
            if any(told.code == "OPG223" and line in told.hints for told in f.bag.items):
                return BAD
    f.bag.error("OPG223", f"{what} is an integer, and this is {ARTICLES[t.kind]}", _whole(e), hints=hints)
    return BAD


def declared_float(f: Frame, name: str) -> tuple[str, ...]:
    """How an input or a param of floats is declared that holds integers."""
    return (f"declare what it holds: `{name}: {{…, {'dtype' if name in f.decl.inputs else 'type'}: int}}`",)


def is_told(f: Frame, name: str) -> bool:
    """Whether it has been said already that an input or a param of floats holds integers."""
    return any(told.hints[:1] == declared_float(f, name) for told in f.bag.items if told.code == "OPG223")


def rounded(f: Frame, e: Expr) -> str:
    """The integer that an expression is rounded to; downwards, unless it says itself how."""
    return f"int({unparse(e)})" if _is_whole(f, e) else f"int(floor({unparse(e)}))"


def _hints(f: Frame, e: Expr, what: str) -> tuple[str, ...]:
    if what == "a position" and isinstance(e, Reduction) and e.name in ("max", "min") and len(e.binders) == 1:
        place = unparse(replace(e, name=f"arg{e.name}"))
        return (f"where the {'greatest' if e.name == 'max' else 'least'} is, tells `arg{e.name}`", _instead(e, place))
    of_sizes = what in _SIZES
    if of_sizes and isinstance(e, Name) and e.name in f.decl.params:
        return (f"declare it: `{e.name}: {{…, type: int}}`",)
    if of_sizes and any(isinstance(n, Number) and not isinstance(n.value, int) for n in nodes(e)):
        return ("take whole numbers: half of `N` is `N//2`",)
    whole = transform(e, _divided)
    if whole != e and _kind(f, whole) is Kind.INT:
        return (_QUOTIENT, _instead(e, unparse(whole)))
    return (_instead(e, rounded(f, e)),)


def _with_extents(f: Frame, e: Expr) -> Hint | None:
    """The statement with integer quotients in all positions, where indices need an extent as well; else None.

    An index that stands alone in no position runs over the dim at which it is read.
    """
    s = statement_at(f.decl.forward, e.span)
    if s is None or s.target.items is None:
        return None
    value = transform(s.value, _divided_within)
    sizes = {i.name: _size(f, value, i.name) for i in s.target.items if isinstance(i, Binder) and i.extent is None}
    stated = {n: size for n, size in sizes.items() if size}
    if not stated or _kind(f, transform(e, _divided)) is not Kind.INT:
        return None
    items = tuple(
        replace(i, extent=Name(stated[i.name], i.span)) if isinstance(i, Binder) and i.name in stated else i
        for i in s.target.items
    )
    line = unparse_assign(replace(s, target=replace(s.target, items=items), value=value))
    return Hint(f"write `{line}`, which says how far {listed(stated, 'and')} runs, too")


def _divided_within(e: Expr) -> Expr | None:
    if not isinstance(e, Access):
        return None
    return replace(e, items=tuple(i if isinstance(i, Dots) else transform(i, _divided) for i in e.items))


def _size(f: Frame, value: Expr, index: str) -> str:
    """The dim at which an index is read that stands alone in no position; empty where that is none, or several."""
    sizes: dict[str, None] = {}
    for a in (n for n in nodes(value) if isinstance(n, Access)):
        shape = f.decl.words.shapes.get(a.name, ())
        for k, item in enumerate(a.items):
            if isinstance(item, Dots) or index not in names_read(item):
                continue
            if isinstance(item, Name) or len(shape) != len(a.items):
                return ""
            sizes[shape[k]] = None
    return next(iter(sizes)) if len(sizes) == 1 else ""


def _instead(e: Expr, text: str) -> Hint:
    return Hint(f"write `{text}`", _whole(e).text, text, _whole(e))


def _whole(e: Expr) -> Span:
    """Where an expression stands, with the brackets around its first and last part."""
    return Span(e.span.source, *bracketed(e))


def _divided(e: Expr) -> Expr | None:
    """A quotient with `//` in place of `/`, and what rounds it down left away."""
    match e:
        case Call(name="floor" | "trunc", args=(inner,)) if isinstance(inner, Product):
            return transform(inner, _divided)
        case Call(name="ceil", args=(Product(factors=(*above, ("/", below))) as inner,)):
            return _up(replace(inner, factors=tuple(above)) if len(above) > 1 else above[0][1], below)
        case Call(name="round" | "ceil"):
            return e
        case Product(factors=factors) if any(op == "/" for op, _ in factors):
            parts = tuple(("//" if op == "/" else op, transform(x, _divided)) for op, x in factors)
            return replace(e, factors=parts)
        case _:
            return None


def _up(above: Expr, below: Expr) -> Expr:
    """A quotient of integers that is rounded up."""
    own = above.terms if isinstance(above, Sum) else (("+", above),)
    more: tuple[tuple[str, Expr], ...] = (("+", below), ("-", Number(1, below.span)))
    if isinstance(below, Number):
        more = (("+", Number(below.value - 1, below.span)),)
    terms = (*own, *more)
    return Product((("*", Sum(terms, above.span)), ("//", below)), above.span)


def _kind(f: Frame, e: Expr) -> Kind | None:
    """The kind of an expression that is tried; what is wrong with it is not told."""
    return f.apart().lower(e).kind


def _is_whole(f: Frame, e: Expr) -> bool:
    """Whether all values of an expression are whole numbers, though it may be a float."""
    match e:
        case Call(name=name) if name in _ROUNDED:
            return True
        case Call(name=name, args=args) if name in _KEEPING:
            return all(_is_whole(f, a) for a in args)
        case Call(name="where", args=(_, *args)):
            return all(_is_whole(f, a) for a in args)
        case Unary(op="-", operand=inner):
            return _is_whole(f, inner)
        case Sum(terms=terms):
            return all(_is_whole(f, t) for _, t in terms)
        case Product(factors=factors):
            whole = True
            for op, x in factors:
                whole = op == "//" or (op != "/" and whole and _is_whole(f, x))
            return whole
        case _:
            return _kind(f, e) is Kind.INT
