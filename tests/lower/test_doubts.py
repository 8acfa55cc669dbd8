"""Sums and softmaxes of which something else is meant: what is told, what is proposed, and what is left alone."""

from __future__ import annotations

import pytest

from opgen.diagnostics.model import Severity
from tests.diagnostics.cures import diagnosed, whole

SCORES = (
    "inputs: {s: {shape: [..., T, T]}, v: {shape: [..., T, D]}, ok: {shape: [T], dtype: bool},"
    " n: {shape: [], dtype: int}}"
)
LAYER = "inputs: {w: {shape: [O, I]}, x: {shape: [I]}, b: {shape: [O]}}\nparams: {eps: {type: float, default: 1e-6}}"
MIX = "y[..., i, d] = sum[j](p[..., i, j]*v[..., j, d])"


@pytest.mark.parametrize(
    ("inputs", "lines", "code"),
    [
        (SCORES, ["y[..., i, j] = softmax[j](where(j <= i, s[..., i, j], 0))"], "OPG268"),
        (SCORES, ["y[..., i, j] = log_softmax[j](where(ok[j], s[..., i, j], 0.0))"], "OPG268"),
        (SCORES, ["y[..., i] = logsumexp[j](where(j >= n, 0, s[..., i, j]))"], "OPG268"),
        (
            SCORES,
            ["m[..., i, j] = where(j <= i, s[..., i, j], 0)", "y[..., i, k] = softmax[k](m[..., i, k])"],
            "OPG268",
        ),
        (SCORES, ["y[..., i, d] = sum[j](softmax[j](s[..., i, j])*v[..., i, d])"], "OPG269"),
        (
            SCORES,
            ["p[..., i, j] = softmax[j](s[..., i, j])", "y[..., i, d] = sum[k](p[..., i, k]*v[..., i, d])"],
            "OPG269",
        ),
        (LAYER, ["y[o] = sum[i](w[o, i]*x[i] + b[o])"], "OPG270"),
        (LAYER, ["y[o] = tanh(sum[i](b[o] + w[o, i]*x[i]))"], "OPG270"),
        (LAYER, ["y[i] = x[i]/norm[i](x[i]) + eps"], "OPG271"),
        (LAYER, ["y[i] = 2*x[i]/sum[i](x[i]**2) + 1e-6"], "OPG271"),
        (SCORES, ["y[..., i, j] = softmax[j](where(j < i, s[..., i, j], -inf))"], "OPG280"),
        (
            SCORES,
            ["m[..., i, j] = where(ok[j] and i > j, s[..., i, j], -inf)", "y[..., i, k] = softmax[k](m[..., i, k])"],
            "OPG280",
        ),
    ],
)
def test_what_is_hardly_meant_is_told(inputs: str, lines: list[str], code: str) -> None:
    (found,) = diagnosed(whole(inputs, *lines))
    assert (found.code, found.severity) == (code, Severity.WARNING)
    proposed = found.hints[0].removeprefix("write ").removeprefix("add it to the sum: ").strip("`")
    own = proposed.partition("[")[0]
    again = [proposed if line.startswith(f"{own}[") else line for line in lines]
    assert again != lines
    assert not diagnosed(whole(inputs, *again))


@pytest.mark.parametrize(
    ("inputs", "lines"),
    [
        (SCORES, ["y[..., i, j] = softmax[j](where(s[..., i, j] > 0, s[..., i, j], 0))"]),  # a relu
        (SCORES, ["y[..., i, j] = softmax[j](where(i > 0, s[..., i, j], 0))"]),  # whole rows
        (SCORES, ["y[..., i, j] = softmax[j](where(ok[j], s[..., i, j], -inf))"]),
        (SCORES, ["y[..., i, j] = where(j <= i, softmax[j](s[..., i, j]), 0)"]),
        (SCORES, ["p[..., i, j] = softmax[j](s[..., i, j])", MIX]),
        (SCORES, ["p[..., i, j] = softmax[i](s[..., i, j])", "y[..., i, d] = sum[k](p[..., i, k]*v[..., i, d])"]),
        (LAYER, ["y[o] = sum[i](w[o, i]*x[i]) + b[o]"]),
        (LAYER, ["y[o] = sum[i](w[o, i] + b[o])"]),  # distances and the like
        (LAYER, ["y[o] = mean[i](w[o, i]*x[i] + b[o])"]),
        (LAYER, ["y[o] = sum[i](w[o, i]*x[i] + 1)"]),
        (LAYER, ["y[i] = x[i]/(norm[i](x[i]) + eps)"]),
        (LAYER, ["y[i] = log(x[i]/norm[i](x[i]) + eps)"]),
        (LAYER, ["y[i] = x[i]/2 + eps"]),
        (LAYER, ["y[i] = x[i]/norm[i](x[i]) + 1"]),
        (SCORES, ["y[..., i] = logsumexp[j](where(j < i, s[..., i, j], -inf))"]),
        (SCORES, ["y[..., i, j] = where(i == 0, 0, softmax[j](where(j < i, s[..., i, j], -inf)))"]),
        (
            SCORES,
            [
                "p[..., i, j] = softmax[j](where(j < i, s[..., i, j], -inf))",
                "y[..., i, d] = sum[j](where(j < i, p[..., i, j], 0)*v[..., j, d])",
            ],
        ),
        (LAYER, ["y[i < I] = pad(x[i - 7//2], 0)"]),
    ],
)
def test_what_may_be_meant_is_not(inputs: str, lines: list[str]) -> None:
    assert not [d.code for d in diagnosed(whole(inputs, *lines)) if d.code != "OPG240"]


