"""Tensors that are joined where no axis is named: both lines where nothing tells, and one where the tensors do."""

from __future__ import annotations

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, said, whole

FIELDS = "inputs: {x: {shape: [N, H, C]}}"
TWO = "inputs: {x: {shape: [N, H]}, z: {shape: [N, H]}}"
X, Z = torch.arange(12.0).reshape(3, 4), -torch.arange(12.0).reshape(3, 4)


def lines(text: str) -> list[str]:
    return [line for line in said(text) if line.startswith("y[")]


@pytest.mark.parametrize("call", ["cat({})", "torch.cat([{}])", "concat([{}])"])
def test_the_first_and_the_last_axis_are_said(call: str) -> None:
    text = whole(FIELDS, f"y[n, i, c] = {call.format('x[n, 2*i, c], x[n, 2*i + 1, c]')}")
    (found,) = diagnosed(text)
    assert found.edit is None
    first, last = lines(text)
    assert first == "y[n < 2 * N, i < H // 2, c] = where(n < N, x[n, 2 * i, c], x[n - N, 2 * i + 1, c])"
    assert last == "y[n, i < H // 2, c < 2 * C] = where(c < C, x[n, 2 * i, c], x[n, 2 * i + 1, c - C])"
    for line in (first, last):
        built(whole(FIELDS, line))


@pytest.mark.parametrize("call", ["y = torch.cat([x, z])", "y[n, h] = cat(x, z)", "y = np.concatenate((x, z))"])
def test_both_lines_mean_what_the_library_does(call: str) -> None:
    for line, axis in zip(lines(whole(TWO, call)), (0, 1), strict=True):
        (variant,) = built(whole(TWO, line)).variants
        (made,) = run(variant.program, {"x": array(X.tolist()), "z": array(Z.tolist())}).values()
        assert torch.equal(torch.tensor(made.data).reshape(made.shape), torch.cat([X, Z], axis))


def test_batches_come_before_the_first_axis() -> None:
    fields = "inputs: {x: {shape: [..., H, C]}}"
    assert lines(whole(fields, "y = cat(x, -x)")) == [
        "y[..., h < 2 * H, c] = where(h < H, x[..., h, c], -x[..., h - H, c])",
        "y[..., h, c < 2 * C] = where(c < C, x[..., h, c], -x[..., h, c - C])",
    ]


@pytest.mark.parametrize(
    ("fields", "written", "line"),
    [
        (FIELDS, "y[n, i, c] = cat([x[n, i, c], -x[n, i, c]], dim=-1)",
         "y[n, i, c < 2 * C] = where(c < C, x[n, i, c], -x[n, i, c - C])"),
        ("inputs: {x: {shape: [N, H]}, z: {shape: [M, H]}}", "y[n, h] = cat(x, z)",
         "y[n < N + M, h] = where(n < N, x[n, h], z[n - N, h])"),
        ("inputs: {x: {shape: [N, 3]}, z: {shape: [N, 4]}}", "y[n, i] = cat(x[n, i], z[n, i])",
         "y[n, i < 7] = where(i < 3, x[n, i], z[n, i - 3])"),
        ("inputs: {x: {shape: [..., C]}}", "y = cat(x, -x)",
         "y[..., c < 2 * C] = where(c < C, x[..., c], -x[..., c - C])"),
        (FIELDS, "y = cat(-x[:, :, C//2:], x[:, :, :C//2])",
         "y[n, h, c < C] = where(c < C // 2, -x[n, h, c + C // 2], x[n, h, c - C // 2])"),
        (FIELDS, "y = cat(x[:, :1], x[:, :-1])", "y[n, h, c] = where(h < 1, x[n, h, c], x[n, h - 1, c])"),
        (FIELDS, "y = torch.cat([x[:, 1:], -x[:, 1:]], dim=-1)",
         "y[n, h < H - 1, c < 2 * C] = where(c < C, x[n, h + 1, c], -x[n, h + 1, c - C])"),
        (FIELDS, "y[n, i, c] = torch.exp(x[n, 2*i, c])", "y[n, i < H // 2, c] = exp(x[n, 2 * i, c])"),
    ],
)  # fmt: skip
def test_what_is_clear_is_one_line(fields: str, written: str, line: str) -> None:
    assert lines(whole(fields, written)) == [line]
    built(whole(fields, line))


@pytest.mark.parametrize(
    "call",
    ["torch.hstack([x, z])", "torch.vstack([x, z])", "torch.column_stack([x, s])", "torch.hstack((s, s))",
     "torch.vstack([s, -s])", "torch.column_stack((s, -s))"],
)  # fmt: skip
def test_stacks_go_by_the_count_of_axes(call: str) -> None:
    given = {"x": X, "z": Z, "s": torch.arange(3.0)}
    read = [n for n in given if f"[{n}" in call or f" {n}" in call or f"({n}" in call or f"-{n}" in call]
    fields = f"inputs: {{{', '.join(f'{n}: {{shape: [N]}}' if n == 's' else f'{n}: {{shape: [N, H]}}' for n in read)}}}"
    (line,) = lines(whole(fields, f"y = {call}"))
    program = built(whole(fields, line)).variants[0].program
    (made,) = run(program, {n: array(given[n].tolist()) for n in read}).values()
    assert torch.equal(torch.tensor(made.data).reshape(made.shape), eval(call, {"torch": torch, **given}))


def test_numpy_appends_along_an_axis_or_to_a_vector() -> None:
    line = "y[n, h < 2 * H] = where(h < H, x[n, h], z[n, h - H])"
    assert lines(whole(TWO, "y = np.append(x, z, axis=1)")) == [line]
    assert lines(whole(TWO, "y = np.append(x, z)")) == []  # of matrices it makes a vector
    assert lines(whole("inputs: {x: {shape: [N]}}", "y = np.append(x, 0)")) == ["y[n < N + 1] = where(n < N, x[n], 0)"]
