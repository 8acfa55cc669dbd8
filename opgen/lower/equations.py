"""Statements that read what they assign at the same place, `u[t] = u[t - 1] - a*u[t]`: equations, which none solves.

In go such a statement and what it reads; out comes a message, with the statement solved for its target where it is
linear in it. Domains, in which a name stands alone, are solved in the same way: `b < 1 - a` of `a + b < 1`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from opgen.diagnostics.model import Bag, Span
from opgen.lang.nodes import (
    Access,
    Assign,
    Binder,
    Compare,
    Dots,
    Expr,
    Logic,
    Name,
    Number,
    Product,
    Sum,
    Unary,
)
from opgen.lang.slices import total
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.walk import names_read, nodes

_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_Term = tuple[int, tuple[tuple[str, Expr], ...]]  # a sign and factors, each with what stands before it


def too_early(bag: Bag, s: Assign, a: Access, before: Access, reads: Mapping[str, Sequence[str]]) -> None:
    """Tell of a statement that reads `a` at the place that it is assigned at, there or further down.

    `before`: the same at the step before; `reads`: what each statement of the recurrence reads at the same place.
    """
    back = unparse(before)
    if not _hangs_on(reads, a.name, s.target.name):
        hint = f"order the statements so that each reads earlier ones, or read one place back: `{back}`"
        bag.error("OPG219", f"`{a.name}` is read before it is assigned", a.span, hints=(hint,))
        return
    shown = unparse(a)
    if a.name != s.target.name:
        hint = (
            f"read the step before: `{back}`; what reads each other in a step are equations, and these are not solved"
        )
        message = f"`{a.name}` is read before it is assigned"
        bag.error("OPG219", message, a.span, label=f"hangs on `{s.target.name}` at the same place", hints=(hint,))
        return
    line = solved(s)
    hint = f"write `{line}`" if line else f"write it solved for `{shown}`"
    explicit = f"or read the step before, which is another scheme: `{back}`"
    message = f"`{shown}` stands on both sides: equations are not solved"
    bag.error("OPG219", message, a.span, label="not known yet", hints=(hint, explicit))


def _hangs_on(reads: Mapping[str, Sequence[str]], first: str, last: str) -> bool:
    """Whether a name reads another one at the same place, perhaps by others."""
    found, queue = {first: None}, [first]
    while queue:
        for name in reads.get(queue.pop(), ()):
            if name not in found:
                found[name] = None
                queue.append(name)
    return last in found


def solved(s: Assign) -> str | None:
    """The statement solved for its target; None where it isn't linear in it."""
    items = tuple(Name(i.name, i.span) if isinstance(i, Binder) else i for i in s.target.items or ())
    if not all(isinstance(i, Name | Dots) for i in items):
        return None
    found = _linear(s.value, Access(s.target.name, items, s.span, s.span))
    if found is None or not found[1] or not found[0]:
        return None
    rest, coefficient = found
    divisor = _total([(1, ()), *((-sign, factors) for sign, factors in coefficient)], s.value.span)
    added = _total(rest, s.value.span)
    factors = added.factors if isinstance(added, Product) else (("*", added),)
    return unparse_assign(replace(s, value=Product((*factors, ("/", divisor)), s.value.span)))


def bounded(e: Expr, name: str) -> tuple[str, tuple[str, ...]] | None:
    """Inequalities solved for a name, as one, and those of them that are not about it; None where that cannot be."""
    parts = e.operands if isinstance(e, Logic) and e.op == "and" else (e,)
    found: dict[bool, list[tuple[str, Expr]]] = {False: [], True: []}  # bounds from below, and those from above
    others: list[str] = []
    for part in parts:
        if not isinstance(part, Compare) or not {*part.ops} <= {"<", "<=", ">", ">="}:
            return None
        for left, op, right in zip(part.operands, part.ops, part.operands[1:], strict=False):
            if name not in (*names_read(left), *names_read(right)):
                others.append(unparse(Compare((left, right), (op,), e.span)))
            elif (bound := _bound(left, op, right, Name(name, e.span))) is None:
                return None
            else:
                found[bound[0][0] == "<"].append(bound)
    if not any(found.values()) or any(len({op for op, _ in bounds}) > 1 for bounds in found.values()):
        return None
    (low, least), (high, most) = (_closest(bounds, above) for above, bounds in found.items())
    if least and most:
        return f"{least} {_TURNED[low]} {name} {high} {most}", (*others,)
    return f"{name} {high or low} {most or least}", (*others,)


def _closest(bounds: Sequence[tuple[str, Expr]], above: bool) -> tuple[str, str]:
    """How a name relates to the bounds on one side, and the one of them that counts; empty where there is none."""
    shown = [unparse(value) for _, value in bounds]
    if len(shown) < 2:
        return (bounds[0][0], shown[0]) if shown else ("", "")
    return bounds[0][0], f"{'min' if above else 'max'}({', '.join(shown)})"


