"""`chunk` and `split` in a formula: the lines that are offered cut the axis that the call names, where it says."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole


@pytest.mark.parametrize(
    ("shape", "call", "lines"),
    [
        ("[N, D]", "chunk(x, 2, dim=0)", ["u[n < N//2, d] = x[n, d]", "v[n < N//2, d] = x[n + N//2, d]"]),
        ("[N, D]", "x.chunk(2, 1)", ["u[n, d < D//2] = x[n, d]", "v[n, d < D//2] = x[n, d + D//2]"]),
        ("[N, D]", "torch.split(x, D//2, -1)", ["u[n, d < D//2] = x[n, d]", "v[n, d < D//2] = x[n, d + D//2]"]),
        ("[A, B, C]", "x.chunk(2, -2)", ["u[a, b < B//2, c] = x[a, b, c]", "v[a, b < B//2, c] = x[a, b + B//2, c]"]),
        ("[N, 4]", "split(x, [1, 3], dim=-1)", ["u[n, i < 1] = x[n, i]", "v[n, i < 3] = x[n, i + 1]"]),
        ("[N, 4]", "x.split(2, dim=1)", ["u[n, i < 2] = x[n, i]", "v[n, i < 2] = x[n, i + 2]"]),
        ("[..., 4]", "np.split(x, [1], axis=-1)", ["u[..., i < 1] = x[..., i]", "v[..., i < 3] = x[..., i + 1]"]),
        ("[N, D]", "np.split(x, [3], axis=-1)", ["u[n, d < 3] = x[n, d]", "v[n, d < D - 3] = x[n, d + 3]"]),
    ],
)
def test_the_axis_that_is_named_is_cut(shape: str, call: str, lines: list[str]) -> None:
    fields = f"inputs: {{x: {{shape: {shape}}}}}"
    assert said(whole(fields, f"u, v = {call}")) == lines
    built(whole(fields, *lines))


def test_an_axis_behind_any_number_of_others_is_not_guessed() -> None:
    (found,) = diagnosed(whole("inputs: {x: {shape: [..., N, D]}}", "u, v = x.chunk(2, dim=0)"))
    assert "the parts of an axis" not in found.hints[0]
