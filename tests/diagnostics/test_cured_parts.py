"""An axis that is split by a size with no dim: told once, with the dim and all statements that lack an extent."""

from __future__ import annotations

import pytest

from opgen.diagnostics.repeats import gathered
from tests.diagnostics.cures import built, diagnosed, said, whole

X = "inputs: {x: {shape: [N, D]}, w: {shape: [D]}}"


@pytest.mark.parametrize(
    ("lines", "parts"),
    [
        (("y[n, c] = w[c] + x[n, c]*sigmoid(x[n, c + C])",), "D//2"),
        (
            (
                "a[n, c] = x[n, c] - w[c]",
                "b[n, c] = x[n, c + C]",
                "d[n, c] = x[n, c + C]*a[n, c]",
                "e[n, c] = sigmoid(x[n, c + C]) + b[n, c]",
                "f[n, c] = x[n, c]*x[n, C + c] + d[n, c] + e[n, c]",
            ),
            "D//2",
        ),
        (("r[n, i] = x[n, i] + w[i]", "z[n, i] = x[n, i + C]", "h[n, i] = x[n, i + 2*C]"), "D//3"),
        (("y[n] = sum[c](x[n, c]*w[c + C])",), "D//2"),
    ],
)
def test_all_statements_that_lack_the_extent_of_a_part_are_told(lines: tuple[str, ...], parts: str) -> None:
    text = whole(X, *lines)
    (found,) = gathered(diagnosed(text))
    assert found.code == "OPG238"
    _, _, dims, *made = dict.fromkeys(said(text))
    assert dims == f"dims: {{C: {parts}}}"
    assert len(made) == len(lines)
    built(whole(f"{X}\n{dims}", *made), warned=True)


@pytest.mark.parametrize("line", ["y[n, d] = x[n, d]*C", "y[n] = sum[d](x[n, d])/C", "y[n, d] = x[n, d] + C*w[d + C]"])
def test_a_number_that_no_dim_has_is_no_part(line: str) -> None:
    (found, *_) = diagnosed(whole(X, line))
    assert "part" not in found.hints[0]
