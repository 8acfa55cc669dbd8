"""Slices beside an index of their own, an index called like what is assigned, and words that are no choice."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.fixes import fix
from opgen.pipeline import Stage, run
from tests.diagnostics.cures import built, diagnosed, said, whole

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


HEADS = "inputs: {x: {shape: [..., H, T, D]}, decay: {shape: [H]}}\noutputs: [h]"


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (
            "decay[h]*h[..., h, t - 1, d] + x[..., h, t, d]",
            "h[..., i, t, d] = decay[i] * h[..., i, t - 1, d] + x[..., i, t, d]",
        ),
        (
            "tanh(h[..., h, t - 1, d] + x[..., h, t, d])",
            "h[..., i, t, d] = tanh(h[..., i, t - 1, d] + x[..., i, t, d])",
        ),
        ("decay[h]*x[..., h, t, d]", "h[..., i, t, d] = decay[i] * x[..., i, t, d]"),
    ],
)
def test_an_index_called_like_the_tensor_that_is_assigned_takes_another_letter(value: str, meant: str) -> None:
    text = whole(HEADS, f"h[..., h, t, d] = {value}")
    (found,) = diagnosed(text)
    assert (found.code, found.message) == ("OPG207", "the index `h` has the name of the tensor that this assigns")
    assert said(text) == ["i", meant]
    built(whole(HEADS, meant))


def test_an_index_called_like_another_tensor_takes_another_letter_where_that_is_read() -> None:
    fields = "inputs: {x: {shape: [..., H, T]}, h: {shape: [..., H]}}"
    meant = "y[..., i, t] = x[..., i, t] * h[..., i]"
    assert said(whole(fields, "y[..., h, t] = x[..., h, t]*h[..., h]")) == ["i", meant]
    built(whole(fields, meant))


CHOICES = "inputs: {x: {shape: [N]}}\nparams: {reduction: {choices: [mean, sum, none], default: mean}}"


@pytest.mark.parametrize(
    ("value", "hints"),
    [
        (
            "mean[n](x[n])",
            (
                'did you mean `"mean"`, which no guard names?',
                'none names `"none"` either',
                "or add it: `choices: [mean, sum, none, avg]`",
            ),
        ),
        (
            "max[n](x[n])",
            (
                'no guard names `"mean"` or `"none"`: did you mean one of these?',
                "or add it: `choices: [mean, sum, none, avg]`",
            ),
        ),
    ],
)
def test_a_word_that_is_no_choice_is_the_one_that_its_statement_computes(value: str, hints: tuple[str, ...]) -> None:
    lines = (f'loss = {value} if reduction == "avg"', 'loss = sum[n](x[n]) if reduction == "sum"')
    (found,) = diagnosed(whole(CHOICES, *lines))
    assert (found.code, found.hints) == ("OPG231", hints)


def test_a_choice_is_added_where_guards_name_all_of_them() -> None:
    words = ("mean", "none", "sum", "avg")
    lines = [f'loss = mean[n](x[n]) if reduction == "{word}"' for word in words]
    assert said(whole(CHOICES, *lines)) == ["choices: [mean, sum, none, avg]"]
