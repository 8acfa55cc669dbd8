"""A division by a sum that is scattered is told where it may be 0, and the line that is proposed has nothing to say."""

from __future__ import annotations

import pytest

from opgen.diagnostics.model import Severity
from tests.diagnostics.cures import built, diagnosed, whole

EDGES = "inputs: {x: {shape: [V, D]}, to: {shape: [E], dtype: int, domain: 0 <= to < V}, w: {shape: [E]}}"
SUMS = ("n[v < V] = 0", "n[to[e]] += 1", "s[v < V] = 1", "s[to[e]] += w[e]", "z[v < V] = 0", "z[to[e]] += exp(w[e])")


@pytest.mark.parametrize(
    ("formula", "meant"),
    [
        ("y[v, d] = x[v, d]/n[v]", "y[v, d] = x[v, d]/max(n[v], 1)"),
        ("y[v, d] = x[v, d]*w[0]/z[v] + s[v]", "y[v, d] = x[v, d]*w[0]/max(z[v], 1e-12) + s[v]"),
    ],
)
def test_a_sum_that_may_be_nothing_is_told(formula: str, meant: str) -> None:
    used = [line for line in SUMS if line[0] in formula]
    (found,) = diagnosed(whole(EDGES, *used, formula) + "outputs: [y]\n")
    assert (found.code, found.severity) == ("OPG265", Severity.WARNING)
    divisor = meant.partition("/")[2].partition(")")[0] + ")"
    assert f"`{divisor}`" in found.hints[0]
    built(whole(EDGES, *used, meant) + "outputs: [y]\n")


@pytest.mark.parametrize(
    "formula",
    [
        "y[v, d] = x[v, d]/s[v]",  # starts at 1
        "y[e] = exp(w[e])/z[to[e]]",  # something was scattered there
        "y[v, d] = where(n[v] > 0, x[v, d]/n[v], 0)",
        "y[v, d] = x[v, d]/(n[v] + 1)",
        "y[v, d] = x[v, d]/w[0] + n[v]",
    ],
)
def test_what_is_not_0_is_not_told(formula: str) -> None:
    used = [line for line in SUMS if f"{line[0]}[" in formula]
    built(whole(EDGES, *used, formula) + "outputs: [y]\n")
