"""Variances and medians, which torch and NumPy compute in two ways: what is said gives the numbers of the library."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, said, whole

FIELDS = "inputs: {x: {shape: [N, D]}}"
ROWS = torch.randn(6, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(5))


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        ("x.var(dim=0)", "y[d] = var[n](x[n, d]) * N / (N - 1)"),
        ("torch.var(x, dim=0)", "y[d] = var[n](x[n, d]) * N / (N - 1)"),
        ("torch.var(x, axis=0)", "y[d] = var[n](x[n, d]) * N / (N - 1)"),
        ("x.std(0)", "y[d] = sqrt(var[n](x[n, d]) * N / (N - 1))"),
        ("torch.std(x)", "y = sqrt(var[n, d](x[n, d]) * N * D / (N * D - 1))"),
        ("(2*x).std()", "y = sqrt(var[n, d](2 * x[n, d]) * N * D / (N * D - 1))"),
        ("torch.var(x, [0, 1])", "y = var[n, d](x[n, d]) * N * D / (N * D - 1)"),
        ("x.var(0, correction=1)", "y[d] = var[n](x[n, d]) * N / (N - 1)"),
        ("x.var(0, correction=2)", "y[d] = var[n](x[n, d]) * N / (N - 2)"),
        ("x.std(0, unbiased=True)", "y[d] = sqrt(var[n](x[n, d]) * N / (N - 1))"),
        ("x.std(0, True)", "y[d] = sqrt(var[n](x[n, d]) * N / (N - 1))"),
        ("x.var(0, False)", "y[d] = var[n](x[n, d])"),
        ("x.var(0, unbiased=False)", "y[d] = var[n](x[n, d])"),
        ("torch.std(x, dim=-1, correction=0)", "y[n] = sqrt(var[d](x[n, d]))"),
        (
            "(x - x.mean(0))/x.std(0, keepdim=True)",
            "y[n, d] = (x[n, d] - mean[n](x[n, d])) / sqrt(var[n](x[n, d]) * N / (N - 1))",
        ),
        ("torch.median(x, dim=0).values", "y[d] = median[n](x[n, d])"),
        ("torch.quantile(x, 0.3, dim=0)", "y[d] = quantile[n](x[n, d], 0.3)"),
        ("x.quantile(0.3, 1)", "y[n] = quantile[d](x[n, d], 0.3)"),
    ],
)
def test_as_torch_computes_it(call: str, meant: str) -> None:
    assert said(whole(FIELDS, f"y = {call}"))[-1:] == [meant]
    _same(meant, eval(call, {"torch": torch, "x": ROWS}))


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        ("np.var(x, axis=0)", "y[d] = var[n](x[n, d])"),
        ("np.var(x, 0)", "y[d] = var[n](x[n, d])"),
        ("np.std(x)", "y = sqrt(var[n, d](x[n, d]))"),
        ("x.std(axis=0)", "y[d] = sqrt(var[n](x[n, d]))"),
        ("np.var(x, axis=0, ddof=1)", "y[d] = var[n](x[n, d]) * N / (N - 1)"),
        ("np.std(x, axis=1, ddof=1)", "y[n] = sqrt(var[d](x[n, d]) * D / (D - 1))"),
        ("np.median(x, axis=0)", "y[d] = quantile[n](x[n, d], 0.5)"),
        ("np.median(x, 1)", "y[n] = quantile[d](x[n, d], 0.5)"),
        ("np.median(x - x.mean(0), axis=0)", "y[d] = quantile[n](x[n, d] - mean[n](x[n, d]), 0.5)"),
        ("np.quantile(x, 0.3, axis=0)", "y[d] = quantile[n](x[n, d], 0.3)"),
    ],
)
def test_as_numpy_computes_it(call: str, meant: str) -> None:
    assert said(whole(FIELDS, f"y = {call}"))[-1:] == [meant]
    _same(meant, torch.as_tensor(eval(call, {"np": np, "x": ROWS.numpy()})))


def test_both_moments_as_torch_computes_them() -> None:
    lines = said(whole(FIELDS, "v, m = torch.std_mean(x, dim=0)"))
    assert lines == ["v[d] = sqrt(var[n](x[n, d]) * N / (N - 1))", "m[d] = mean[n](x[n, d])"]
    for line, expected in zip(lines, torch.std_mean(ROWS, dim=0), strict=True):
        _same(line, expected)


def test_of_a_batch_of_any_dims_no_line_is_proposed_that_divides_by_the_count() -> None:
    for fn in ("std", "var"):
        (found,) = diagnosed(whole("inputs: {x: {shape: [..., D]}}", f"y = torch.{fn}(x)"))
        assert not any("write" in hint for hint in found.hints)
        assert found.hints[-1].endswith("divides by the count, without a correction")


def _same(line: str, expected: torch.Tensor) -> None:
    operator = built(whole(FIELDS, line))
    found = run(operator.variants[0].program, {"x": array(ROWS.tolist())})[line[0]]
    assert tuple(found.shape) == tuple(expected.shape)
    torch.testing.assert_close(torch.tensor(found.data, dtype=torch.float64), expected.flatten())
