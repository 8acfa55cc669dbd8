"""Tensors with a dim twice in their shape, in torch style: the line that is proposed computes what torch does."""

from __future__ import annotations

import re

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, whole

SHAPES = {"a": ("N", "N"), "b": ("N", "N"), "x": ("N",), "c": ("B", "N", "N"), "w": ("B", "N"), "t": ("N", "M", "N")}
SIZES = {"N": 3, "B": 2, "M": 4}
INPUTS = "inputs: {" + ", ".join(f"{name}: {{shape: [{', '.join(dims)}]}}" for name, dims in SHAPES.items()) + "}"


def numbers() -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    return {n: torch.randn([SIZES[d] for d in dims], dtype=torch.float64) for n, dims in SHAPES.items()}


def proposed(*lines: str) -> list[str]:
    hints = [found.hints for found in diagnosed(whole(INPUTS, *lines))]
    return [line for of_one in hints for hint in of_one for line in re.findall(r"^write `([^`]* = [^`]*)`$", hint)]


def check(lines: list[str], expected: torch.Tensor, name: str) -> None:
    (variant,) = built(whole(INPUTS, *lines)).variants
    given = {n: array(value.tolist()) for n, value in numbers().items()}
    found = run(variant.program, given)[name]
    value = torch.tensor(found.data, dtype=torch.float64).reshape(found.shape)
    assert torch.allclose(value, expected.squeeze()), lines


