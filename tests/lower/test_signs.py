"""Values that are 0, or no numbers, because of a sign: what is told, and what is left alone."""

from __future__ import annotations

import pytest

from opgen.diagnostics.model import Severity
from tests.diagnostics.cures import diagnosed, whole

FIELDS = """\
inputs:
  x: {shape: [N]}
  s: {shape: [N], domain: s > 0}
  u: {shape: [N], domain: 0 <= u <= 1}
  v: {shape: [N], domain: v < 0.9}
  seed: {dtype: seed}
params: {f: {type: float, default: 1, domain: f >= 0}, w: {type: float, default: 1}}
"""


def told(*lines: str) -> list[tuple[str, tuple[str, ...]]]:
    found = diagnosed(whole(FIELDS, *lines))
    assert all(d.severity is Severity.WARNING for d in found)
    return [(d.message, d.hints) for d in found if d.code == "OPG284"]


@pytest.mark.parametrize(
    ("formula", "what", "meant"),
    [
        ("relu(-abs(x[n]) - f)", "is 0 everywhere", ("relu(abs(x[n]) - f)", "relu(f - abs(x[n]))")),
        ("relu(-square(x[n]) - 1)", "is 0 everywhere", ("relu(square(x[n]) - 1)", "relu(1 - square(x[n]))")),
        ("relu(-s[n]-(f + 1))", "is 0 everywhere", ("relu(s[n]-(f + 1))",)),
        ("relu(-abs(x[n]))", "is 0 everywhere", ("relu(-x[n])",)),
        ("max(0, -abs(x[n] - f))", "is 0 everywhere", ("max(0, -(x[n] - f))",)),
        ("relu(-2*abs(x[n])/3)", "is 0 everywhere", ()),
        ("relu(-(abs(x[n]) + f))", "is 0 everywhere", ()),
        ("max(0, -x[n]**2)", "is 0 everywhere", ()),
        ("relu(-hypot(x[n], 1) - f)", "is 0 everywhere", ("relu(hypot(x[n], 1) - f)", "relu(f - hypot(x[n], 1))")),
        ("relu(-norm[i](x[i]))", "is 0 everywhere", ()),
        ("sqrt(1 - exp(1) - x[n]**2)", "is nan, or 0", ()),
        ("log(sin(1) - sqrt(2)*1.5 - abs(x[n]))", "is nan, or -inf", ()),
        ("sqrt(-square(x[n]))", "is nan, or 0", ("sqrt(square(x[n]))",)),
        ("log(-f*exp(x[n]))", "is nan, or -inf", ("log(f*exp(x[n]))",)),
    ],
)
def test_what_has_the_wrong_sign_is_told(formula: str, what: str, meant: tuple[str, ...]) -> None:
    ((message, hints),) = told(f"y[n < N] = {formula}")
    assert message == f"`{formula}` {what}: what is in it is never above 0"
    assert hints == ((f"write {', or '.join(f'`{m}`' for m in meant)}",) if meant else ())
    assert not any(told(f"y[n < N] = {m}") for m in meant)


@pytest.mark.parametrize(
    ("formula", "what", "meant"),
    [
        ("log10(-2.5*s[n])", "is nan, or -inf", ("-2.5*log10(s[n])", "log10(2.5*s[n])")),
        ("f + log10(-2.5*s[n]/3)", "is nan, or -inf", ("(-2.5*log10(s[n]/3))", "log10(2.5*s[n]/3)")),
        ("log10(-2.5 * s[n]) - w", "is nan, or -inf", ("-2.5*log10(s[n])", "log10(2.5 * s[n])")),
        ("log2(-3*(s[n] + 1))**2", "is nan, or -inf", ("(-3*log2((s[n] + 1)))", "log2(3*(s[n] + 1))")),
        ("log(u[n] - 2)", "is nan, or -inf", ("log(2 - u[n])",)),
        ("sqrt(u[n] - 1.5)", "is nan, or 0", ("sqrt(1.5 - u[n])",)),
        ("log(v[n] - 1)", "is nan, or -inf", ("log(1 - v[n])",)),
    ],
)
def test_roots_of_inputs_within_their_domains_are_told(formula: str, what: str, meant: tuple[str, ...]) -> None:
    ((message, hints),) = told(f"y[n] = {formula}")
    call = formula.removeprefix("f + ").removesuffix(" - w").removesuffix("**2")
    assert message == f"`{call}` {what}: what is in it is never above 0"
    assert hints == (f"write {', or '.join(f'`{m}`' for m in meant)}",)
    for m in meant:
        assert not told(f"y[n] = {formula.replace(call, m)}")


def test_a_logarithm_of_1_more_than_what_is_below_minus_1_is_told() -> None:
    message = "`log1p(u[n] - 3)` is nan, or -inf: what is in it is never above -1"
    assert told("y[n] = log1p(u[n] - 3)") == [(message, ())]
    assert not told("y[n] = log1p(-s[n])")
    assert not told("y[n] = log1p(-u[n])")


def test_the_least_of_0_and_what_is_never_below_is_told() -> None:
    assert told("y[n] = min(abs(x[n]), 0)") == [
        ("`min(abs(x[n]), 0)` is 0 everywhere: what is in it is never below 0", ())
    ]


def test_what_a_name_holds_is_looked_up() -> None:
    ((message, _),) = told("t[n] = -abs(x[n])", "y[n] = relu(t[n] - f)")
    assert message.startswith("`relu(t[n] - f)` is 0 everywhere")


