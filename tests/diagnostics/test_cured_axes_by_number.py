"""Axes by their numbers, of values that are made of several parts: the index that is meant stands in the proposal."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, whole

W = "inputs: {w: {shape: [N, 3]}, p: {shape: [..., N, 3]}}"
NUMBERED = "axes are named by indices, not by numbers"


@pytest.mark.parametrize("words", ["axis=-1", "dim=-1", "axis=2", "axis=-1, keepdims=True", "-1"])
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "argmax", "norm", "logsumexp"])
def test_the_axis_of_a_difference_is_the_index_that_nothing_else_binds(name: str, words: str) -> None:
    text = whole(W, f"y[i, j] = sqrt({name}(w[i, a] - w[j, a], {words}))")
    (found,) = diagnosed(text)
    line = f"y[i, j] = sqrt({name}[a](w[i, a] - w[j, a]))"
    assert found.hints[-1] == f"write `{line}`"
    assert found.message in (NUMBERED, f"`{name}` reduces over an index that is not named")
    built(whole(W, line))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("sum((p[..., i, a] - p[..., j, a])**2, axis=-1)", "sum[a]((p[..., i, a] - p[..., j, a])**2)"),
        ("np.sum((p[..., i, a] - p[..., j, a])**2, axis=-1)", "sum[a]((p[..., i, a] - p[..., j, a])**2)"),
        ("((p[..., i, a] - p[..., j, a])**2).sum(-1)", "sum[a]((p[..., i, a] - p[..., j, a])**2)"),
        ("max(abs(p[..., i, a] - p[..., j, a]), dim=-1)", "max[a](abs(p[..., i, a] - p[..., j, a]))"),
        ("np.linalg.norm(p[..., i, a] - p[..., j, a], axis=-1)", "norm[a](p[..., i, a] - p[..., j, a])"),
        ("max(p[..., i, a] * p[..., j, a], -1)", "max[a](p[..., i, a] * p[..., j, a])"),
    ],
)
def test_the_same_of_a_batch(written: str, meant: str) -> None:
    (found,) = diagnosed(whole(W, f"y[..., i, j] = {written}"))
    assert f"write `y[..., i, j] = {meant}`" in found.hints[-1]
    built(whole(W, f"y[..., i, j] = {meant}"))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("softmax(w[i, a] * w[j, a], -1)", "softmax[a](w[i, a] * w[j, a])"),
        ("softmax(w[j, a] * w[i, a], dim=1)", "softmax[j](w[j, a] * w[i, a])"),
        ("cumsum(w[i, a] - w[j, a], axis=0)", "cumsum[i](w[i, a] - w[j, a])"),
    ],
)
def test_an_axis_that_stays_is_counted_in_the_target(written: str, meant: str) -> None:
    (found,) = diagnosed(whole(W, f"y[i, j, a] = {written}"))
    assert found.hints[-1] == f"write `y[i, j, a] = {meant}`"
    built(whole(W, f"y[i, j, a] = {meant}"))


def test_a_number_that_is_no_axis_is_the_larger_of_two() -> None:
    (found,) = diagnosed(whole(W, "y[i] = max(w[i, a], 0)"))
    assert "max[a]" not in " ".join(found.hints)