def _bound(left: Expr, op: str, right: Expr, own: Name) -> tuple[str, Expr] | None:
    """An inequality as that of a name and a value; None where it isn't linear in the name, or by no number."""
    at = own.span
    found = _linear(Sum((("+", left), ("-", right)), at), own)
    factor = Fraction(0) if found is None else _number(found[1])
    if found is None or not factor:
        return None
    turn = -1 if factor > 0 else 1
    value = total([(turn * sign, _whole(factors, at)) for sign, factors in map(_signed, found[0])], at)
    match value:
        case Sum(terms=((_, Number(value=0)), ("-", first), *rest)):
            least = Unary("-", first, at)
            value = Sum((("+", least), *rest), at) if rest else least
    size = abs(factor)
    if size.denominator == 1 and size != 1:
        value = Product((("*", value), ("/", Number(int(size), at))), at)
    elif size != 1:
        value = Product((("*", Number(1 / size if size.numerator > 1 else size.denominator, at)), ("*", value)), at)
    return op if factor > 0 else _TURNED[op], value


def _number(terms: Sequence[_Term]) -> Fraction | None:
    """What terms of numbers come to."""
    count = Fraction(0)
    for sign, factors in terms:
        each = Fraction(sign)
        for op, factor in factors:
            if not isinstance(factor, Number) or (op == "/" and not factor.value):
                return None
            each = each * factor.value if op == "*" else each / factor.value
        count += each
    return count


def _linear(e: Expr, own: Access | Name) -> tuple[list[_Term], list[_Term]] | None:
    """What is added in an expression, and what its own target is multiplied with; None where it isn't linear."""
    if not any(n == own for n in nodes(e)):
        return _terms(e), []
    match e:
        case Access() | Name():
            return ([], [(1, ())]) if e == own else None
        case Unary(op="-", operand=operand):
            return _times(_linear(operand, own), -1)
        case Sum(terms=terms):
            added, multiplied = list[_Term](), list[_Term]()
            for sign, term in terms:
                if (part := _times(_linear(term, own), 1 if sign == "+" else -1)) is None:
                    return None
                added += part[0]
                multiplied += part[1]
            return added, multiplied
        case Product(factors=factors):
            at = [k for k, (_, f) in enumerate(factors) if any(n == own for n in nodes(f))]
            if len(at) > 1 or any(op not in ("*", "/") for op, _ in factors) or factors[at[0]][0] == "/":
                return None
            inner = _linear(factors[at[0]][1], own)
            return _times(inner, 1, factors[: at[0]], factors[at[0] + 1 :])
        case _:
            return None


def _terms(e: Expr) -> list[_Term]:
    match e:
        case Sum(terms=terms):
            return [(s * (1 if sign == "+" else -1), f) for sign, t in terms for s, f in _terms(t)]
        case Unary(op="-", operand=operand):
            return [(-s, f) for s, f in _terms(operand)]
        case Product(factors=factors) if all(op in ("*", "/") for op, _ in factors):
            return [(1, factors)]
        case _:
            return [(1, (("*", e),))]


def _times(
    parts: tuple[list[_Term], list[_Term]] | None,
    sign: int,
    before: tuple[tuple[str, Expr], ...] = (),
    behind: tuple[tuple[str, Expr], ...] = (),
) -> tuple[list[_Term], list[_Term]] | None:
    """Both parts with a sign and with factors around them."""
    if parts is None:
        return None
    first, second = ([(sign * s, (*before, *f, *behind)) for s, f in part] for part in parts)
    return first, second


def _signed(term: _Term) -> _Term:
    """A term with the signs of its factors in front."""
    sign, factors = term
    found = list[tuple[str, Expr]]()
    for op, factor in factors:
        inner = factor
        while isinstance(inner, Unary) and inner.op == "-":
            sign, inner = -sign, inner.operand
        found.append((op, inner))
    return sign, (*found,)


def _total(terms: Sequence[_Term], at: Span) -> Expr:
    """The sum of terms, one that is added in front."""
    made = list[tuple[str, Expr]]()
    for sign, factors in sorted(map(_signed, terms), key=lambda t: -t[0]):
        made.append(("+" if sign > 0 else "-", _whole(factors, at)))
    if made[0][0] == "-":
        made[0] = ("+", Unary("-", made[0][1], at))
    return made[0][1] if len(made) == 1 else Sum(tuple(made), at)


def _whole(factors: tuple[tuple[str, Expr], ...], at: Span) -> Expr:
    """The product of factors."""
    whole = factors if factors and factors[0][0] == "*" else (("*", Number(1, at)), *factors)
    return whole[0][1] if len(whole) == 1 else Product(whole, at)
