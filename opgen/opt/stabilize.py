"""Numerically naive formulas made stable, before and after differentiation; what was done is recorded with its reason.

The table of rules is in the language of specs. Rules that look across statements (`log` of a sum of exponentials, a
quotient of an exponential and such a sum) are in `opgen.opt.recognise`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from opgen.diff.algebra import product, quotient
from opgen.ir.formula import scalar as formula
from opgen.ir.program import Program, Statement
from opgen.ir.rewrite import map_scalars
from opgen.ir.scalar import ONE, Apply, Lit, Scalar, transform, transform_rounded
from opgen.opt.dce import dce
from opgen.opt.patterns import factors_of, functions_at_root, functions_in, rewrite
from opgen.opt.recognise import recognise
from opgen.opt.series import QUOTIENTS


@dataclass(frozen=True, slots=True)
class Rule:
    """`pattern` becomes `result`, for any scalars in the place of `x` and `y`."""

    pattern: str
    result: str
    reason: str
    shown: str = ""  # what a long result is called

    @property
    def text(self) -> str:
        return f"{self.pattern} -> {self.shown or self.result}"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One application: in which statement, by which rule, why."""

    statement: str
    rule: str
    reason: str


_OVERFLOW = "the exponential overflows for large arguments"
_CANCEL = "the difference cancels"
_SQUARES = "the squares overflow and underflow"
_SINGULAR = "0/0 at 0"
_TAIL = "erfc underflows for large arguments"

