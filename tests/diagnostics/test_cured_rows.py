"""Slices beside an index of their own, an index called like what is assigned, and words that are no choice."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.fixes import fix
from opgen.pipeline import Stage, run
from tests.diagnostics.cures import built, said, whole

ROPE = "inputs: {x: {shape: [..., T, D]}, cos: {shape: [T, H]}, sin: {shape: [T, H]}}"


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (
            "even[..., t, k < H] = x[..., t, ::2]*cos[t, k] - x[..., t, 1::2]*sin[t, k]",
            "even[..., t, k < H] = x[..., t, 2 * k] * cos[t, k] - x[..., t, 2 * k + 1] * sin[t, k]",
        ),
        (
            "half[..., t, k < H] = x[..., t, :H]*cos[t, k] - x[..., t, H:]*sin[t, k]",
            "half[..., t, k < H] = x[..., t, k] * cos[t, k] - x[..., t, k + H] * sin[t, k]",
        ),
        ("even[..., t, k] = x[..., t, ::2]*cos[t, k]", "even[..., t, k < H] = x[..., t, 2 * k] * cos[t, k]"),
        ("half[..., t, k] = x[..., t, :D//2]*cos[t, k]", "half[..., t, k < H] = x[..., t, k] * cos[t, k]"),
    ],
)
def test_a_slice_is_at_the_index_of_the_left_that_the_tensor_lacks(line: str, meant: str) -> None:
    assert said(whole(ROPE, line))[-1] == meant
    assert [len(v.program.statements[-1].loops) for v in built(whole(ROPE, meant)).variants] == [3]


def test_two_slices_are_at_the_two_indices_that_the_tensor_lacks() -> None:
    fields = "inputs: {x: {shape: [N, H, W]}, w: {shape: [P, Q]}}"
    meant = "y[n, p < P, q < Q] = x[n, 2 * p, 2 * q] * w[p, q]"
    assert said(whole(fields, "y[n, p, q] = x[n, ::2, ::2]*w[p, q]"))[-1] == meant
    built(whole(fields, meant))


@pytest.mark.parametrize("line", ["y[n, k] = x[n, :]*w[k]", "y[n, k] = x[n, :H]*w[k]", "y[n, k] = w[k] - x[n, :, 1]"])
def test_no_axis_is_added_where_an_index_may_be_that_of_the_slice(line: str, tmp_path: Path) -> None:
    shape = "[N, D, 2]" if ", 1]" in line else "[N, D]"
    text = whole(f"inputs: {{x: {{shape: {shape}}}, w: {{shape: [K]}}, v: {{shape: [H]}}}}", line, "z[h] = v[h]")
    assert not any(part.startswith("y[n, k, ") for part in said(text))
    path = tmp_path / "cured.yaml"
    path.write_text(text, encoding="utf-8")
    fixes, _ = fix([path], lambda file: run(file, Stage.PROGRAM))
    assert fixes == ()


def test_an_axis_is_added_where_each_index_of_the_left_is_accounted_for() -> None:
    fields = "inputs: {x: {shape: [N, D]}, w: {shape: [N]}}"
    assert said(whole(fields, "y[n] = x[n, 1:]*w[n]"))[-1] == "y[n, d < D - 1] = x[n, d + 1] * w[n]"
