"""What is written as on paper, or cut by YAML, and the cure that its one message says."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, follow, whole

ROWS = "inputs: {x: {shape: [N, K]}}"
PRODUCTS = [
    ("y[n] = 0.5 a sum[k](x[n, k]**2)", "y[n] = 0.5*a*sum[k](x[n, k]**2)"),
    ("y[n] = a (1 - a) sum[k](x[n, k] x[n, k])", "y[n] = a*(1 - a)*sum[k](x[n, k]*x[n, k])"),
    ("y[n] = sum[k](2(a*x[n, k] - 1))", "y[n] = sum[k](2*(a*x[n, k] - 1))"),
    ("y[n] = a*sum[k](2 k exp(x[n, k]))", "y[n] = a*sum[k](2*k*exp(x[n, k]))"),
]
PARAM = "params: {a: float}"


@pytest.mark.parametrize(("written", "meant"), PRODUCTS)
def test_factors_side_by_side_are_told_with_the_whole_statement(written: str, meant: str) -> None:
    assert list(follow(whole(f"{ROWS}\n{PARAM}", written), {written: meant}).outputs) == ["y"]


@pytest.mark.parametrize("line", ["y[n] = a*sum[k](x[n, k]) the weighted sum", "y[n] = a*sum[k] exp x[n, k]"])
def test_prose_is_no_product(line: str) -> None:
    (found,) = diagnosed(whole(f"{ROWS}\n{PARAM}", line))
    assert "the*" not in " ".join(found.hints)
    assert "exp*" not in " ".join(found.hints)
