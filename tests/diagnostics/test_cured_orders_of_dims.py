"""Indices that stand in another order than the dims of their tensor: the read with each at its dim."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, whole

X = "inputs: {x: {shape: [N, T, I]}, kernel: {shape: [W, I, O]}, b: {shape: [O]}}"
PADDED = "pad(x[n, t + {0} - W//2, i], 0)"


@pytest.mark.parametrize(
    ("index", "written", "meant"),
    [
        ("w", "kernel[o, i, w]", "kernel[w, i, o]"),
        ("w", "kernel[o, w, i]", "kernel[w, i, o]"),
        ("k", "kernel[o, i, k]", "kernel[k, i, o]"),
    ],
)
def test_the_order_of_the_dims_comes_first(index: str, written: str, meant: str) -> None:
    fields = f"{X}\noutputs: {{y: {{shape: [N, T, O]}}}}"
    line = f"y[n, t, o] = b[0]*sum[i, {index}]({PADDED.format(index)}*{{}})"
    found = diagnosed(whole(fields, line.format(written)))[0]
    assert f"`{meant}`" in found.hints[0]
    built(whole(fields, line.format(meant)))


def test_the_same_behind_a_batch() -> None:
    fields = "inputs: {k: {shape: [..., W, I, O]}, x: {shape: [..., I]}}\noutputs: {y: {shape: [..., O, W]}}"
    (found,) = diagnosed(whole(fields, "y[..., o, w] = sum[i](k[..., o, i, w]*x[..., i])"))
    assert "`k[..., w, i, o]`" in found.hints[0]
    built(whole(fields, "y[..., o, w] = sum[i](k[..., w, i, o]*x[..., i])"))


def test_other_uses_tell_where_an_index_of_another_letter_belongs() -> None:
    (found,) = diagnosed(whole(X, "y[n, t, o] = sum[i, k](x[n, t, i]*kernel[o, i, k]) + b[o]"))
    assert found.hints == ("did you mean `kernel[k, i, o]`?",)
    built(whole(X, "y[n, t, o] = sum[i, k](x[n, t, i]*kernel[k, i, o]) + b[o]"))


def test_letters_that_other_uses_speak_against_tell_nothing() -> None:
    fields = "inputs: {a: {shape: [N, M]}, b: {shape: [M]}}\noutputs: {y: {shape: [M]}}"
    for found in diagnosed(whole(fields, "y[n] = b[n]*sum[m](a[m, n])")):
        assert "order" not in " ".join(found.hints)
