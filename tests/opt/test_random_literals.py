"""Rewrites against the interpreter on random points: every rule of the table around and inside random literals.

Powers, quotients and signs of literals stand where a formula of a spec could have them: as coefficients of variables,
in their place, and around the pattern. A rewrite that mistakes one for another changes the value.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import pytest

from opgen.ir import text
from opgen.ir.formula import scalar
from opgen.ir.interp import array, run
from opgen.ir.program import Compute, Output, Program, Tensor
from opgen.ir.scalar import Apply, Lit, Param, Read, Scalar, add, div, mul, neg, power, sub, substitute
from opgen.opt.simplify import tidy
from opgen.opt.spelling import spell_alike
from opgen.opt.stabilize import RULES, Rule, stabilize

X, Y = Read("x", ()), Read("y", ())
DRAWS = 40  # of literals, for each rule
POINTS = 3

Draw = Callable[[random.Random], Scalar]
LITERALS: tuple[Draw, ...] = (
    lambda r: Lit(r.choice((1, 2, 3, -1, -2, -3))),
    lambda r: Lit(Fraction(r.choice((1, 3, -5, 7)), r.choice((2, 4, 8)))),
    lambda r: Lit(Fraction(r.choice((1, 2, 3, -2)))),
    lambda r: power(Lit(r.choice((2, 3, -2))), Lit(r.choice((2, 3)))),
    lambda r: power(Lit(Fraction(3, 2)), Lit(r.choice((2, 3, -1, -2)))),
    lambda r: div(Lit(r.choice((1, 2, -4))), Lit(r.choice((3, 7)))),
    lambda r: div(Lit(1), power(Lit(2), Lit(r.choice((2, 3))))),
    lambda r: neg(power(Lit(2), Lit(2))),
    lambda r: power(div(Lit(1), Lit(3)), Lit(2)),
)
ARGUMENTS: tuple[Callable[[Scalar, Scalar, Scalar], Scalar], ...] = (
    lambda v, a, b: v,
    lambda v, a, b: neg(v),
    lambda v, a, b: a,
    lambda v, a, b: neg(a),
    mul,
    lambda v, a, b: mul(v, a),
    lambda v, a, b: div(v, a),
    lambda v, a, b: div(mul(a, v), b),
    lambda v, a, b: add(mul(a, v), b),
    lambda v, a, b: sub(b, div(v, a)),
)
AROUND: tuple[Callable[[Scalar, Scalar, Scalar], Scalar], ...] = (
    lambda e, a, b: e,
    lambda e, a, b: mul(a, e),
    lambda e, a, b: div(e, a),
    lambda e, a, b: div(mul(e, a), b),
    lambda e, a, b: mul(X, a, e, b),
    lambda e, a, b: div(div(mul(a, Y), b), div(Lit(1), e)),
    lambda e, a, b: sub(mul(a, e), b),
    lambda e, a, b: sub(a, e),
    lambda e, a, b: power(e, Lit(2)),
)


def literal(r: random.Random) -> Scalar:
    return r.choice(LITERALS)(r)


def drawn(rule: Rule, r: random.Random) -> Scalar:
    """The pattern of a rule with random arguments, inside a random formula."""
    variables = {Param("x"): X, Param("y"): Y}
    known = {p: r.choice(ARGUMENTS)(v, literal(r), literal(r)) for p, v in variables.items()}
    return r.choice(AROUND)(substitute(scalar(rule.pattern, ("x", "y")), known), literal(r), literal(r))


def program(e: Scalar) -> Program:
    inputs = (Tensor("x", ()), Tensor("y", ()))
    return Program("f", inputs, (), (), (Compute("out", (), e),), (Output("out", "out", ()),))


def value(p: Program, x: float, y: float) -> float:
    return float(run(p, {"x": array(x), "y": array(y)})["out"].data[0])


def same(e: Scalar, changed: Program, r: random.Random) -> int:
    """How many random points could tell; they must agree."""
    told = 0
    for _ in range(POINTS):
        x, y = r.uniform(0.2, 1.5), r.uniform(0.2, 1.5)
        want, found = value(program(e), x, y), value(changed, x, y)
        if math.isfinite(want) and abs(want) < 1e6:
            assert found == pytest.approx(want, rel=1e-6, abs=1e-7), f"{text.scalar(e)} at {x}, {y}"
            told += 1
    return told


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.pattern)
def test_rules_keep_values_beside_literals(rule: Rule) -> None:
    r = random.Random(rule.pattern)
    told = applied = 0
    for _ in range(DRAWS):
        e = drawn(rule, r)
        changed, done = stabilize(program(e))
        told += same(e, changed, r)
        applied += any(d.rule == rule.text for d in done)
    assert told > DRAWS // 2, "most formulas have a value"
    assert applied > DRAWS // 8, "most literals leave the pattern in place"


def grown(r: random.Random, depth: int) -> Scalar:
    """A random formula of arithmetic, mostly of literals."""
    if depth == 0:
        return r.choice((X, Y, literal(r), literal(r)))
    a, b = grown(r, depth - 1), grown(r, r.randrange(depth))
    make = r.choice((add, sub, mul, mul, div, div, lambda a, _: neg(a), lambda a, _: power(a, Lit(r.choice((2, 3))))))
    return make(a, b)


@pytest.mark.parametrize("seed", range(4))
def test_normal_forms_keep_values_of_literals(seed: int) -> None:
    r, told = random.Random(seed), 0
    for _ in range(60):
        e = Apply("sin", (grown(r, 3),))
        try:
            changed = spell_alike(tidy(program(e)))
        except Exception as error:
            raise AssertionError(text.scalar(e)) from error
        told += same(e, changed, r)
    assert told > 60
