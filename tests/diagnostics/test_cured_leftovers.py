"""Mistakes that stand at several places of a statement or a spec: one line for all of them, which builds."""

from __future__ import annotations

import re

import pytest

from opgen.diagnostics.repeats import gathered
from tests.diagnostics.cures import built, diagnosed, said, whole


def lines(text: str) -> list[str]:
    """The statements that messages propose, in order."""
    return [line for line in said(text) if re.match(r"\w+(\[[^=]*\])? = ", line)]


def test_an_index_with_the_name_of_a_tensor_is_told_once_with_all_lines() -> None:
    fields = "inputs: {t: {shape: [N]}, b: {shape: []}}\noutputs: [lam]"
    first = "a[t] = where(t > 0, exp(-b*(t[t] - t[t - 1]))*(1 + a[t - 1]), 0)"
    text = whole(fields, first, "lam[t] = 2 + b*a[t]")
    meant = [
        "a[i] = where(i > 0, exp(-b * (t[i] - t[i - 1])) * (1 + a[i - 1]), 0)",
        "lam[i] = 2 + b * a[i]",
    ]
    assert len(gathered(diagnosed(text))) == 1
    assert lines(text) == meant
    built(whole(fields, *meant), warned=True)


def test_a_name_without_brackets_may_be_a_tensor() -> None:
    assert lines(whole("inputs: {t: {shape: [...]}}", "y[t] = t[t] + t")) == []


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("y = e**(-(e**(2*x) - 1))", "y = exp(-(exp(2*x) - 1))"),
        ("y = e**(-e**(-x))", "y = exp(-exp(-x))"),
        ("y = 1 + e^(e^(x))", "y = 1 + exp(exp(x))"),
        ("y = e**x + e^(-x)  # twice", "y = exp(x) + exp(-x)"),
    ],
)
def test_powers_of_e_in_one_line_are_told_once_as_the_line(typed: str, meant: str) -> None:
    text = whole("inputs: {x: {shape: []}}", typed)
    assert said(text) == [meant]
    built(whole("inputs: {x: {shape: []}}", meant), warned=True)


LOGS = "inputs: {a: {shape: [S, S]}, b: {shape: [..., T, S]}}\noutputs: [z]"


def test_the_extent_of_what_goes_on_is_that_of_its_start_too() -> None:
    body = "z[..., {}, i] = where(t == T - 1, 0, logsumexp[j](a[i, j] + b[..., t + 1, j] + z[..., t + 1, j]))"
    text = whole(LOGS, "z[..., T, i] = 0", body.format("t"))
    assert said(text) == ["t < T"]
    built(whole(LOGS, "z[..., T, i] = 0", body.format("t < T")))


def test_a_sum_in_a_start_has_an_extent_of_its_own() -> None:
    text = whole("inputs: {x: {shape: [T]}}\noutputs: [z]", "z[-1] = sum[k](1)", "z[t] = z[t - 1] + 1")
    assert [found.span.text for found in diagnosed(text) if found.span is not None] == ["k", "t"]


VECTORS = "inputs: {x: {shape: [N]}, y: {shape: [N]}}\noutputs: [z]"
COV = "mean[n]((x[n] - mean[n](x[n])) * (y[n] - mean[n](y[n])))"
NORMS = "(norm[n](x[n] - mean[n](x[n])) * norm[n](y[n] - mean[n](y[n])))"


