"""The only door into sympy: one scalar body in, its partial derivatives out as scalars.

sympy sees polynomials and quotients of opaque real symbols. Everything else, `exp` and `sqrt` included, is a function
class of our own whose derivative comes from the function table, so that sympy's rewriting of elementary functions
never applies. Forward programs do not come through here. The order of factors and terms is decided on the way back by
where things first stand in the body, so the same body gives the same text everywhere; a sum of the body comes back as
it stands there, because another order rounds otherwise: the small term of `a - b + 1e-6` is lost in `a + 1e-6 - b`.

sympy is imported inside functions because a run that finds everything up to date must not pay for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any, assert_never

from opgen.diff.algebra import literal, product, quotient, total
from opgen.ir.formula import scalar as formula
from opgen.ir.functions import FUNCTIONS
from opgen.ir.numbers import is_short_power
from opgen.ir.program import Function
from opgen.ir.scalar import (
    INF,
    NAN,
    ONE,
    Apply,
    Cast,
    Const,
    Dim,
    Index,
    Lit,
    Param,
    Read,
    Scalar,
    is_exact_test,
    is_number,
    walk,
    where,
)

# sympy has no types that would help here: its expressions are `Any` in this module and nowhere else.
Expr = Any


def differentiate(body: Scalar, wrt: Sequence[Read], functions: Sequence[Function]) -> tuple[Scalar, ...]:
    """The partial derivative of `body` with respect to each access."""
    from sympy.core.parameters import distribute

    with distribute(False):
        algebra = _Algebra(functions)
        expression = algebra.enter(body)
        return tuple(algebra.leave(expression.diff(algebra.symbol(r))) for r in wrt)


@cache
def _function_class(name: str) -> type[Any]:
    """The sympy class that stands for one function; instances know the algebra that gives the derivative."""
    import sympy

    def fdiff(self: Expr, argindex: int = 1) -> Expr:
        return _current().derivative(name, self.args, argindex - 1)

    def by_branch(self: Expr, symbol: Expr) -> Expr:
        condition, a, b = self.args
        return _choice(condition, a.diff(symbol), b.diff(symbol))

    members: dict[str, object] = {"fdiff": fdiff, "is_extended_real": True, "is_finite": True}
    if name == "where":
        members["_eval_derivative"] = by_branch
    return type(f"f_{name}", (sympy.Function,), members)


def _choice(condition: Expr, a: Expr, b: Expr) -> Expr:
    return a if a == b else _function_class("where")(condition, a, b)


_ACTIVE: list[_Algebra] = []


def _current() -> _Algebra:
    return _ACTIVE[-1]


class _Algebra:
    """The correspondence between scalars and symbols of one body."""

    def __init__(self, functions: Sequence[Function]) -> None:
        self.functions = {f.name: f for f in functions}
        self.symbols: dict[Scalar, Expr] = {}
        self.leaves: dict[Expr, Scalar] = {}
        self.sums: dict[Expr, Scalar] = {}
        _ACTIVE[:] = [self]

    def symbol(self, leaf: Scalar) -> Expr:
        import sympy

        found = self.symbols.get(leaf)
        if found is None:
            found = sympy.Symbol(f"s{len(self.symbols):04d}", real=True)
            self.symbols[leaf] = found
            self.leaves[found] = leaf
        return found

    # --- into sympy --------------------------------------------------------------------------------------------------

    def enter(self, e: Scalar, known: dict[Scalar, Expr] | None = None) -> Expr:
        """The expression of a scalar; `known` gives what stands for the arguments of a table formula."""
        import sympy

        if known is not None and e in known:
            return known[e]
        match e:
            case Lit(value) if is_number(e):
                return sympy.Rational(Fraction(value).numerator, Fraction(value).denominator)
            case Lit() | Const() | Param() | Dim() | Index() | Read():
                return self.symbol(e)
            case Apply() if is_exact_test(e) or _is_infinite(e):
                return self.symbol(e)
            case Cast(arg, like):
                return _function_class(f"cast {like}")(self.enter(arg, known))
            case Apply(fn, args):
                made = self.apply(fn, [self.enter(a, known) for a in args])
                if known is None and fn in ("add", "sub") and made.is_Add:
                    self.sums.setdefault(made, e)
                return made
            case _:
                assert_never(e)

    def apply(self, fn: str, args: list[Expr]) -> Expr:
        import sympy

        match fn:
            case "add":
                return sympy.Add(*args)
            case "mul":
                return sympy.Mul(*args)
            case "sub":
                return args[0] - args[1]
            case "neg":
                return -args[0]
            case "div" if not args[1].is_zero:
                return args[0] / args[1]
            case "pow" if args[1].is_Integer and (args[1] >= 0 or not args[0].is_zero) and _is_short(*args):
                return args[0] ** args[1]
            case "max" | "min" if len(args) != 2:
                return args[0] if len(args) == 1 else self.apply(fn, [self.apply(fn, args[:-1]), args[-1]])
            case _:
                return _function_class(fn)(*args)

    def derivative(self, name: str, args: Sequence[Expr], k: int) -> Expr:
        """The derivative of a function with respect to its k-th argument, at sympy arguments."""
        import sympy

        if name.startswith("cast "):
            return sympy.Integer(1)
        own = self.functions.get(name)
        if own is not None:
            params, partial = own.params, own.partials[k]
        else:
            row = FUNCTIONS[name]
            if row.derivatives is None:
                return sympy.Integer(0)
            params, partial = row.args, formula(row.derivatives[k], row.args)
        known: dict[Scalar, Expr] = {Param(p): a for p, a in zip(params, args, strict=True)}
        return self.enter(partial, known)

    # --- out of sympy ------------------------------------------------------------------------------------------------

    def leave(self, e: Expr) -> Scalar:
        import sympy

        if e in self.leaves:
            return self.leaves[e]
        if e in self.sums:
            return self.sums[e]
        if e.is_Rational:
            return literal(Fraction(int(e.p), int(e.q)))
        if e is sympy.S.Infinity or e is sympy.S.NegativeInfinity:
            return INF if e is sympy.S.Infinity else product(Lit(-1), INF)
        if e is sympy.S.NaN or e is sympy.S.ComplexInfinity:
            return NAN
        if e.is_Add:
            return total(self.leave(a) for a in self.ordered(e.args))
        if e.is_Mul or e.is_Pow:
            return self.leave_product(e)
        name = type(e).__name__.removeprefix("f_")
        args = tuple(self.leave(a) for a in e.args)
        if name.startswith("cast "):
            return Cast(args[0], name.removeprefix("cast "))
        return where(*args) if name == "where" else Apply(name, args)

    def leave_product(self, e: Expr) -> Scalar:
        top: list[Scalar] = []
        bottom: list[Scalar] = []
        coefficient = Fraction(1)
        for factor in self.ordered(e.args) if e.is_Mul else [e]:
            if factor.is_Rational:
                coefficient *= Fraction(int(factor.p), int(factor.q))
            elif factor.is_Pow and factor.exp.is_Integer and factor.exp < 0:
                bottom.append(_integer_power(self.leave(factor.base), -int(factor.exp)))
            elif factor.is_Pow:
                top.append(_integer_power(self.leave(factor.base), int(factor.exp)))
            else:
                top.append(self.leave(factor))
        return (
            quotient(coefficient, top, bottom)
            if not _selects(top)
            else product(*top, quotient(coefficient, [], bottom))
        )

    def ordered(self, args: Sequence[Expr]) -> list[Expr]:
        """By the first symbol in the body that a term holds, then by sympy's own total order."""
        from sympy.core.sorting import default_sort_key

        return sorted(args, key=lambda a: (self.first_symbol(a), default_sort_key(a)))

    def first_symbol(self, e: Expr) -> str:
        return min((s.name for s in e.free_symbols), default="~")


_LONG_POWER = 64  # sympy raises the numbers of a product that is raised


def _is_short(base: Expr, exponent: Expr) -> bool:
    """Can sympy hold a power without forming a number of very many digits?"""
    if base.is_Rational:
        return is_short_power(Fraction(int(base.p), int(base.q)), int(exponent))
    return bool(base.is_Symbol or abs(exponent) <= _LONG_POWER)


def _is_infinite(e: Apply) -> bool:
    """Is this arithmetic of constants with an infinity or nan, which cancels nothing?"""
    if e.fn not in ("add", "sub", "mul", "div"):
        return False
    nodes = tuple(walk(e))
    return (INF in nodes or NAN in nodes) and all(isinstance(n, Lit | Const | Apply) for n in nodes)


def _selects(top: list[Scalar]) -> bool:
    return any(isinstance(f, Apply) and f.fn == "where" for f in top)


def _integer_power(base: Scalar, exponent: int) -> Scalar:
    return base if exponent == 1 else ONE if exponent == 0 else Apply("pow", (base, Lit(exponent)))
