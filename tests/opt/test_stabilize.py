"""Naive formulas become stable ones, and it is said which and why."""

from __future__ import annotations

import itertools
import math

import pytest

from opgen.ir import text
from opgen.ir.formula import scalar
from opgen.ir.functions import FUNCTIONS
from opgen.ir.interp import array, run
from opgen.ir.operator import Flags, Variant
from opgen.ir.program import Compute, Program
from opgen.ir.scalar import Apply, Index, Param, Read, Scalar, substitute, walk
from opgen.ir.verify import verify
from opgen.opt.derive import derive_variant
from opgen.opt.stabilize import RULES, Rule, describe, stabilize
from tests.diff.programs import axes, program, tensor
from tests.diff.samples import samples
from tests.lower.specs import elementwise
from tests.lower.specs import program as spec_program


def pointwise(formula: str) -> Program:
    body = substitute(scalar(formula, ("x",)), {Param("x"): Read("x", (axes("...")[0],))})  # type: ignore[arg-type]
    return program([tensor("x", "...")], [Compute("y", axes("..."), body)])


CASES = {
    "log(1 + exp(x))": "softplus(x)",
    "log(exp(x) + 1)": "softplus(x)",
    "log(1 + exp(-x))": "softplus(-x)",
    "1/(1 + exp(-x))": "sigmoid(x)",
    "3/(1 + exp(2*x))": "3*sigmoid(-2*x)",
    "1/(1 + exp(-x))**2": "sigmoid(x)**2",
    "x/square(1 + exp(x))": "x*square(sigmoid(-x))",
    "2*(1 + exp(-x))**-3": "2*sigmoid(x)**3",
    "rsqrt(1 + exp(-x))": "sqrt(sigmoid(x))",
    "exp(-x)/(1 + exp(-x))**3": "sigmoid(-x)*sigmoid(x)**2",
    "exp(x)*sigmoid(-x)": "sigmoid(x)",
    "exp(x**2)*erfc(x)": "erfcx(x)",
    "3*erfc(x)*exp(square(x))": "3*erfcx(x)",
    "log(sinh(x))": "x + log1mexp(2*x) - log(2)",
    "log(exp(lgamma(x)))": "lgamma(x)",
    "x - log(1 + exp(x))": "-softplus(-x)",
    "log10(exp(-x) + 1)": "softplus(-x)/log(10)",
    "log(0.5*(1 + erf(x)))": "where(-x > 0, log(erfcx(-x)/2) - (-x)**2, log1p(-erfc(x)/2))",
    "exp(x)/(exp(x) + 1)": "sigmoid(x)",
    "x/(1 + exp(-x))": "silu(x)",
    "exp(x) - 1": "expm1(x)",
    "1 - cos(x)": "2*square(sin(x/2))",
    "sigmoid(x) - sigmoid(2*x)": "sigmoid(x)*sigmoid(-(2*x)) - sigmoid(-x)*sigmoid(2*x)",
    "log(1 + x)": "log1p(x)",
    "0.5*(1 + erf(x))": "0.5*erfc(-x)",
    "1 - erf(x)": "erfc(x)",
    "log(sigmoid(x))": "logsigmoid(x)",
    "log(1/(1 + exp(-x)))": "logsigmoid(x)",
    "1 - 1/(1 + exp(-x))": "sigmoid(-x)",
    "log(1 - exp(-x))": "log1mexp(x)",
    "(exp(x) - exp(-x))/(exp(x) + exp(-x))": "tanh(x)",
    "sin(x)/x": "sinc(x/pi)",
    "sqrt(x**2 + (3*x)**2)": "hypot(x, 3*x)",
    "exp(x)/(1 + exp(x))**2": "sigmoid(x)*sigmoid(-x)",
    "2/(1 + exp(-2*x)) - 1": "where(abs(2*x) < 1, tanh(2*x/2), abs(sigmoid(2*x)) - sigmoid(-(2*x)))",
    "sigmoid(x) - sigmoid(-x)": "tanh(x/2)",
    "log(exp(x) - 1)": "x + log1mexp(x)",
    "1 - tanh(x)**2": "1/cosh(x)**2",
    "sinh(x)/cosh(x)**2": "tanh(x)/cosh(x)",
    "(1 - cos(x))/x**2": "0.5*square(sinc(x/(2*pi)))",
}