FORMULAS = [
    "(a + a.T)/2",
    "(a - a.T)/2",
    "a + swapaxes(a, 0, 1)",
    "a + a.transpose(0, 1)",
    "c + c.mT",
    'c - einsum("bij->bji", c)',
    "c - c.permute(0, 2, 1)",
    "t + t.transpose(0, 2)",
    "a.T * a",
    "a.T - a.T.T",
    "(a * b.T).sum()",
    "(a * a.T).sum(axis=-1)",
    "(a - a.T).abs().max()",
    "exp(-(a + a.transpose(0, 1))/2)",
    "where(a > a.T, a, b.T)",
    "maximum(a, a.T)",
    "a.sum(0) - a.sum(1)",
    "a.sum(0) / a.sum(1)",
    "c.sum(1) - c.sum(2)",
    "c.sum(1) - c.sum(-1)",
    "a.T.sum(0) + a.sum(0)",
    "a.T.std(0, correction=0) + a.std(0, correction=0)",
    "a.norm(dim=0) - a.norm(dim=1)",
    "a.argmax(0) - a.argmax(1)",
    "a.mean(0, keepdim=True) + a.mean(1, keepdim=True)",
    "a - a.mean(1, keepdim=True)",
    "a - a.mean(0, keepdim=True) - a.mean(1, keepdim=True) + a.mean()",
    "c - c.mean(2, keepdim=True)",
    "a.mean(1, keepdim=False) + a",
    "a[0] + a[:, 0]",
    "a[:, 0] - a[0, :]",
    "a[:, 0] * a",
    "a * x",
    "x * a",
    "a.T + x",
    "a * x * a.T",
    "c * x",
    "c + a.T",
    "a + x[:, None]",
    "a.T * x.unsqueeze(1)",
    "x[:, None] * a.T * x",
    "x[:, None] * x[None, :] - a.T",
    "a / a.sum(1)",
    "a - a.mean(-1)",
    "sum(a, 0) - x",
    "a.sum(1) * x",
    "a.softmax(-1) * a.T",
    "softmax(a, 0) - softmax(a.T, 0)",
    "cumsum(a, 0) - cumsum(a.T, 0)",
    "a.T - eye(N)",
    "a.diagonal() + a.sum(0)",
    "a @ a.T",
    "a.T @ a",
    "a @ b.T + b @ a.T",
    "a @ b - b @ a",
    "a @ b + a.T",
    "a @ (a + a.T)",
    "(a - a.T) @ x",
    "(a.T - b.T) @ x",
    "(a.T * x) @ b",
    "(a + a.T) @ (b - b.T)",
    "a @ x + a.T @ x",
    "a * (a.T @ x)",
    "x @ (a - a.T) @ x",
    "clamp(a - a.T, 0, 1)",
    "(a > a.T).float()",
    "(a + a.T).mean(0, keepdim=True) - a",
    "((a - a.mean(0, keepdim=True)) * a.T).sum(1)",
    "(a - a.T).pow(2).sum().sqrt()",
    "a.sum(dim=1, keepdim=True) * a.T",
    "logsumexp(a, 0) - logsumexp(a, 1)",
    "c @ x - c.sum(1)",
    "c @ c.mT - c",
    "(c - c.mT).sum((1, 2))",
    "torch.einsum('ij,ji->i', a, a) + a.sum(0)",
    "torch.einsum('ij,jk->ik', a, b) - a.T",
    "a.amax(0) - a.amin(1)",
    "a.var(0, correction=0) - a.var(1, correction=0)",
    "(a.sum(0) - a.sum(1)).abs().max()",
    "c[:, 0] + c[:, :, 0]",
    "(a * x).sum(1)",
    "(a * x).softmax(0)",
    "torch.cdist(a, a.T)",
    "(a * x).transpose(0, 1) + a",
    "a[1:, 0] - a[0, 1:]",
    "a[:, 1:] - a[:, :-1]",
    "F.layer_norm(a, (N,)) * x",
    "F.normalize(a) * a.T",
    "F.linear(a, b, x)",
    "F.gelu(a) - a.T",
    "torch.cat([a, a.T], dim=1)",
    "x[:, None] - x",
    "x.view(-1, 1) * a",
    "torch.roll(a - a.T, 1, 0)",
    "a.T.roll(1, 0)",
    "torch.tril(a - a.T)",
    "torch.triu(a.T)",
    "torch.triu(a.T, 1)",
    "torch.tril(a).T",
    "torch.flip(a - a.T, (0,))",
    "a.T.flip(0)",
    "a.T.diff(dim=0)",
    "a.T.repeat(2, 1)",
    "torch.tile(a.T, (2, 1))",
    "a.T.repeat_interleave(2, dim=0)",
    "a.T.unfold(0, 2, 1)",
    "a.T.diagonal()",
    "a.T.flatten()",
    "(a - a.T).reshape(-1)",
    "(a @ b.T).flatten()",
    "t.transpose(0, 2).flatten(1)",
    "a.mT.flatten()",
    "c.mT.flatten(1)",
    "t.movedim(0, 1).flatten(1)",
    "c.mT.roll(1, 1)",
    "a[-1] * a[:, -1]",
    "a[-2] * a[:, -1] + x",
]
UNTOLD = [
    "torch.roll(a.T, 1, 0) - a",
    "torch.stack((a - a.T, a))",
    "F.mse_loss(a, a.T)",
    "F.cosine_similarity(a, a.T)",
    "F.normalize(a - a.T, dim=0)",
    "F.gelu(a.T) - a",
    "a[:, :1] - a",
    "a[:2].sum(0) - a[:, :2].sum(1)",
    "(a - 2*a.T).T",
    "c * w",
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_the_proposed_line_computes_what_torch_does(formula: str) -> None:
    lines = proposed(f"y = {formula}")
    names = {**vars(torch), **numbers(), "torch": torch, "F": torch.nn.functional, "N": SIZES["N"]}
    expected = torch.as_tensor(eval(formula, names)).double()
    assert len(lines) == 1, diagnosed(whole(INPUTS, f"y = {formula}"))
    check(lines, expected, "y")


@pytest.mark.parametrize("formula", UNTOLD)
def test_no_line_is_proposed_where_the_axes_are_not_told(formula: str) -> None:
    assert diagnosed(whole(INPUTS, f"y = {formula}"))
    assert not proposed(f"y = {formula}")


@pytest.mark.parametrize("formula", ["a + a.T", "a.sum(0) - a.sum(1)", "c - c.mT", "a @ x - a.T @ x"])
@pytest.mark.parametrize("letters", ["nmk", "ijk", "pqn"])
def test_the_indices_of_the_target_stand_at_the_places_of_the_axes(formula: str, letters: str) -> None:
    expected = torch.as_tensor(eval(formula, dict(numbers())))
    (line,) = proposed(f"y[{', '.join(letters[: expected.dim()])}] = {formula}")
    assert line.startswith(f"y[{', '.join(letters[: expected.dim()])}] = ")
    check([line], expected, "y")


def test_values_further_up_are_aligned_too() -> None:
    lines = proposed("d = a.T", "y = a - d")
    given = numbers()
    check(lines, given["a"] - given["a"].T, "y")


def test_either_place_is_said_of_a_tensor_that_fits_two() -> None:
    hints = [hint for found in diagnosed(whole(INPUTS, "y = c * w")) for hint in found.hints]
    assert hints == ["write `c[p, n, n3]`", "write `w[p, n]` or `w[p, n3]`"]