def test_a_value_less_itself_is_told_with_another_index() -> None:
    ((message, hints),) = told("y = sum[i, j](square(x[i] - x[i])*s[j])")
    assert message == "`x[i] - x[i]` is 0 wherever it is a number"
    assert hints == ("write `x[i] - x[j]`",)
    assert told("y[n] = x[n] - x[n]") == [("`x[n] - x[n]` is 0 wherever it is a number", ())]


@pytest.mark.parametrize(
    ("formula", "what", "meant"),
    [
        ("log(sigmoid(x[n]) - 1)", "is nan, or -inf", "log(1 - sigmoid(x[n]))"),
        ("sqrt(tanh(x[n])**2-1)", "is nan, or 0", "sqrt(1-tanh(x[n])**2)"),
        ("relu(2*sin(x[n]) - 2)", "is 0 everywhere", "relu(2 - 2*sin(x[n]))"),
        ("relu(cos(x[n])*sin(x[n]) - 1)", "is 0 everywhere", "relu(1 - cos(x[n])*sin(x[n]))"),
        ("relu(erf(x[n])/2 - 0.5)", "is 0 everywhere", "relu(0.5 - erf(x[n])/2)"),
        ("relu(min(x[n], 1) - 1)", "is 0 everywhere", "relu(1 - min(x[n], 1))"),
        ("log(1 - cosh(x[n]))", "is nan, or -inf", "log(cosh(x[n]) - 1)"),
        ("log(uniform(seed) - 1)*x[n]", "is nan, or -inf", "log(1 - uniform(seed))"),
        ("relu(max[i](sigmoid(x[i])) - 1)", "is 0 everywhere", "relu(1 - max[i](sigmoid(x[i])))"),
    ],
)
def test_what_lies_beyond_0_is_told(formula: str, what: str, meant: str) -> None:
    ((message, hints),) = told(f"y[n < N] = {formula}")
    assert message == f"`{formula.removesuffix('*x[n]')}` {what}: what is in it is never above 0"
    assert hints == (f"write `{meant}`",)
    assert not told(f"y[n < N] = {meant}")


@pytest.mark.parametrize(
    ("formula", "what", "meant"),
    [
        ("log(p[n]/(p[n] - 1))", "is no finite number", "log(p[n]/(1 - p[n]))"),
        ("log((p[n] - 1)/p[n])", "is no finite number", "log((1 - p[n])/p[n])"),
        ("sqrt(p[n]/(p[n] - 1))", "is 0, or no finite number", "sqrt(p[n]/(1 - p[n]))"),
        ("relu(-abs(x[n])/s[n])", "is 0 wherever it is finite", ""),
    ],
)
def test_quotients_by_what_may_round_to_0_are_told_where_they_are_finite(formula: str, what: str, meant: str) -> None:
    share = "p[n] = sigmoid(x[n])"
    ((message, hints),) = told(share, f"y[n] = {formula}")
    assert message == f"`{formula}` {what}: what is in it is never above 0 where it is finite"
    assert hints == ((f"write `{meant}`",) if meant else ())
    assert not meant or not told(share, f"y[n] = {meant}")


@pytest.mark.parametrize(
    "formula",
    [
        "relu(x[n])",
        "relu(-x[n])",
        "relu(u[n] - 1)",  # which holds back what is beyond the domain
        "log(u[n] - 1 + w)",
        "log(v[n] - 0.8)",
        "log2(-2.5*x[n])",
        "relu(-abs(x[n]) + f)",
        "relu(f - abs(x[n]))",
        "relu(-abs(x[n]) - w)",
        "relu(abs(x[n]) - abs(x[n]) - f)",  # of which rounding may leave something
        "max(min(-abs(x[n])/s[n], 1), 0)",  # of infinity it may be 1
        "relu(0.1*sin(x[n]) - 0.1)",  # which rounding may move
        "log(sigmoid(x[n]) - 0.5)",
        "log(exp(x[n]) - 1)",
        "log(x[n] - 1)",
        "relu(s[n] - 1)",
        "relu(min[i](sigmoid(x[i])) - 1)*x[n]",  # of nothing it is inf
        "sqrt(1 - x[n]**2)",
        "sqrt(exp(1) - 2 - x[n]**2)",
        "sqrt(cos(0) - 1 - x[n]**2)",  # which rounding may move
        "relu(uniform(seed) - 0.5)*x[n]",
        "max(-abs(x[n]), f)",
        "max(-f, 0)*x[n]",  # of params alone
        "min(-abs(x[n]), 0)",
        "sqrt(-log(s[n]))",
        "x[n] - detach(x[n])",
        "x[n] + s[n] - x[n]",
        "normal(seed) - normal(seed) + x[n]",
        "(n - n)*x[n]",
        "real(sqrt(-square(complex(x[n], s[n]))))",
    ],
)
def test_what_may_be_something_is_not(formula: str) -> None:
    assert not told(f"y[n] = {formula}")


def test_each_value_of_a_long_chain_is_looked_at_once() -> None:
    chain = [f"t{k}[n] = t{k - 1}[n]*t{k - 1}[n] + t{k - 1}[n]/s[n]" for k in range(1, 60)]
    assert not told("t0[n] = x[n]", *chain, "y[n] = relu(t59[n])")