MISSING = "inputs: {x: {shape: [N]}, w: {shape: [N], optional: true%s}}"


@pytest.mark.parametrize("formula", ["y[n] = x[n]/w[n]", "y[n] = x[n]*rsqrt(w[n])", "y = sum[n](x[n]*log(w[n]))"])
def test_what_is_infinite_without_an_input_is_told(formula: str) -> None:
    (found,) = diagnosed(whole(MISSING % "", formula))
    assert (found.code, found.severity) == ("OPG272", Severity.WARNING)
    assert "`w: {…, absent: 1}`" in found.hints[0]
    assert not diagnosed(whole(MISSING % ", absent: 1", formula))
    otherwise = "y[n] = x[n]" if formula.startswith("y[n]") else "y = sum[n](x[n])"
    assert not diagnosed(whole(MISSING % "", f"{formula} if given(w)", f"{otherwise} if not given(w)"))


@pytest.mark.parametrize(
    "formula", ["y[n] = x[n]/(w[n] + 1)", "y[n] = x[n] + w[n]", "y[n] = where(w[n] > 0, x[n]/w[n], x[n])"]
)
def test_what_is_finite_without_an_input_is_not(formula: str) -> None:
    assert not diagnosed(whole(MISSING % "", formula))


STORED = "inputs: {x: {shape: [N]}, k: {shape: [N], dtype: int}}\noutputs: {y: {dtype: %s}}"


@pytest.mark.parametrize(
    ("dtype", "formula", "code"),
    [
        ("int8", "y[n] = clamp(round(x[n]), 0, 255)", "OPG277"),
        ("uint8", "y[n] = clamp(x[n], -128, 127)", "OPG277"),
        ("uint8", "y[n] = sigmoid(x[n])", "OPG279"),
        ("int32", "y[n] = round(mean[m](clamp(x[m], 0, 1))*softmax[n](x[n]))", "OPG279"),
        ("uint8", "y[n] = where(x[n] > 2, 1, clamp(x[n], 0, 1)**2)", "OPG279"),
    ],
)
def test_what_a_dtype_does_not_hold_is_told(dtype: str, formula: str, code: str) -> None:
    (found,) = diagnosed(whole(STORED % dtype, formula))
    assert (found.code, found.severity) == (code, Severity.WARNING)
    if code == "OPG279":
        scaled = found.hints[0].removeprefix("scale it: ").strip("`")
        assert not diagnosed(whole(STORED % dtype, scaled))


@pytest.mark.parametrize(
    ("dtype", "formula"),
    [
        ("uint8", "y[n] = clamp(round(x[n]), 0, 255)"),
        ("uint8", "y[n] = where(x[n] > 0, 1, 0)"),
        ("uint8", "y[n] = clamp(k[n], 0, 1)"),
        ("uint8", "y[n] = clamp(round(x[n]), 0, 1)"),
        ("int8", "y[n] = 127*tanh(x[n])"),
        ("int8", "y[n] = sign(x[n])"),
    ],
)
def test_what_a_dtype_holds_is_not(dtype: str, formula: str) -> None:
    assert not [d for d in diagnosed(whole(STORED % dtype, formula)) if d.code != "OPG240"]


STEPS = "inputs: {x: {shape: [T]}, w: {shape: [T], optional: true}}\noutputs: [y]"


@pytest.mark.parametrize(
    "lines",
    [
        ["y[t] = y[t - 1]*(1 + x[t])"],
        ["y[-1] = 0", "y[t] = y[t - 1]*x[t] - y[t - 1]/2"],
        ["g[t] = h[t - 1]*x[t]", "h[t] = where(x[t] > 0, g[t], -h[t - 1])", "y[t] = h[t]"],
        ["y[t] = y[t + 1]*x[t]"],
        ["y[t] = y[t - 1]*exp(complex(0, x[t]))"],
    ],
)
def test_a_recurrence_that_stays_0_is_told_once(lines: list[str]) -> None:
    (found,) = [d for d in diagnosed(whole(STEPS, *lines)) if d.code != "OPG240"]
    assert (found.code, found.severity) == ("OPG281", Severity.WARNING)


