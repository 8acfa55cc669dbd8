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