RULES = (
    Rule("log(1 + exp(x))", "softplus(x)", _OVERFLOW),
    Rule("log1p(exp(x))", "softplus(x)", _OVERFLOW),
    Rule("log(-expm1(-x))", "log1mexp(x)", "accurate for small and for large arguments"),
    Rule("log1p(-exp(-x))", "log1mexp(x)", "accurate for small and for large arguments"),
    Rule("log(exp(x) + exp(y))", "logaddexp(x, y)", _OVERFLOW),
    Rule("log(sigmoid(x))", "logsigmoid(x)", "the sigmoid underflows for very negative arguments"),
    Rule(
        "log(cosh(x))",
        "where(x < 0, softplus(2*x) - x, x + softplus(-2*x)) - log(2)",
        "cosh overflows for large arguments",
    ),
    Rule("log(expm1(x))", "x + log1mexp(x)", _OVERFLOW),
    Rule("log(sinh(x))", "x + log1mexp(2*x) - log(2)", "sinh overflows for large arguments"),
    Rule("log(exp(x))", "x", _OVERFLOW),
    Rule("log1p(-sigmoid(x))", "logsigmoid(-x)", _CANCEL),
    *(Rule(f"{log}(1 + exp(x))", f"softplus(x)/log({base})", _OVERFLOW) for log, base in (("log2", 2), ("log10", 10))),
    # each branch where it is accurate: neither the value nor what is added to 1 comes close to 0 by a difference
    Rule("log(erfc(x))", "where(x > 1/2, log(erfcx(x)) - x**2, log1p(-erf(x)))", _TAIL),
    Rule("log(erfc(x)/2)", "where(x > 0, log(erfcx(x)/2) - x**2, log1p(-erfc(-x)/2))", _TAIL),
    *(Rule(f"exp({square})*erfc(x)", "erfcx(x)", _OVERFLOW) for square in ("x**2", "square(x)", "x*x")),
    Rule("log(1 + x)", "log1p(x)", "1 + x rounds a small x away"),
    Rule("exp(x)/(1 + exp(x))**2", "sigmoid(x)*sigmoid(-x)", _OVERFLOW),
    Rule("exp(x)/(1 + exp(x))", "sigmoid(x)", _OVERFLOW),
    Rule("1/(1 + exp(-x))", "sigmoid(x)", _OVERFLOW),
    Rule("exp(x)/(exp(x) + exp(y))", "sigmoid(x - y)", _OVERFLOW),
    *(Rule(f"exp(x)*sigmoid(-x)**{n}", f"sigmoid(x)*sigmoid(-x)**{n - 1}", _OVERFLOW) for n in (4, 3)),
    Rule("exp(x)*sigmoid(-x)**2", "sigmoid(x)*sigmoid(-x)", _OVERFLOW),
    Rule("exp(x)*sigmoid(-x)", "sigmoid(x)", _OVERFLOW),
    Rule("(exp(x) - exp(-x))/(exp(x) + exp(-x))", "tanh(x)", _OVERFLOW),
    *(Rule(f"sinh(x)/cosh(x)**{n}", f"tanh(x)/cosh(x)**{n - 1}", _OVERFLOW) for n in (4, 3)),
    Rule("sinh(x)/cosh(x)**2", "tanh(x)/cosh(x)", _OVERFLOW),
    Rule("sinh(x)/cosh(x)", "tanh(x)", _OVERFLOW),
    Rule("x*sigmoid(x)", "silu(x)", "one function instead of two"),
    Rule("sin(x)/x", "sinc(x/pi)", _SINGULAR),
    Rule("exp(x) - 1", "expm1(x)", _CANCEL),
    Rule("1 - sigmoid(x)", "sigmoid(-x)", _CANCEL),
    Rule("sigmoid(x) - sigmoid(-x)", "tanh(x/2)", _CANCEL),
    Rule("sigmoid(x) - sigmoid(y)", "sigmoid(x)*sigmoid(-y) - sigmoid(-x)*sigmoid(y)", _CANCEL),
    Rule("1 - cos(x)", "2*square(sin(x/2))", _CANCEL),
    Rule("1 - erf(x)", "erfc(x)", _CANCEL),
    Rule("1 + erf(x)", "erfc(-x)", "the sum cancels for negative arguments"),
    # abs: the difference does not cancel far from 0, and tells the slope there, which tanh does not
    Rule("2*sigmoid(x) - 1", "where(abs(x) < 1, tanh(x/2), abs(sigmoid(x)) - sigmoid(-x))", _CANCEL),
    Rule("1 + tanh(x)", "2*sigmoid(2*x)", "the sum cancels for negative arguments"),
    Rule("1 - tanh(x)", "2*sigmoid(-2*x)", _CANCEL),
    Rule("1 - tanh(x)**2", "1/cosh(x)**2", _CANCEL),
    # abs: the difference is none of the pattern's where it does not cancel
    Rule("sqrt(1 + x) - 1", "where(x < 1, x/(sqrt(1 + x) + 1), abs(sqrt(1 + x)) - 1)", _CANCEL),
    Rule("sqrt(x**2 + y**2)", "hypot(x, y)", _SQUARES),
    Rule("sqrt(square(x) + square(y))", "hypot(x, y)", _SQUARES),
    Rule("sqrt(x*x + y*y)", "hypot(x, y)", _SQUARES),
    Rule("square(sin(x/2))/x**2", "square(sinc(x/(2*pi)))/4", _SINGULAR),
    Rule("square(sin(x/2))/x", "sin(x/2)*sinc(x/(2*pi))/2", _SINGULAR),
    *(Rule(pattern, result, _SINGULAR, "its series near 0") for pattern, result in QUOTIENTS),
    Rule("softplus(x) - softplus(-x)", "x", _CANCEL),
    Rule("softplus(x) - x", "softplus(-x)", _CANCEL),
    Rule("exp(logsigmoid(x))", "sigmoid(x)", "one function instead of two"),
)

_VARIABLES = ("x", "y")
_RECIPROCAL = ("rsqrt", "reciprocal")
_FAMILY = {"add": "sum", "sub": "sum", "mul": "product", "div": "product", "pow": "product"}


@dataclass(frozen=True, slots=True)
class _Compiled:
    rule: Rule
    pattern: Scalar
    result: Scalar
    functions: frozenset[str]
    at_root: frozenset[str]

    @property
    def reciprocal(self) -> bool:
        """Is it about something that stands below 1?"""
        return isinstance(self.pattern, Apply) and self.pattern.fn == "div" and self.pattern.args[0] == ONE


