"""Conditions over indices and sizes: taken apart into facts, and decided where they hold for every size."""

from __future__ import annotations

from collections.abc import Iterator

from opgen.ir.arithmetic import either, negation_of
from opgen.ir.polynomial import Polynomial, number, polynomial
from opgen.ir.ranges import Facts, is_nonnegative
from opgen.ir.scalar import Apply, Batch, Dim, Index, Lit, Param, Read, Scalar, both, transform, where

_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_INTEGER = ("add", "sub", "mul", "neg", "floordiv", "mod")


def conjuncts(condition: Scalar) -> Iterator[Scalar]:
    """The conditions that all hold where `condition` does."""
    stack = [condition]
    while stack:
        match stack.pop():
            case Apply("and", args):
                stack += args[::-1]
            case Apply("not", (Apply("or", args),)):
                stack += [negation_of(a) for a in args[::-1]]
            case Apply("not", (Apply("ne", args),)):
                yield Apply("eq", args)
            case Lit(True):
                pass
            case c:
                yield c


def is_integer(e: Scalar, integers: frozenset[str]) -> bool:
    """Whether a scalar is made of indices, sizes, integers, and the params and tensors that are `integers`."""
    match e:
        case Index() | Dim():
            return True
        case Lit(value):
            return isinstance(value, int)
        case Param(name) | Read(name):
            return name in integers
        case Apply(fn, args):
            return fn in _INTEGER and all(is_integer(a, integers) for a in args)
        case _:
            return False


def decided(e: Scalar, facts: Facts) -> Scalar:
    """The scalar with conditions on indices that always or never hold replaced, and positions in normal form."""

    def step(node: Scalar) -> Scalar:
        match node:
            case Apply(fn, (a, b)) if fn in _COMPARISONS and _are_integers(a, b, facts):
                left, right = polynomial(a), polynomial(b)
                known = compared(fn, left, right, facts)
                return Apply(fn, (left.scalar(), right.scalar())) if known is None else Lit(known)
            case Apply("and", (first, *rest)):
                for other in rest:
                    first = both(first, other)
                return first
            case Apply("or", (first, *rest)):
                for other in rest:
                    first = either(first, other)
                return first
            case Apply("not", (a,)):
                return negation_of(a)
            case Apply("where", (condition, a, b)):
                return where(condition, a, b)
            case Read(tensor, at, fill):
                return Read(tensor, tuple(p if isinstance(p, Batch) else _normal(p) for p in at), fill)
            case _:
                return node

    return transform(e, step)


def _normal(p: Scalar) -> Scalar:
    return polynomial(p).scalar() if isinstance(p, Apply) else p


def _are_integers(a: Scalar, b: Scalar, facts: Facts) -> bool:
    return is_integer(a, facts.integers) and is_integer(b, facts.integers)


def compared(fn: str, a: Polynomial, b: Polynomial, facts: Facts) -> bool | None:
    """What a comparison of integers always gives; None where that depends."""
    if fn in ("gt", "ge"):
        return compared("lt" if fn == "gt" else "le", b, a, facts)
    if fn == "ne":
        equal = compared("eq", a, b, facts)
        return None if equal is None else not equal
    difference = b - a
    more, less = is_nonnegative(difference - number(1), facts), is_nonnegative(-difference - number(1), facts)
    if fn == "eq":
        return False if more or less else (True if not difference.terms else None)
    if fn == "lt":
        return True if more else (False if less or is_nonnegative(-difference, facts) else None)
    return False if less else (True if more or is_nonnegative(difference, facts) else None)
