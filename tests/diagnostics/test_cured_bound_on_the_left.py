"""A reduction over an index of the left side, where another one is not bound: what is meant is a whole line."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, said, whole

READ = (
    "inputs: {a: {shape: [N, K]}, b: {shape: [K, M]}, x: {shape: [N, D]}, w: {shape: [D]}, u: {shape: [D, D]},"
    " p: {shape: [..., L, S]}, v: {shape: [..., S, D]}}"
)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("c[n, m] = sum[n](a[n, k]*b[k, m])", ["c[n, m] = sum[k](a[n, k] * b[k, m])"]),
        ("c[n, m] = sum[n, m](a[n, k]*b[k, m])", ["c[n, m] = sum[k](a[n, k] * b[k, m])"]),
        ("c[n, m] = sum[n](a[n, k]*b[k, m]) + w[0]", ["c[n, m] = sum[k](a[n, k] * b[k, m]) + w[0]"]),
        (
            "o[..., i, d] = sum[i](p[..., i, j]*v[..., j, d])",
            ["o[..., i, d] = sum[j](p[..., i, j] * v[..., j, d])"],
        ),
        (
            "o[..., i, d] = sum[i](softmax[j](p[..., i, j])*v[..., j, d])",
            ["o[..., i, d] = sum[j](softmax[j](p[..., i, j]) * v[..., j, d])"],
        ),
        ("y[n] = sum[n](x[n, d]*u[d, e]*x[n, e])", ["y[n] = sum[d, e](x[n, d] * u[d, e] * x[n, e])"]),
        (
            "y[n] = sum[n](x[n, d]*w[d])/sum[n](a[n, k]*a[n, k])",
            ["y[n] = sum[d](x[n, d] * w[d]) / sum[k](a[n, k] * a[n, k])"] * 2,
        ),
        ("y[d] = sum[d](x[n, d]*w[d])", ["y[n] = sum[d](x[n, d] * w[d])"]),
        ("y[n] = mean[n](x[n, d])", ["y[n] = mean[d](x[n, d])", "y[d] = mean[n](x[n, d])"]),
    ],
)
def test_the_unbound_index_is_meant(line: str, meant: list[str]) -> None:
    assert [told for told in said(whole(READ, line)) if "=" in told] == meant
    for one in meant:
        built(whole(READ, one), warned=True)


@pytest.mark.parametrize(("size", "meant"), [("N", "y[n] = mean[d](x[n, d])"), ("D", "y[d] = mean[n](x[n, d])")])
def test_a_declared_shape_tells_which(size: str, meant: str) -> None:
    text = whole(READ, "y[n] = mean[n](x[n, d])") + f"outputs: {{y: {{shape: [{size}]}}}}\n"
    assert [told for told in said(text) if "=" in told] == [meant]


@pytest.mark.parametrize("line", ["y[n] = x[n, 0] - sum[n](a[n, k]*w[0])", "y[d] = sum[n](x[n, d]*u[d, e])"])
def test_what_is_bound_anew_or_bound_rightly_stays(line: str) -> None:
    assert not any("=" in told for told in said(whole(READ, line)))