@pytest.mark.parametrize(
    "lines",
    [
        ["y[-1] = 1", "y[t] = y[t - 1]*(1 + x[t])"],
        ["y[t] = y[t - 1]/2 + x[t]"],
        ["y[t] = exp(y[t - 1])*x[t]"],
        ["y[t] = y[t - 1]*x[t] + w[t]"],
        ["y[t] = where(t == 0, 1, y[t - 1]*x[t])"],
    ],
)
def test_a_recurrence_that_moves_is_not(lines: list[str]) -> None:
    assert not [d for d in diagnosed(whole(STEPS, *lines)) if d.code != "OPG240"]


INFECTED = (
    "new[t] = x[t]*s[t - 1]*y[t - 1]",
    "s[t] = s[t - 1] - new[t]",
    "y[t] = y[t - 1] + new[t] - 0.1*y[t - 1]",
)


@pytest.mark.parametrize(
    ("starts", "names", "lacking"),
    [
        ((), "`new`, `s` and `y`", "`s[-1] = …` and `y[-1] = …`"),
        (("s[-1] = 0.9",), "`new` and `y`", "`y[-1] = …`"),
        (("y[-1] = 0.1",), "`new` and `s`", "`s[-1] = …`"),
        (("s[-1] = 0.9", "y[-1] = 0.1"), "", ""),
    ],
)
def test_what_lacks_a_start_is_named(starts: tuple[str, ...], names: str, lacking: str) -> None:
    found = [d for d in diagnosed(whole(STEPS, *starts, *INFECTED)) if d.code != "OPG240"]
    assert [d.code for d in found] == ["OPG281"] * bool(names)
    assert all(d.message.startswith(f"{names} are 0 everywhere") and d.hints[0].endswith(lacking) for d in found)


def test_what_only_goes_with_another_needs_no_start() -> None:
    (found,) = diagnosed(whole(STEPS, "y[t] = y[t - 1] + g[t - 1]", "g[t] = x[t]*g[t - 1]*(1 + y[t - 1])"))
    assert found.hints == ("say what it starts from: `g[-1] = …`",)


@pytest.mark.parametrize(
    ("lines", "cured"),
    [
        (["y[n] = log_softmax[n](softmax[n](x[n]))"], ["y[n] = log_softmax[n](x[n])"]),
        (["p[n] = softmax[n](2*x[n])", "y[n] = log_softmax[n](p[n])"], ["y[n] = log_softmax[n](2 * x[n])"]),
        (["y[n] = x[n]**-1/2"], ["y[n] = x[n]**(-1 / 2)"]),
    ],
)
def test_what_is_doubled_or_divided_is_told(lines: list[str], cured: list[str]) -> None:
    (found,) = diagnosed(whole("inputs: {x: {shape: [N]}}", *lines))
    assert (found.code, found.severity) in (("OPG282", Severity.WARNING), ("OPG257", Severity.WARNING))
    assert cured[0].removeprefix("y[n] = ") in found.hints[0]
    assert not diagnosed(whole("inputs: {x: {shape: [N]}}", *cured))


def test_a_softmax_over_another_index_is_not() -> None:
    lines = ["p[i, j] = softmax[j](x[i, j])", "y[i, j] = softmax[i](p[i, j])"]
    assert not diagnosed(whole("inputs: {x: {shape: [N, M]}}", *lines))


SPREAD = "inputs: {x: {shape: [N, D]}, t: {shape: [N, D]}, w: {shape: [D], optional: true, absent: 1}}"
AVERAGE = "m[n] = mean[d](x[n, d])"


