"""Walking expression trees: operands, all nodes, the names that stand where a tensor may be read, trees anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import assert_never

from opgen.diagnostics.model import Span
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
    Text,
    Unary,
)


def operands(e: Expr) -> tuple[Expr, ...]:
    """The direct sub-expressions, positions and extents included, in order."""
    match e:
        case Number() | Text() | Name():
            return ()
        case Unary(operand=operand):
            return (operand,)
        case Sum(terms=terms):
            return tuple(t for _, t in terms)
        case Product(factors=factors):
            return tuple(f for _, f in factors)
        case Power(base=base, exponent=exponent):
            return (base, exponent)
        case Compare(operands=parts) | Logic(operands=parts):
            return parts
        case Call(args=args):
            return args
        case Access(items=items):
            return tuple(i for i in items if not isinstance(i, Dots))
        case Reduction(binders=binders, body=body, further=further):
            extents = (b.extent for b in binders if isinstance(b, Binder) and b.extent is not None)
            return (*extents, body) if further is None else (*extents, body, further)
        case _:
            assert_never(e)


def nodes(e: Expr) -> Iterator[Expr]:
    """Every node, parents before operands, left to right."""
    stack = [e]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(operands(node)))


def names_read(e: Expr) -> dict[str, Name | Access]:
    """Every name that stands alone or before brackets, with its first place (a `given(x)` reads nothing)."""
    found: dict[str, Name | Access] = {}
    stack = [e]
    while stack:
        node = stack.pop()
        if isinstance(node, Name | Access):
            found.setdefault(node.name, node)
        if isinstance(node, Call) and node.name == "given":
            continue
        stack.extend(reversed(operands(node)))
    return found


def statement_names(s: Assign) -> dict[str, Name | Access]:
    """What the right side of a statement and the positions left of `=` may read."""
    found = names_read(s.value)
    for item in s.target.items or ():
        if isinstance(item, Binder):
            found.update({} if item.extent is None else names_read(item.extent))
        elif not isinstance(item, Dots):
            found.update(names_read(item))
    return found


def statement_at(statements: Iterable[Assign], span: Span) -> Assign | None:
    """The statement in which a place is."""
    return next((s for s in statements if s.span.start <= span.start and span.end <= s.span.end), None)


def rebuild(e: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """The same node with `f` applied to each direct sub-expression."""
    match e:
        case Number() | Text() | Name():
            return e
        case Unary(operand=operand):
            return replace(e, operand=f(operand))
        case Sum(terms=terms):
            return replace(e, terms=tuple((sign, f(t)) for sign, t in terms))
        case Product(factors=factors):
            return replace(e, factors=tuple((op, f(x)) for op, x in factors))
        case Power(base=base, exponent=exponent):
            return replace(e, base=f(base), exponent=f(exponent))
        case Compare(operands=parts) | Logic(operands=parts):
            return replace(e, operands=tuple(map(f, parts)))
        case Call(args=args):
            return replace(e, args=tuple(map(f, args)))
        case Access(items=items):
            return replace(e, items=tuple(i if isinstance(i, Dots) else f(i) for i in items))
        case Reduction(binders=binders, body=body, further=further):
            after = None if further is None else f(further)
            return replace(e, binders=tuple(rebuild_item(b, f) for b in binders), body=f(body), further=after)
        case _:
            assert_never(e)


def rebuild_item(b: Binder | Dots, f: Callable[[Expr], Expr]) -> Binder | Dots:
    """A binder with `f` applied to its extent."""
    return b if isinstance(b, Dots) or b.extent is None else replace(b, extent=f(b.extent))


def transform(e: Expr, step: Callable[[Expr], Expr | None]) -> Expr:
    """The tree with every node replaced for which `step` gives another; positions and extents stay as they are."""
    found = step(e)
    if found is not None:
        return found
    match e:
        case Access():
            return e
        case Reduction(body=body, further=further):
            return replace(e, body=transform(body, step), further=None if further is None else transform(further, step))
        case _:
            return rebuild(e, lambda x: transform(x, step))


def integer(e: Expr) -> int | None:
    """The value of an integer literal, perhaps with a sign."""
    match e:
        case Number(value=int(value)):
            return value
        case Unary(op="-", operand=Number(value=int(value))):
            return -value
        case _:
            return None


def literal(e: Expr) -> int | Fraction | None:
    """The value of a literal, perhaps with a sign."""
    sign, e = (-1, e.operand) if isinstance(e, Unary) and e.op == "-" else (1, e)
    return sign * e.value if isinstance(e, Number) else None


def rounded(e: Expr) -> Expr:
    """A number of elements, which is a whole one: with the integer quotient in place of each quotient."""
    made = rebuild(e, rounded)
    if isinstance(made, Product):
        return replace(made, factors=tuple(("//" if op == "/" else op, f) for op, f in made.factors))
    return made