@pytest.mark.parametrize(
    ("fields", "line", "meant"),
    [
        (
            "inputs: {x: {shape: [N, N]}}",
            "z = sum[i, j; i != j](x[i, j])",
            "z = sum[i, j](where(i != j, x[i, j], 0))",
        ),
        (
            "inputs: {x: {shape: [N]}}",
            "z[n] = max(x[n], 0) for n in 0..N",
            "z[n] = max(x[n], 0)",
        ),
        (
            "inputs: {x: {shape: [N]}}",
            "z[n] = max(x[n], 0) for n in 0..N-2",
            "z[n < N-2 + 1] = max(x[n], 0)",
        ),
        (
            "inputs: {x: {shape: [T]}}\nparams: {w: {type: int, default: 3}}",
            "z[t] = mean[s in t-w..t](x[s])",
            "z[t < T] = sum[s](where(t-w <= s and s <= t, x[s], 0))/count[s < T](t-w <= s and s <= t)",
        ),
        (
            "inputs: {x: {shape: [T]}}",
            "z[t] = 1 + max[s = t - 2..t + 2](x[s])",
            "z[t < T] = 1 + max[s](where(t - 2 <= s and s <= t + 2, x[s], -inf))",
        ),
        (VECTORS, "z = 2*cov[n](x[n], y[n])", f"z = 2 * {COV}"),
        (VECTORS, "z = cor[n](x, y)", f"z = {COV.replace('mean', 'sum', 1)} / {NORMS}"),
        ("inputs: {x: {shape: [T, C]}}", "z[t, c] = x[t, c]*exp(-arange(T)[t])", "z[t, c] = x[t, c] * exp(-t)"),
        ("inputs: {x: {shape: [N]}}", "z = fft(x)", "z[k < N] = sum[n](x[n]*exp(complex(0, -2*pi*k*n/N)))"),
        (
            "inputs: {x: {shape: [B, T], dtype: complex}}",
            "z = ifft(x)",
            "z[b, k < T] = sum[t](x[b, t]*exp(complex(0, 2*pi*k*t/T)))/T",
        ),
    ],
)
def test_the_whole_line_is_told_and_builds(fields: str, line: str, meant: str) -> None:
    assert len(diagnosed(whole(fields, line))) == 1
    assert lines(whole(fields, line)) == [meant]
    built(whole(fields, meant), warned=True)


def test_an_indicator_is_a_condition() -> None:
    text = whole("inputs: {x: {shape: [N]}}", "z = sum[n](1{x[n] > 0}*x[n])")
    assert said(text) == ["(x[n] > 0)"]
    built(text.replace("1{x[n] > 0}", "(x[n] > 0)"), warned=True)


@pytest.mark.parametrize(
    ("fields", "line", "first", "then"),
    [
        (
            "inputs: {x: {shape: [..., K]}}\noutputs: [z]",
            "z = abs(rfft(x))**2",
            "spectrum[..., f < K//2 + 1] = sum[k](x[..., k]*exp(complex(0, -2*pi*f*k/K)))",
            "z[..., f] = abs(spectrum[..., f])**2",
        ),
        (
            "inputs: {b: {shape: [T]}}\noutputs: [z]",
            "z[t] = b[t] + cumsum[s](z[s])",
            "total[t] = total[t - 1] + z[t - 1]",
            "z[t] = b[t] + total[t]",
        ),
    ],
)
def test_both_lines_of_what_takes_two_build(fields: str, line: str, first: str, then: str) -> None:
    assert lines(whole(fields, line)) == [first, then]
    built(whole(fields, first, then))


def test_a_running_product_of_all_that_a_name_has_been_is_no_recurrence() -> None:
    text = whole("inputs: {b: {shape: [T]}}\noutputs: [z]", "z[t] = b[t] + cumprod[s](z[s])")
    assert lines(text) == []
    assert "a fixed number of places back" in diagnosed(text)[0].hints[0]


def test_an_index_that_is_read_nowhere_may_be_another_one() -> None:
    text = whole("inputs: {x: {shape: [T, E]}}", "p[t, e] = softmax[k](x[t, e])")
    assert said(text) == ["k", "softmax[e](x[t, e])", "softmax[t](x[t, e])"]
    built(text.replace("softmax[k](x[t, e])", "softmax[e](x[t, e])"))


@pytest.mark.parametrize(
    ("start", "first", "then"),
    [
        ("h = w", "h[-1, d] = w[d]", "h[t < T, d] = 0.9 * h[t - 1, d] + x[t, d]"),
        ("h = 2*w + 1", "h[-1, d] = 2 * w[d] + 1", "h[t < T, d] = 0.9 * h[t - 1, d] + x[t, d]"),
        ("h[d] = w[d]", "h[d, -1] = w[d]", "h[d, t < T] = 0.9 * h[d, t - 1] + x[t, d]"),
    ],
)
def test_a_loop_may_start_from_a_tensor(start: str, first: str, then: str) -> None:
    fields = "inputs: {x: {shape: [T, D]}, w: {shape: [D]}}"
    text = whole(fields, start, "for t in range(T):", "    h = 0.9*h + x[t]", "y = h")
    last = f"y[d] = h{'[T - 1, d]' if '[-1' in first else '[d, T - 1]'}"
    assert len(diagnosed(text)) == 1
    assert lines(text) == [first, then, last]
    built(whole(fields, first, then, last), warned=True)