@pytest.mark.parametrize(
    "lines",
    [
        [AVERAGE, "y[n] = mean[d](x[n, d] - m[n])"],
        ["y[n] = sum[d](x[n, d] - mean[k](x[n, k]))"],
        ["c[n, d] = x[n, d] - mean[d](x[n, d])", "y[n] = sqrt(mean[d](c[n, d]))"],
        ["m[n] = sum[d](x[n, d])/D", "y[n] = sum[k](x[n, k] - m[n])/(D - 1)"],
        [AVERAGE, "y = mean[n, d](t[n, 0]*(x[n, d] - m[n])/2)"],
        ["m = mean[n, d](x[n, d])", "y = sum[n, k](m - x[n, k])"],
        [AVERAGE, "b[n] = mean[d](t[n, d])", "y[n] = mean[d](b[n]*(x[n, d] - m[n]))"],
        [AVERAGE, "b[n] = mean[d](t[n, d])", "y[n] = mean[d](x[n, d] - m[n] + t[n, d] - b[n])"],
    ],
)
def test_deviations_that_add_up_to_0_are_told(lines: list[str]) -> None:
    (found,) = (d for d in diagnosed(whole(SPREAD, *lines)) if d.code != "OPG240")
    assert (found.code, found.severity) == ("OPG258", Severity.WARNING)
    assert found.span is not None
    proposed = found.hints[0].removeprefix("for their squares write ").strip("`")
    assert not diagnosed(whole(SPREAD, *(line.replace(found.span.text, proposed) for line in lines)))


@pytest.mark.parametrize(
    "formula",
    [
        "y[n] = mean[d]((x[n, d] - m[n])**2)",
        "y[n] = mean[d](abs(x[n, d] - m[n]))",
        "y[n] = mean[d](t[n, d]*(x[n, d] - m[n]))",
        "y[n] = mean[d](w[d]*x[n, d] - m[n])",  # which cancels only where `w` is not passed
        "y[n] = mean[d](t[n, d] - m[n])",
        "y[n] = mean[k < D - 1](x[n, k] - m[n])",
        "y[d] = mean[n](x[n, d] - m[n])",
        "y[n] = sum[d](where(t[n, d] > 0, x[n, d] - m[n], 0))",
        "y[n, d] = cumsum[d](x[n, d] - m[n])",
        "y[n] = max[d](x[n, d] - m[n])",
        "y[n] = mean[d](x[n, d]) - m[n]*t[n, 0]",
    ],
)
def test_deviations_of_which_something_is_left_are_not(formula: str) -> None:
    assert not diagnosed(whole(SPREAD, AVERAGE, formula))


SCORES = "inputs: {x: {shape: [N, K]}, s: {shape: []}, m: {shape: [N, K], dtype: bool}, b: {shape: [N]}}"


@pytest.mark.parametrize(
    ("lines", "cured"),
    [
        (["y[n, k] = softmax[k](x[n, k] + s)"], "y[n, k] = softmax[k](x[n, k])"),
        (["y[n, k] = softmax[k](x[n, k] - s*n)"], "y[n, k] = softmax[k](x[n, k])"),
        (["y[n, k] = log_softmax[k]((x[n, k] - b[n])/s)"], "y[n, k] = log_softmax[k](x[n, k] / s)"),
        (["y[n, k] = softmax[k](s - x[n, k])"], "y[n, k] = softmax[k](-x[n, k])"),
        (
            ["y[n, k] = softmax[k](where(m[n, k], x[n, k] + b[n], -inf))"],
            "y[n, k] = softmax[k](where(m[n, k], x[n, k], -inf))",
        ),
        (["z[n, k] = x[n, k] + b[n]", "y[n, k] = softmax[k](z[n, k])"], "z[n, k] = x[n, k]"),
    ],
)
def test_a_term_that_a_softmax_cancels_is_told(lines: list[str], cured: str) -> None:
    (found,) = (w for w in diagnosed(whole(SCORES, *lines)) if w.code != "OPG240")
    assert (found.code, found.severity) == ("OPG285", Severity.WARNING)
    assert f"`{cured}`" in found.hints[1]
    assert not [w for w in diagnosed(whole(SCORES, cured, *lines[1:])) if w.code != "OPG240"]


@pytest.mark.parametrize(
    "lines",
    [
        ["y[n, k] = softmax[k](x[n, k] - max[j](x[n, j]))"],
        ["h[n] = max[j](x[n, j])", "y[n, k] = softmax[k](x[n, k] - h[n])"],
        ["y[n, k] = softmax[k](x[n, k] - detach(b[n]))"],
        ["y[n, k] = softmax[k](x[n, k] + where(b[n] > 0, 0, -inf))"],
        ["y[n, k] = softmax[k](x[n, k] + log(b[n]))"],
        ["y[n, k] = softmax[k](x[n, k]*(b[n] + s) + s*k)"],
        ["y[n, k] = softmax[n](x[n, k] + b[n])"],
        ["z[n, k] = x[n, k] + b[n]", "y[n, k] = softmax[k](z[n, k])*z[n, k]"],
        ["y[n] = logsumexp[k](x[n, k] + b[n])"],
    ],
)
def test_a_term_that_has_the_index_or_keeps_exp_in_range_is_not(lines: list[str]) -> None:
    assert not [w for w in diagnosed(whole(SCORES, *lines)) if w.code != "OPG240"]
