"""Statements over fewer dims than they read, and functions of rows: what is said is all that changes, and builds."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, whole

GRID = """inputs:
  x: {shape: [B, T, D]}
  a: {shape: [T, D]}
  v: {shape: [S, D]}
  w: {shape: [K]}
  z: {shape: [..., T, D]}
params: {alpha: {type: float, default: 0.9}}"""


def lines(text: str) -> list[str]:
    """What the one message about a spec says to write, in order."""
    (found,) = diagnosed(text)
    return re.findall(r"`([^`]*)`", " ".join(found.hints))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (
            "h[t] = alpha*h[t - 1] + (1 - alpha)*x[t]",
            "h[b, t, d] = alpha*h[b, t - 1, d] + (1 - alpha)*x[b, t, d]",
        ),
        ("h[t] = alpha*x[t]", "h[b, t, d] = alpha*x[b, t, d]"),
        ("h[t] = pad(x[t - 1], 0) - x[t]", "h[b, t, d] = pad(x[b, t - 1, d], 0) - x[b, t, d]"),
        ("h[t, k] = alpha*x[t]*w[k]", "h[b, t, d, k] = alpha*x[b, t, d]*w[k]"),
        ("h[t < T] = x[t] + a[t]", "h[b, t < T, d] = x[b, t, d] + a[t, d]"),
        ("h[t] = h[t-1]/2 + z[t]*a[t]", "h[..., t, d] = h[..., t-1, d]/2 + z[..., t, d]*a[t, d]"),
        ("h[t] = softmax[t](x[t])", "h[b, t, d] = softmax[t](x[b, t, d])"),
    ],
)
def test_the_indices_that_a_read_lacks_stand_left_too(line: str, meant: str) -> None:
    assert lines(whole(GRID, line) + "outputs: [h]\n") == [meant]
    built(whole(GRID, meant) + "outputs: [h]\n")


@pytest.mark.parametrize(
    "line", ["h[t] = sum[d](x[t, d])", "h = mean[t](x[t])", "h[q] = x[q]*w[k]", "h[t, s] = abs(a[t] - v[s])"]
)
def test_no_statement_is_proposed_where_others_are_as_likely(line: str) -> None:
    assert not any("h[" in said for found in diagnosed(whole(GRID, line)) for said in found.hints)


def test_what_is_read_beside_more_indices_may_have_fewer() -> None:
    found = diagnosed(whole(GRID, "c[t] = x[t]", "y[b, t, d] = x[b, t, d] - c[t]"))
    assert found[0].hints == ("write `x[b, t, d]`",)