@cache
def _compiled() -> dict[str, tuple[_Compiled, ...]]:
    """The rules by the kind of root they match."""
    table: dict[str, list[_Compiled]] = {}
    for rule in RULES:
        pattern = formula(rule.pattern, _VARIABLES)
        assert isinstance(pattern, Apply)
        result = formula(rule.result, _VARIABLES)
        made = _Compiled(rule, pattern, result, functions_in(pattern), functions_at_root(pattern))
        table.setdefault(_FAMILY.get(pattern.fn, pattern.fn), []).append(made)
    return {root: tuple(rules) for root, rules in table.items()}


def stabilize(p: Program) -> tuple[Program, tuple[Rewrite, ...]]:
    """The program as a user wrote it, with every rule applied wherever it matches, and the list of what was done."""
    found, applied = stabilize_bodies(p)
    found, log = recognise(found)
    return dce(found), (*applied, *(Rewrite(target, name, reason) for target, name, reason in log))


def stabilize_bodies(p: Program) -> tuple[Program, tuple[Rewrite, ...]]:
    """Only the rules within bodies: derivative programs are made of recognised reductions already."""
    applied: list[Rewrite] = []
    statements = tuple(_statement(s, applied) for s in p.statements)
    return replace(p, statements=statements), tuple(applied)


def _statement(s: Statement, applied: list[Rewrite]) -> Statement:
    def step(e: Scalar) -> Scalar:
        if not isinstance(e, Apply):
            return e
        return _at_root(e, s.target, applied)

    return map_scalars(s, lambda e: transform_rounded(e, step))


def _at_root(e: Scalar, target: str, applied: list[Rewrite]) -> Scalar:
    assert isinstance(e, Apply)
    candidates = _compiled().get(_FAMILY.get(e.fn, e.fn), ())
    here, at_root = functions_in(e), functions_at_root(e)
    for c in candidates:
        if not (c.at_root <= at_root and c.functions <= here):
            continue
        made = rewrite(c.pattern, c.result, e)
        if made is not None and made != e:
            applied.append(Rewrite(target, c.rule.text, c.rule.reason))
            return transform(made, lambda n: _at_root(n, target, applied) if isinstance(n, Apply) else n)
    return _powers(e, target, applied)


def _powers(e: Apply, target: str, applied: list[Rewrite]) -> Scalar:
    """`1/(1 + exp(-x))**3` as a power of what a rule makes of `1/(1 + exp(-x))`."""
    if e.fn not in ("mul", "div", "pow", *_RECIPROCAL) or "exp" not in functions_in(e):
        return e
    coefficient, top, bottom = factors_of(e)
    made: list[Scalar] = []
    left: tuple[list[Scalar], list[Scalar]] = ([], [])
    for below, factors in enumerate((top, bottom)):
        for f in factors:
            upside_down = _upside_down(f, target, applied, below=bool(below))
            (left[below] if upside_down is None else made).append(f if upside_down is None else upside_down)
    if not made:
        return e
    found = product(quotient(coefficient, [], []), *left[0], *made, quotient(1, [], left[1]))
    return _at_root(found, target, applied) if isinstance(found, Apply) else found


def _upside_down(f: Scalar, target: str, applied: list[Rewrite], *, below: bool) -> Scalar | None:
    """A power of a reciprocal that a rule recognises; `below`: the factor stands in a denominator."""
    match f:
        case Apply("pow", (base, Lit(n))) if below or n < 0:
            outer: Callable[[Scalar], Scalar] = lambda r: Apply("pow", (r, Lit(n if below else -n)))  # noqa: E731
        case Apply("square" | "sqrt" as fn, (base,)) if below:
            outer = lambda r: Apply(fn, (r,))  # noqa: E731
        case Apply("rsqrt" | "reciprocal" as fn, (base,)) if not below:
            outer = lambda r: Apply("sqrt", (r,)) if fn == "rsqrt" else r  # noqa: E731
        case _:
            return None
    for c in _compiled()["product"]:
        if c.reciprocal and c.functions <= functions_in(base):
            found = rewrite(c.pattern, c.result, quotient(1, [], [base]))
            if found is not None:
                applied.append(Rewrite(target, c.rule.text, c.rule.reason))
                return outer(found)
    return None


def describe(r: Rewrite) -> str:
    """One line for `opgen show`."""
    return f"{r.statement}: {r.rule} ({r.reason})"
