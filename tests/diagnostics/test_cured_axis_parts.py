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
        ("[N, 3]", "x.chunk(2, dim=1)", ["u[n, i < 2] = x[n, i]", "v[n, i < 1] = x[n, i + 2]"]),
        ("[N, 3]", "torch.split(x, 2, dim=1)", ["u[n, i < 2] = x[n, i]", "v[n, i < 1] = x[n, i + 2]"]),
        ("[N, 4]", "x.split(2, dim=1)", ["u[n, i < 2] = x[n, i]", "v[n, i < 2] = x[n, i + 2]"]),
        ("[..., 4]", "np.split(x, [1], axis=-1)", ["u[..., i < 1] = x[..., i]", "v[..., i < 3] = x[..., i + 1]"]),
        ("[N, D]", "np.split(x, [3], axis=-1)", ["u[n, d < 3] = x[n, d]", "v[n, d < D - 3] = x[n, d + 3]"]),
    ],
)
def test_the_axis_that_is_named_is_cut(shape: str, call: str, lines: list[str]) -> None:
    fields = f"inputs: {{x: {{shape: {shape}}}}}"
    assert said(whole(fields, f"u, v = {call}")) == lines
    built(whole(fields, *lines))


@pytest.mark.parametrize(
    ("shape", "call", "told", "named"),
    [
        ("[..., N, D]", "x.chunk(2, dim=0)", "axis 0 of `x` is a batch dim", "[B, ..., N, D]"),
        ("[..., N, D]", "torch.split(x, 2, dim=1)", "axis 1 of `x` is a batch dim", "[B, M, ..., N, D]"),
        ("[N, ..., D]", "x.chunk(2, dim=1)", "axis 1 of `x` is a batch dim", "[N, B, ..., D]"),
        ("[..., N, D]", "x.chunk(2, dim=-3)", "axis -3 of `x` is a batch dim", "[..., B, N, D]"),
        ("[...]", "x.chunk(2, dim=-1)", "axis -1 of `x` is a batch dim", "[..., B]"),
    ],
)
def test_an_axis_that_is_a_batch_dim_gets_a_name(shape: str, call: str, told: str, named: str) -> None:
    line = f"u, v = {call}"
    (found,) = diagnosed(whole(f"inputs: {{x: {{shape: {shape}}}}}", line))
    assert found.hints[0].startswith(told)
    assert f"`x: {{shape: {named}}}`" in found.hints[0]
    fields = f"inputs: {{x: {{shape: {named}}}}}"
    lines = said(whole(fields, line))
    assert len(lines) == len(("u", "v"))
    built(whole(fields, *lines))


@pytest.mark.parametrize(
    ("shape", "call", "told"),
    [
        ("[N, D]", "x.chunk(2, dim=2)", "`x` has no axis 2: its shape is [N, D]"),
        ("[N, 3, D]", "x.unbind(1)", "axis 1 of `x` has 3 elements, and 2 are named"),
        ("[..., 4, D]", "x.split([1, 2], dim=-2)", "axis -2 of `x` has 4 elements, which these 2 parts do not come to"),
        ("[N, 2, D]", "x.split(2, dim=1)", "axis 1 of `x` has 2 elements, which these 2 parts do not come to"),
    ],
)
def test_parts_that_an_axis_does_not_have_are_told(shape: str, call: str, told: str) -> None:
    (found,) = diagnosed(whole(f"inputs: {{x: {{shape: {shape}}}}}", f"u, v = {call}"))
    assert found.hints == (told,)


@pytest.mark.parametrize("call", ["x.chunk(2, dim=1)", "x.split(1, dim=1)", "x.unbind(1)"])
def test_parts_of_one_element_may_lose_the_axis(call: str) -> None:
    fields = "inputs: {x: {shape: [N, 2, D]}}"
    lines = said(whole(fields, f"u, v = {call}"))
    assert lines[-2:] == ["u[n, d] = x[n, 0, d]", "v[n, d] = x[n, 1, d]"]
    built(whole(fields, *lines[:2]))
    built(whole(fields, *lines[-2:]))