@pytest.mark.parametrize("naive", CASES)
def test_naive_formulas_are_rewritten(naive: str) -> None:
    p, applied = stabilize(pointwise(naive))
    assert text.scalar(p.statements[0].body).replace("[...]", "") == CASES[naive]
    assert applied
    assert all(describe(r).startswith("y: ") for r in applied)


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.pattern)
def test_rules_do_not_change_values(rule: object) -> None:
    assert hasattr(rule, "pattern")
    assert hasattr(rule, "result")
    from tests.ir.test_functions import evaluate

    for x, y in ((0.7, 0.4), (0.2, 1.3)):
        values = {"x": x, "y": y}
        reads = {Param(n): Read(n, ()) for n in values}
        left = evaluate(substitute(scalar(rule.pattern, ("x", "y")), reads), values)  # type: ignore[arg-type]
        right = evaluate(substitute(scalar(rule.result, ("x", "y")), reads), values)  # type: ignore[arg-type]
        assert left == pytest.approx(right, rel=1e-12)


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.pattern)
def test_rules_keep_values_at_infinity_and_pass_on_nan(rule: Rule) -> None:
    from tests.ir.test_functions import evaluate

    pattern, result = (scalar(e, ("x", "y")) for e in (rule.pattern, rule.result))
    special = (-math.inf, -1.5, 0.0, 1.5, math.inf, math.nan)
    for x, y in itertools.product(special, special if Param("y") in walk(pattern) else (1.5,)):
        values = {"x": x, "y": y}
        reads: dict[Scalar, Scalar] = {Param(n): Read(n, ()) for n in values}
        left, right = (evaluate(substitute(e, reads), values) for e in (pattern, result))
        if not math.isnan(left):
            assert left == pytest.approx(right, rel=1e-12), values
        elif math.isnan(x) or math.isnan(y):
            assert math.isnan(right), values


@pytest.mark.parametrize(
    ("sample", "op"),
    [
        ("spelled_softmax", "softmax"),
        ("spelled_logsumexp", "logsumexp"),
        ("spelled_norm", "norm"),
        ("layer_norm", "var"),
    ],
)
def test_spelled_out_reductions_are_recognised(sample: str, op: str) -> None:
    p, applied = stabilize(samples()[sample])
    assert op in [s.op for s in p.statements if isinstance(s, Compute)]
    assert applied


@pytest.mark.parametrize(
    ("body", "op", "outer", "becomes"),
    [
        ("exp(x)", "mean", "log(x)", "logsumexp"),
        ("x**2", "sum", "x**0.5", "norm"),
    ],
)
def test_functions_of_reductions_are_recognised(body: str, op: str, outer: str, becomes: str) -> None:
    def at(formula: str, r: Read) -> Scalar:
        return substitute(scalar(formula, ("x",)), {Param("x"): r})

    k = axes("k")
    inner = Compute("part", (), at(body, Read("x", (Index("k"),))), op, k)
    p = program([tensor("x", "K")], [inner, Compute("y", (), at(outer, Read("part", ())))])
    found, applied = stabilize(p)
    assert becomes in [s.op for s in found.statements if isinstance(s, Compute)]
    assert len(applied) == 1
    x = array([0.5, -1.0, 2.0])
    assert run(found, {"x": x})["y"].data[0] == pytest.approx(run(p, {"x": x})["y"].data[0], rel=1e-12)


def test_exact_turns_it_off() -> None:
    d = derive_variant(Variant((), pointwise("log(1 + exp(x))")), Flags(exact=True))
    assert d.rewrites == ()
    assert "log(exp(x[...]) + 1)" in text.program(d.forward) or "log(1 + exp(x[...]))" in text.program(d.forward)


@pytest.mark.parametrize(
    "naive",
    [
        *("log(1 + exp(x))", "x*tanh(log(1 + exp(x)))", "x/(1 + exp(-x))", "log(cosh(x))", "1/(1 + exp(-x))**2"),
        *(
            "1/cosh(x)",
            "1/cosh(x)**2",
            "x/(1 + exp(x))**3",
            "1/square(1 + exp(-x))",
            "(1 + exp(-x))**-2",
            "exp(-x)/(1 + exp(-x))**3",
        ),
    ],
)
def test_gradients_of_naive_formulas_are_finite_everywhere(naive: str) -> None:
    d = derive_variant(Variant((), pointwise(naive)), Flags())
    assert d.gradient
    x = array([-800.0, -90.0, 0.0, 90.0, 800.0])
    results = run(d.gradient, {"x": x, "grad_y": array([1.0] * 5)})
    assert all(math.isfinite(v) for v in results["grad_x"].data)


def test_rules_only_name_functions_of_the_table() -> None:
    for rule in RULES:
        for node in walk(scalar(rule.result, ("x", "y"))):
            if isinstance(node, Apply):
                assert node.fn in FUNCTIONS


def test_a_copy_of_a_result_leaves_the_result() -> None:
    p = spec_program(elementwise("s[i] = softmax[i](x[i])\ny[i] = s[i]", "{x: {shape: [N]}}", "outputs: [s, y]"))
    assert [s.target for s in verify(stabilize(p)[0]).statements] == ["s", "y"]
