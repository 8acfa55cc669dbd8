"""Parts of one tensor that are written one behind the other are the one statement that the message says."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import diagnosed, follow, whole

B, A, K, T = 2, 3, 4, 6
DRAWN = torch.Generator().manual_seed(0)
VALUES = {
    "a": torch.randn(B, A, generator=DRAWN), "b": torch.randn(B, K, generator=DRAWN),
    "w": torch.randn(K, K, generator=DRAWN), "e": torch.randn(B, generator=DRAWN),
    "x": torch.randn(B, T, generator=DRAWN),
}  # fmt: skip
FIELDS = {
    "a": "a: {shape: [B, A]}", "b": "b: {shape: [B, K]}", "w": "w: {shape: [K, L]}", "e": "e: {shape: [B]}",
    "x": "x: {shape: [B, T]}",
}  # fmt: skip

# Inputs, further fields, the statements, what is written in place of all of them, and what is computed then.
CASES: list[tuple[str, str, list[str], str, Callable[..., torch.Tensor]]] = [
    (
        "a b", "", ["y[n, k < A] = a[n, k]", "y[n, k + A] = b[n, k]"],
        "y[n, k < A + K] = where(k < A, a[n, k], b[n, k - A])",
        lambda a, b: torch.cat([a, b], 1),
    ),
    (
        "a b", "", ["y[n, i] = a[n, i]", "y[m, A + j] = exp(b[m, j])"],
        "y[n, i < A + K] = where(i < A, a[n, i], exp(b[n, i - A]))",
        lambda a, b: torch.cat([a, b.exp()], 1),
    ),
    (
        "x", "dims: {H: T//2}", ["y[n, k < H] = -x[n, k + H]", "y[n, k + H] = x[n, k]"],
        "y[n, k < T] = where(k < H, -x[n, k + H], x[n, k - H])",
        lambda x: torch.cat([-x[:, T // 2 :], x[:, : T // 2]], 1),
    ),
    (
        "e x", "dims: {U: T + 1}\noutputs: {y: {shape: [B, U]}}", ["y[n, 0] = e[n]", "y[n, t + 1] = x[n, t]*t"],
        "y[n, t] = where(t == 0, e[n], x[n, t - 1] * (t - 1))",
        lambda e, x: torch.cat([e[:, None], x * torch.arange(T)], 1),
    ),
    (
        "x e", "", ["y[n, t] = x[n, t]", "y[n, T] = e[n]"],
        "y[n, t < T + 1] = where(t < T, x[n, t], e[n])",
        lambda x, e: torch.cat([x, e[:, None]], 1),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("inputs", "fields", "lines", "meant", "expected"), CASES)
def test_parts_are_one_statement(
    inputs: str, fields: str, lines: list[str], meant: str, expected: Callable[..., torch.Tensor]
) -> None:
    names = inputs.split()
    text = whole(f"inputs: {{{', '.join(FIELDS[n] for n in names)}}}\n{fields}", *lines)
    operator = follow(text, {"\n  ".join(lines): meant})
    (variant,) = operator.variants
    given = {n: VALUES[n] for n in names}
    (made,) = run(variant.program, {n: array(v.tolist()) for n, v in given.items()}).values()
    torch.testing.assert_close(torch.tensor(made.data).reshape(made.shape).float(), expected(*given.values()))


def test_three_parts_with_a_reduction_in_one() -> None:
    fields = f"inputs: {{{', '.join(FIELDS[n] for n in 'abwe')}}}"
    lines = ["y[n, k < A] = a[n, k]", "y[n, j + A] = sum[m](b[n, m]*w[m, j])", "y[n, A + L] = e[n]"]
    said = {h for d in diagnosed(whole(fields, *lines)) for h in d.hints if "one statement" in h}
    assert said == {
        "parts of one tensor are one statement: `y[n, k < A + L + 1] = where(k < A, a[n, k], "
        "where(k < A + L, sum[m](b[n, m] * w[m, k - A]), e[n]))`"
    }


@pytest.mark.parametrize(
    "lines",
    [
        ["y[n, 0] = e[n]", "y[n, t + 1] = y[n, t]*x[n, t]"],  # a recurrence
        ["y[n, k] = x[n, k]", "y[n, 2*k] = x[n, k]"],
        ["y[n, k + 1] = x[n, k]"],
        ["y[n, k < A] = a[n, k]", "y[n, j + A] = sum[k](b[n, k]*w[k, j])"],  # `k` has two meanings
    ],
)
def test_others_are_not_joined(lines: list[str]) -> None:
    fields = f"inputs: {{{', '.join(FIELDS.values())}}}"
    assert not [h for d in diagnosed(whole(fields, *lines)) for h in d.hints if "one statement" in h]


def test_a_part_that_is_read_by_a_slice_is_told_with_the_others() -> None:
    lines = ["y[n, k < H] = -x[n, H:]", "y[n, k + H] = x[n, :H]"]
    text = whole(f"inputs: {{{FIELDS['x']}}}\ndims: {{H: T//2}}", *lines)
    said = [h for d in diagnosed(text) for h in d.hints]
    assert "write `y[n, k < H] = -x[n, k + H]`" in said
    assert any("`y[n, k < T] = where(k < H, …, …)`" in h and "`:H` at `k - H`" in h for h in said)
