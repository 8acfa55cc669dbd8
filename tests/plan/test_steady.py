"""Which products by a size are divided ahead of their loop, and which keep the quotient that the spec writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.pipeline import SpecFile, Stage, run
from opgen.plan.build import build
from opgen.plan.text import plan

HEAD = """op: shares
inputs:
  x: {shape: [M, N], differentiable: false}
  w: {shape: [M], differentiable: false}
  k: {shape: [M, N], dtype: int}
forward: |
  s[m] = sum[n](exp(x[m, n]))
"""

GROUPS = """op: shares
inputs:
  x: {shape: [M, N, K], differentiable: false}
  w: {shape: [N], differentiable: false}
forward: |
  s[n] = sum[m, k](exp(x[m, n, k]))
"""


def shown(line: str, head: str = HEAD) -> str:
    text = f"{head}{line}\noutputs: [y]\n"
    made = run(SpecFile(Path("shares.yaml"), text.encode(), "shares.yaml"), Stage.DERIVED)
    assert made.derived, made.diagnostics
    return plan(build(made.derived[0].forward))


@pytest.mark.parametrize(
    ("line", "share"),
    [
        ("  y[m, n] = s[m]*x[m, n]/N", "let ratio = s/N"),
        ("  y[m, n] = 2*exp(w[m])*x[m, n]/N + s[m]", "let ratio = 2*exp(w[m])/N"),
        ("  y[m, n] = s[m]*x[m, n]/(M*N)", "let ratio = s/(M*N)"),
    ],
)
def test_what_is_computed_for_a_row_is_divided_once(line: str, share: str) -> None:
    assert share in shown(line)


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("  y[m, n] = floor(w[m]*k[m, n]/N) + s[m]", "floor(w_value*k[m, n]/N)"),  # may be meant to be whole
        ("  y[m, n] = 2*x[m, n]/N + s[m]", "2*x[m, n]/N"),
        ("  y[m, n] = where(s[m]*x[m, n]/N == x[m, n], 1, s[m])", "s*x_value/N == x_value"),  # the last bit counts
    ],
)
def test_other_quotients_stay(line: str, kept: str) -> None:
    found = shown(line)
    assert "ratio" not in found
    assert kept in found


@pytest.mark.parametrize(
    ("line", "share"),
    [
        ("  y[m, n < N, k] = s[n//2]*x[m, n, k]/K", "s[n//2]/K*x[m, n, k]"),
        ("  y[m, n < N, k] = 2*s[n//2]*x[m, n, k]/(N*K)", "2*s[n//2]/(N*K)*x[m, n, k]"),
    ],
)
def test_what_a_run_of_a_map_does_not_change_is_divided_ahead_of_it(line: str, share: str) -> None:
    assert share in shown(line, GROUPS)


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("  y[m, n < N, k] = w[n//2]*x[m, n, k]/(N*K) + s[n//2]", "w[n//2]*x[m, n, k]/(N*K)"),  # an argument
        ("  y[m, k, n < N] = s[n//2]*x[m, n, k]/(N*K)", "s[n//2]*x[m, n, k]/(N*K)"),  # it changes along runs
        ("  y[m < M, n < N, k < K] = s[n//2]/(N*K)", "s[n//2]/(N*K)"),
    ],
)
def test_other_quotients_of_a_map_stay(line: str, kept: str) -> None:
    assert kept in shown(line, GROUPS)
