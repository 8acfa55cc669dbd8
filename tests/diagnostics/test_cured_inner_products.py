"""Products of rows, `q[i, :] * k[j, :]`, are sums over their axis; slices on the left keep their order."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, said, whole

ROWS = "inputs: {q: {shape: [N, D]}, k: {shape: [M, D]}, v: {shape: [M, E]}, a: {shape: [N, M]}}"
BATCH = "inputs: {q: {shape: [..., N, D]}, k: {shape: [..., M, D]}, v: {shape: [..., M, E]}}"


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("s[i, j] = q[i, :] * k[j, :]", "s[i, j] = sum[d](q[i, d] * k[j, d])"),
        ("s[i, j] = q[i, :] * k[j, :] / sqrt(D)", "s[i, j] = sum[d](q[i, d] * k[j, d]) / sqrt(D)"),
        ("s[i, j] = 2*q[i, :] * k[j, :]", "s[i, j] = 2 * sum[d](q[i, d] * k[j, d])"),
        ("s[i, j] = exp(-(q[i, :] * k[j, :]))", "s[i, j] = exp(-sum[d](q[i, d] * k[j, d]))"),
        (
            "y[i, e] = sum[j](softmax[j](q[i, :]*k[j, :])*v[j, e])",
            "y[i, e] = sum[j](softmax[j](sum[d](q[i, d] * k[j, d])) * v[j, e])",
        ),
        ("y[i, e] = a[i, :] * v[:, e]", "y[i, e] = sum[m](a[i, m] * v[m, e])"),
        ("y[i] = a[i, :] * a[i, :]", "y[i] = sum[m](a[i, m] * a[i, m])"),
        ("y[i, :] = a[i, j] * v[j, :]", "y[i, e] = sum[j](a[i, j] * v[j, e])"),
        ("y[:, i] = q[i, :]", "y[d, i] = q[i, d]"),
    ],
)
def test_what_two_rows_share_and_the_target_lacks_is_summed_over(line: str, meant: str) -> None:
    assert said(whole(ROWS, line))[-1] == meant
    built(whole(ROWS + "\noutputs: [" + meant[0] + "]", meant), warned=True)


@pytest.mark.parametrize("line", ["s[i, j] = q[i, :] + k[j, :]", "s[i] = q[i, :]", "s[i, j] = q[i, :] / k[j, :]"])
def test_no_sum_is_proposed_of_what_is_no_product(line: str) -> None:
    assert not any("sum[" in part for part in said(whole(ROWS, line)))


def test_a_batch_that_is_left_out_is_added_in_every_line_at_once() -> None:
    text = whole(BATCH, "s[i, j] = q[i, :] * k[j, :]", "a[i, j] = softmax[j](s[i, j])", "y[i, :] = a[i, j] * v[j, :]")
    lines = [part for part in said(text) if " = " in part]
    assert lines == [
        "s[..., i, j] = sum[d](q[..., i, d] * k[..., j, d])",
        "a[..., i, j] = softmax[j](s[..., i, j])",
        "y[..., i, e] = sum[j](a[..., i, j] * v[..., j, e])",
    ]
    built(whole(BATCH, *lines))
