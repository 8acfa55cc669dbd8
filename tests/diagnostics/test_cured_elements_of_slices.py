"""Elements of what slices read, `w[::-1][r]`: the line reads each at its place in the tensor."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import follow, whole

FIELDS = {"x": "x: {shape: [T]}", "w": "w: {shape: [R]}", "z": "z: {shape: [N, T]}"}


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("y[t < T] = sum[r](pad(x[t + r - R + 1], 0)*w[::-1][r])",
         "y[t < T] = sum[r < R](pad(x[t + r - R + 1], 0) * w[R - r - 1])"),
        ("y[t] = x[::-1][t]", "y[t < T] = x[T - t - 1]"),
        ("y[t < T - 2] = x[1:][t + 1]", "y[t < T - 2] = x[t + 2]"),
        ("y[n, t < T - 1] = z[:, 1:][n, t]", "y[n, t < T - 1] = z[n, t + 1]"),
        ("y[n] = z[:, 1:][n, 0]", "y[n] = z[n, 1]"),
        ("y[n, t < T - 1] = z[n, 1:][t] - z[n, :-1][t]", "y[n, t < T - 1] = z[n, t + 1] - z[n, t]"),
    ],
)  # fmt: skip
def test_an_element_of_a_slice(written: str, line: str) -> None:
    inputs = ", ".join(field for name, field in FIELDS.items() if f"{name}[" in written)
    follow(whole(f"inputs: {{{inputs}}}", written), {written: line})
